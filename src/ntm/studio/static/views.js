/** A page with several views. The address names the view and its content; see route.js. */

import { find, make } from "./dom.js";
import { readRoute } from "./route.js";

/** @import { Backend, Guide, Shown } from "./types.d.ts" */

/**
 * Show the views of a page. `starters` has a function for each view, by the id of its section. The
 * function is called with the guide and the backend when the view is first shown, and returns an
 * object with `show(route)`.
 * @param {Backend} backend
 * @param {Record<string, (guide: Guide, backend: Backend) => Shown>} starters
 */
export async function startViews(backend, starters) {
  /** @type {Map<string, Shown>} */
  const views = new Map();
  const guide = await backend.guide();
  let shown = "";
  const show = () => {
    const route = readRoute(location.hash, Object.keys(starters));
    if (shown && shown !== route.view) scrollTo(0, 0);
    shown = route.view;
    for (const name of Object.keys(starters)) showWhether(name, name === route.view);
    const view = views.get(route.view) ?? starters[route.view](guide, backend);
    views.set(route.view, view);
    view.show(route);
  };
  addEventListener("popstate", show); // also when the user edits the address or follows a link
  show();
}

/** @param {string} name @param {boolean} shown */
function showWhether(name, shown) {
  find(name, HTMLElement).hidden = !shown;
  const link = document.querySelector(`nav a[href="#${name}"]`);
  if (shown) link?.setAttribute("aria-current", "page");
  else link?.removeAttribute("aria-current");
}

/**
 * Show on the page why it does not start.
 * @param {Error} error
 */
export function explain(error) {
  const text = make("p", { class: "message", role: "alert" }, error.message);
  document.querySelector("main")?.prepend(text);
}

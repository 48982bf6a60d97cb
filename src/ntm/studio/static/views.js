/** A page of several views. The address says which one is shown, and what is in it; see route.js. */

import { make } from "./dom.js";
import { readRoute } from "./route.js";

/**
 * Show the views of a page. `starters` makes each by the id of its section when it is first shown:
 * from the guide and the backend, an object with `show(route)`.
 */
export async function startViews(backend, starters) {
  const views = new Map();
  const guide = await backend.guide();
  const show = () => {
    const route = readRoute(location.hash, Object.keys(starters));
    for (const name of Object.keys(starters)) showWhether(name, name === route.view);
    if (!views.has(route.view)) views.set(route.view, starters[route.view](guide, backend));
    views.get(route.view).show(route);
  };
  addEventListener("popstate", show); // also where somebody edits the address or follows a link
  show();
}

function showWhether(name, shown) {
  document.getElementById(name).hidden = !shown;
  const link = document.querySelector(`nav a[href="#${name}"]`);
  if (shown) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
}

/** Say on the page why it does not start. */
export function explain(error) {
  const text = make("p", { class: "message", role: "alert" }, error.message);
  document.querySelector("main").prepend(text);
}

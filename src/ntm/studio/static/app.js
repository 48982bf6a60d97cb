/** The page: two views. The address says which one is shown, and what is in it; see route.js. */

import { getJson } from "./api.js";
import { make } from "./dom.js";
import { startPlay } from "./play.js";
import { readRoute } from "./route.js";
import { startTraining } from "./training.js";

const STARTERS = { play: startPlay, training: startTraining };
const views = new Map();

async function begin() {
  const guide = await getJson("guide");
  const show = () => showView(readRoute(location.hash), guide);
  addEventListener("popstate", show); // also where somebody edits the address or follows a link
  show();
}

function showView(route, guide) {
  for (const name of Object.keys(STARTERS)) {
    document.getElementById(name).hidden = name !== route.view;
    const link = document.querySelector(`nav a[href="#${name}"]`);
    if (name === route.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (!views.has(route.view)) views.set(route.view, STARTERS[route.view](guide));
  views.get(route.view).show(route);
}

begin().catch((error) => {
  document.querySelector("main").prepend(make("p", { class: "message", role: "alert" }, error.message));
});

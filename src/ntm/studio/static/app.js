/** The page: two views. The address names the one that is shown: #play, #play/ID or #training. */

import { startPlay } from "./play.js";
import { startTraining } from "./training.js";

const starters = { play: startPlay, training: startTraining };
const views = {};

function showView() {
  const [wanted, ...detail] = decodeURIComponent(location.hash.slice(1)).split("/");
  const view = wanted in starters ? wanted : "play";
  for (const name of Object.keys(starters)) {
    document.getElementById(name).hidden = name !== view;
    const link = document.querySelector(`nav a[href="#${name}"]`);
    if (name === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  views[view] ??= starters[view]();
  views[view].show(detail.join("/"));
}

addEventListener("hashchange", () => {
  showView();
  scrollTo(0, 0);
});
showView();

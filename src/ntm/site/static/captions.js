/** The caption of a gallery moment, which stays above the picture after the click. */

import { find, make } from "../../studio/static/dom.js";
import { wholeNumber } from "../../studio/static/route.js";
import { MOMENTS } from "./moments.js";

/** @import { Shown } from "../../studio/static/types.d.ts" */

/**
 * The play view with a caption, if the address names a moment.
 * @param {Shown} play
 * @returns {Shown}
 */
export function withCaptions(play) {
  const title = make("h2");
  const text = make("p");
  const back = make("a", { href: "#gallery" }, "Back to the gallery");
  const card = make("aside", { class: "card moment-caption", "aria-label": "About this moment", hidden: true }, title, text, back);
  find("play-message", HTMLElement).before(card);
  // The caption is about one network.
  find("network", HTMLSelectElement).addEventListener("change", () => (card.hidden = true));
  return {
    show(route) {
      const moment = MOMENTS[(wholeNumber(route.moment, 1) ?? 0) - 1];
      card.hidden = !moment;
      title.textContent = moment?.title ?? "";
      text.textContent = moment?.sentences.join(" ") ?? "";
      return play.show(route);
    },
  };
}

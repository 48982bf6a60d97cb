/** Runs of a chapter that can fail, because a download failed: the chapter says why and offers another try. */

import { make, messageOf } from "../../studio/static/dom.js";

/**
 * Run, and show in the chapter's message what went wrong.
 * @param {HTMLElement} chapter @param {() => Promise<unknown>} run
 */
export async function attempt(chapter, run) {
  const message = chapter.querySelector(".message");
  try {
    await run();
    message?.replaceChildren();
  } catch (error) {
    const again = make("button", { type: "button" }, "Try again");
    again.addEventListener("click", () => attempt(chapter, run));
    message?.replaceChildren(messageOf(error), " ", again);
  }
}

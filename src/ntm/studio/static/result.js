/** The result of a run in the play view: the viewer, a message, and a lesson about a failure. */

import { findAll, make } from "./dom.js";
import { mountViewer } from "./viewer.js";

/** @import { lessonOf } from "./lessons.js" */
/** @import { TraceDocument, View, Viewer } from "./types.d.ts" */
/** @typedef {ReturnType<typeof lessonOf>} Lesson */

export class Result {
  /** @type {Viewer | null} */
  #viewer = null;
  #parts = {
    ...findAll(HTMLElement, ["message", "lesson", "result", "waiting"], "play-"),
    ...findAll(HTMLElement, ["viewer"]),
  };

  /**
   * `onMove`: called when the user goes to another step or head; `setMemory`: changes the number of locations.
   * @param {{ onMove: () => void, setMemory: (locations: number) => void }} calls
   */
  constructor({ onMove, setMemory }) {
    this.onMove = onMove;
    this.setMemory = setMemory;
  }

  /** The step and head that are shown. */
  get place() {
    const { step = 0, head = 0 } = this.#viewer?.view ?? {};
    return { step, head };
  }

  /** @param {string} text */
  say(text) {
    this.#parts.message.textContent = text;
  }

  /**
   * Show an error above the picture, and mark the picture as out of date.
   * @param {string} text
   */
  complain(text) {
    this.say(text);
    this.#parts.lesson.textContent = ""; // it was about the previous run
    this.setStale(true);
    this.#parts.waiting.hidden = true; // the message tells more
  }

  /** @param {boolean} stale */
  setStale(stale) {
    this.#parts.viewer.classList.toggle("stale", stale);
    this.#parts.viewer.setAttribute("aria-busy", String(stale));
    this.#parts.waiting.hidden = !stale;
  }

  /**
   * Replace the old trace by the new one, at the same step, head and locations.
   * @param {TraceDocument} trace @param {Lesson} lesson @param {Partial<View> | null} view
   */
  show(trace, lesson, view) {
    const place = this.#parts.viewer;
    // A head in an address belongs to this network.
    const named = view?.head === undefined ? {} : { heads: null };
    const last = { ...this.#viewer?.view, ...named, ...view };
    // The page must not become shorter in between, or the browser scrolls.
    place.style.minHeight = `${place.offsetHeight}px`;
    this.#viewer?.destroy();
    this.#viewer = mountViewer(place, trace, { view: last, onMove: this.onMove });
    place.style.minHeight = "";
    this.setStale(false);
    this.say("");
    this.teach(lesson);
    const textOf = (/** @type {string} */ part) => place.querySelector(part)?.textContent;
    this.#parts.result.textContent = `${textOf(".summary h2")}: ${textOf(".verdict")}`;
  }

  /**
   * Say why the network failed, if that is known, and offer a remedy.
   * @param {Lesson} lesson
   */
  teach(lesson) {
    this.#parts.lesson.textContent = lesson?.text ?? "";
    const { locations } = lesson ?? {};
    if (!locations) return;
    const button = make("button", { type: "button" }, `Use ${locations} locations`);
    button.addEventListener("click", () => this.setMemory(locations));
    this.#parts.lesson.append(" ", button);
  }
}

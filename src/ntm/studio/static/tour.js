/** A guided tour: one copy in nine steps, for somebody who has read the paper once. */

import { make } from "./dom.js";

/** @import { Route } from "./types.d.ts" */
/**
 * @typedef {{ part: string, from?: string, step: number, head: number, title: string,
 *   text: string }} TourStep
 */

/** What is toured: the network, and a drawing of five vectors. */
const TOURED = { id: "pretrained:copy-ff", vectors: "a4.3c.91.e6.58" };

/**
 * Of each step: what is pointed at (and from which place in it on, where it is tall), where the
 * viewer is (step from 1), and what is said.
 * @type {TourStep[]}
 */
export const TOUR = [
  {
    part: "drawing", step: 1, head: 0, title: "One copy",
    text: "Here are five vectors. The network hears them one by one, then a delimiter, and then it " +
      "has to say them again, in order, without hearing anything more.",
  },
  {
    part: "input", step: 1, head: 0, title: "It hears",
    text: "At every step the controller gets one vector, on the left, and what was read from the " +
      "memory at the step before. It keeps nothing itself: this controller is feedforward.",
  },
  {
    part: "tape", step: 1, head: 0, title: "It writes",
    text: "So it must write the vector down. The write head stands above one location of the " +
      "memory, erases a little there (e) and adds the vector (a) in a code of its own.",
  },
  {
    part: "chain", step: 3, head: 0, title: "It steps on",
    text: "How does the head find a free place? The gate keeps most of its last place, the shift " +
      "moves it by -1, and sharpening keeps it from blurring. So every vector gets its own location.",
  },
  {
    part: "chain", step: 4, head: 1, title: "The read head waits",
    text: "Meanwhile the read head does not move. It is held by content: its key resembles what " +
      "lies in the location where it waits, beside the one that was written first.",
  },
  {
    part: "tape", step: 6, head: 1, title: "The delimiter",
    text: "The end of the input. The read head moves by -1 too, and is where the first vector lies. " +
      "What it reads goes back to the controller.",
  },
  {
    part: "output", step: 7, head: 1, title: "It answers",
    text: "The output is the first vector, read a step ago; beside it is the target. The read head " +
      "is at the second vector already.",
  },
  {
    part: "timeline", from: "[data-head=write]", step: 11, head: 1, title: "The same walk twice",
    text: "Over time it is two slanted lines: where it wrote, and where it read. It is a loop with a " +
      "pointer that moves on, and nobody wrote that program.",
  },
  {
    part: "sizes", step: 11, head: 1, title: "Beyond training",
    text: "A program does not mind how long its input is. It was trained on up to 20 vectors: make " +
      "the length 120, and watch it go on.",
  },
];

/**
 * Where the tour leads at a step: an address for the play view.
 * @param {number} number
 */
function routeOf(number) {
  const { step, head } = TOUR[number - 1];
  return {
    view: "play", ...TOURED, step: String(step), head: String(head), tour: String(number),
  };
}

/**
 * The tour of a place in the page: `show(number)` shows a step, or none for null. `open(route)` is
 * called for what is to be seen at a step, `onEnd()` when somebody ends it.
 * @param {HTMLElement} place
 * @param {{ open: (route: Route) => void, onEnd: () => void }} owner
 */
export function makeTour(place, { open, onEnd }) {
  /** @type {{ number: number | null, show: (number: number | null) => void }} */
  const tour = { number: null, show };
  const card = makeCard({
    goTo: (number) => open(routeOf(number)),
    close: () => {
      show(null);
      onEnd();
    },
  });

  /** @param {number | null} number */
  function show(number) {
    tour.number = number !== null && number <= TOUR.length ? number : null;
    if (number === null || tour.number === null) {
      card.element.remove();
      delete place.dataset.pointed;
      return;
    }
    const { part, from } = TOUR[number - 1];
    place.append(card.element);
    place.dataset.pointed = part;
    card.show(number);
    const pointed = place.querySelector(`.${part}, #${part}`);
    if (from) pointed?.querySelector(from)?.scrollIntoView({ block: "start" });
    else pointed?.scrollIntoView({ block: "nearest" });
  }
  return tour;
}

/** @param {{ goTo: (number: number) => void, close: () => void }} owner */
function makeCard({ goTo, close }) {
  const title = make("h2", { tabindex: "-1" });
  const text = make("p");
  const place = make("span", { class: "note" });
  /** @param {string} label @param {() => void} action @param {string} [kind] */
  const button = (label, action, kind) => {
    const made = make("button", { type: "button", class: kind }, label);
    made.addEventListener("click", action);
    return made;
  };
  let number = 1;
  const back = button("Back", () => goTo(number - 1));
  const next = button("Next", () => (number < TOUR.length ? goTo(number + 1) : close()), "primary");
  const actions = make("div", { class: "actions" }, place, button("Close", close), back, next);
  const element = make("aside", { class: "tour", "aria-label": "Guided tour" }, title, text, actions);
  element.addEventListener("keydown", ({ key }) => key === "Escape" && close());

  /** @param {number} shown */
  function show(shown) {
    number = shown;
    title.textContent = TOUR[number - 1].title;
    text.textContent = TOUR[number - 1].text;
    place.textContent = `${number} of ${TOUR.length}`;
    back.disabled = number === 1;
    next.textContent = number < TOUR.length ? "Next" : "Done";
    title.focus({ preventScroll: true });
  }
  return { element, show };
}

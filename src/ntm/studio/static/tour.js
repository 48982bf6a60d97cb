/** A guided tour: one copy in nine steps, for readers who have read the paper once. */

import { make } from "./dom.js";

/** @import { Route } from "./types.d.ts" */
/**
 * @typedef {{ part: string, from?: string, step: number, head: number, title: string,
 *   text: string }} TourStep
 */

/** The network of the tour, and a drawing of five vectors. */
const TOURED = { id: "pretrained:copy-ff", vectors: "a4.3c.91.e6.58" };

/**
 * Each step has the part of the page to point at (`from` where in a tall part), the step (from 1)
 * and head of the viewer, a title and a text.
 * @type {TourStep[]}
 */
export const TOUR = [
  {
    part: "drawing", step: 1, head: 0, title: "One copy",
    text: "Here are five vectors. The network receives them one by one, followed by a delimiter. " +
      "Then it must repeat the vectors in order, without further input.",
  },
  {
    part: "input", step: 1, head: 0, title: "The input",
    text: "At every step the controller receives one vector, on the left, and the vector that " +
      "was read from the memory one step earlier. This feedforward controller remembers nothing " +
      "itself.",
  },
  {
    part: "tape", step: 1, head: 0, title: "Writing",
    text: "So the network must store the vector in its memory. The write head stands above one " +
      "location. There it erases a little (e) and adds the vector (a), in a code that it learned.",
  },
  {
    part: "chain", step: 3, head: 0, title: "The next location",
    text: "How does the head find a free location? The gate keeps most of the last weighting, " +
      "the shift moves it by -1, and sharpening stops it from blurring. So every vector gets " +
      "its own location.",
  },
  {
    part: "chain", step: 4, head: 1, title: "The read head waits",
    text: "Meanwhile the read head does not move. It stays by content: its key resembles the " +
      "memory at its location, which is next to the location that was written first.",
  },
  {
    part: "tape", step: 6, head: 1, title: "The delimiter",
    text: "The delimiter marks the end of the input. Now the read head also moves by -1, to the " +
      "first vector. The vector that it reads goes to the controller.",
  },
  {
    part: "output", step: 7, head: 1, title: "The answer",
    text: "The output is the first vector, which was read one step earlier. The target is beside " +
      "it. The read head is already at the second vector.",
  },
  {
    part: "timeline", from: "[data-head=write]", step: 11, head: 1, title: "The same walk twice",
    text: "Over time the heads draw two slanted lines: the write head first, then the read head. " +
      "This is a loop with a moving pointer. Nobody wrote this program: it was learned.",
  },
  {
    part: "sizes", step: 11, head: 1, title: "Beyond training",
    text: "A loop does not depend on the length of the input. This network was trained on up to " +
      "20 vectors. Set the length to 120, and watch the loop continue.",
  },
];

/**
 * The address of a step of the tour in the play view.
 * @param {number} number
 */
function routeOf(number) {
  const { step, head } = TOUR[number - 1];
  return {
    view: "play", ...TOURED, step: String(step), head: String(head), tour: String(number),
  };
}

/**
 * A tour in an element of the page: `show(number)` shows a step, or hides the tour for null. The
 * tour calls `open(route)` to show the address of a step, and `onEnd()` when the user closes it.
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

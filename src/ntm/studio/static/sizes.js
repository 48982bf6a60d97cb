/** A size of the problem or of the memory: a number, a slider, and how it compares to training. */

import { make } from "./dom.js";

const NAMES = { length: "Length", repeats: "Repeats", items: "Items", memory: "Memory locations" };
/** The slider ends at so many times the trained size; the number goes on to the limit. */
const STRETCH = 8;

/** `range` is { min, max, trained: [least, most] }; `get` and `set` are the size's owner's. */
export function makeSize(axis, { min, max, trained }, get, set) {
  const most = trained[1];
  const number = make("input", { type: "number", min, max, required: true });
  const slider = make("input", {
    type: "range", min, max: Math.min(max, most * STRETCH), "aria-label": `${NAMES[axis]}, slider`,
    step: axis === "memory" ? Math.ceil(min / 4) : 1,
  });
  const hint = make("span", { class: "note" });
  const label = make("label", {}, make("span", {}, NAMES[axis]), number);

  function show() {
    slider.value = number.value = get();
    const times = get() / most;
    hint.classList.toggle("beyond", times > 1);
    hint.textContent = times > 1
      ? `${Number(times.toPrecision(2))} times as many as in training`
      : `${most}${trained[0] < most ? " at most" : ""} in training`;
  }
  for (const input of [number, slider]) {
    input.addEventListener("input", () => {
      if (input.checkValidity()) set(Number(input.value));
    });
  }
  return { element: make("div", { class: "size" }, label, slider, hint), show };
}

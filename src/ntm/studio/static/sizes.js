/** A size of the problem or of the memory: a number, a slider, and a comparison with training. */

import { capitalised, make } from "./dom.js";

/** @import { SizeRange } from "./python.d.ts" */
/** @import { Network } from "./types.d.ts" */

/** The slider ends at this multiple of the trained size; the number field reaches the limit. */
const STRETCH = 8;

let sizesMade = 0;

/**
 * The sizes of a network's problem and of its memory.
 * @param {Network} network
 * @param {{ sizeOf: (axis: string) => number, resize: (axis: string, size: number) => void,
 *   memory: () => number | null, setMemory: (size: number) => void }} access
 */
export function makeSizes({ problem, memory_locations: locations, limits }, { sizeOf, resize, memory, setMemory }) {
  const sizes = Object.entries(problem.sizes).map(([axis, range]) =>
    makeSize(axis, range, () => sizeOf(axis), (size) => resize(axis, size)));
  if (!locations) return sizes;
  const max = limits.max_locations ?? locations;
  return [...sizes, makeSize("memory", { min: locations, max, trained: [locations, locations] }, memory, setMemory)];
}

/**
 * `range` is { min, max, trained: [least, most] }; `get` and `set` access the size.
 * @param {string} axis @param {Pick<SizeRange, "min" | "max" | "trained">} range
 * @param {() => number | null} get @param {(size: number) => void} set
 */
function makeSize(axis, { min, max, trained }, get, set) {
  const most = trained[1];
  const title = axis === "memory" ? "Memory locations" : capitalised(axis);
  const hint = make("span", { class: "note", id: `size-${(sizesMade += 1)}` });
  const id = `${hint.id}-number`;
  const described = { "aria-describedby": hint.id };
  const number = make("input", { id, type: "number", min, max, required: true, ...described });
  const slider = make("input", {
    type: "range", min, max: Math.min(max, most * STRETCH), "aria-label": `${title}, slider`,
    step: axis === "memory" ? Math.ceil(min / 4) : 1,
  });
  const words = make("div", {}, make("label", { for: id }, title), hint);

  function show() {
    const size = get() ?? min;
    slider.value = String(size);
    // Do not change the number while the user is typing it.
    if (document.activeElement !== number) number.value = String(size);
    hint.classList.toggle("beyond", size > most);
    hint.classList.remove("bad");
    hint.textContent = comparison(size, trained);
  }
  for (const input of [number, slider]) {
    input.addEventListener("input", () => {
      if (input.checkValidity()) return set(Number(input.value));
      hint.classList.add("bad");
      hint.textContent = `Give a whole number from ${min} to ${max}.`;
    });
    input.addEventListener("blur", () => {
      number.value = String(get() ?? min);
      show();
    });
  }
  const inputs = make("div", {}, slider, number);
  return { element: make("div", { class: "size" }, words, inputs), show };
}

/** @param {number} size @param {[number, number]} trained */
function comparison(size, [least, most]) {
  if (size > most) return `${Number((size / most).toPrecision(2))} times as many as in training`;
  return `${least < most ? "at most " : ""}${most} in training`;
}

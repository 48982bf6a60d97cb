/** A tip that shows and speaks the exact value under the pointer or in the keyboard's cell. */

import { make } from "./dom.js";

/** @import { Tip } from "./types.d.ts" */
/**
 * @typedef {{ size: () => { rows: number, columns: number },
 *   cellSize: () => { width: number, height: number },
 *   describe: (row: number, column: number) => string, columnShown?: () => number }} Told
 */

/** @returns {Tip} */
export function makeTip() {
  const bubble = make("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  const spoken = make("div", { class: "unseen", "aria-live": "polite" });

  /**
   * `content` is a text or an element.
   * @param {number} x @param {number} y @param {string | Node} content
   */
  function showAt(x, y, content) {
    bubble.replaceChildren(content);
    bubble.hidden = false;
    const { width, height } = bubble.getBoundingClientRect();
    const left = Math.max(4, Math.min(x + 14, document.documentElement.clientWidth - width - 4));
    const top = y + 18 + height > window.innerHeight ? y - height - 10 : y + 18;
    bubble.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
  }
  const hide = () => {
    bubble.hidden = true;
  };
  /** @param {string} text */
  const say = (text) => {
    spoken.textContent = text;
  };
  return { elements: [bubble, spoken], showAt, hide, say };
}

/**
 * Make a canvas show its values: on hover, and cell by cell with the arrow keys while it has the
 * focus. `size()` is { rows, columns }, `cellSize()` is { width, height } in CSS pixels, and
 * `describe(row, column)` is the text. If `columnShown()` is given, it decides the column, and the
 * keys for the column are handled elsewhere.
 *
 * Returns a function that shows the value of the keyboard's cell again.
 * @param {HTMLCanvasElement} canvas @param {Tip} tip @param {Told} told
 */
export function tellValues(canvas, tip, { size, cellSize, describe, columnShown }) {
  const place = { row: 0, column: 0 };

  function tell() {
    const box = canvas.getBoundingClientRect();
    const cell = cellSize();
    if (columnShown) place.column = columnShown();
    const text = describe(place.row, place.column);
    const x = box.left + (place.column + 0.5) * cell.width;
    tip.showAt(x, box.top + (place.row + 0.5) * cell.height, text);
    tip.say(text);
  }
  canvas.addEventListener("pointermove", (event) => {
    const cell = cellSize();
    const { rows, columns } = size();
    const row = Math.floor(event.offsetY / cell.height);
    const column = Math.floor(event.offsetX / cell.width);
    const inside = row >= 0 && row < rows && column >= 0 && column < columns;
    if (inside) tip.showAt(event.clientX, event.clientY, describe(row, column));
    else tip.hide();
  });
  canvas.addEventListener("pointerleave", tip.hide);
  canvas.addEventListener("blur", tip.hide);
  canvas.addEventListener("focus", () => canvas.matches(":focus-visible") && tell());
  canvas.addEventListener("keydown", (event) => {
    if (movedPlace(place, event.key, size(), columnShown)) {
      event.preventDefault();
      tell();
    }
  });
  return tell;
}

/** @param {{ row: number, column: number }} place @param {string} key @param {{ rows: number, columns: number }} size @param {unknown} columnIsElsewhere */
function movedPlace(place, key, { rows, columns }, columnIsElsewhere) {
  const down = { ArrowUp: -1, ArrowDown: 1 }[key];
  const right = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (down) place.row = (place.row + down + rows) % rows;
  if (right && !columnIsElsewhere) place.column = (place.column + right + columns) % columns;
  return Boolean(down || (right && !columnIsElsewhere));
}

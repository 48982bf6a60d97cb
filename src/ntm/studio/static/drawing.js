/**
 * The drawing pane: a problem of any task as cells to click, drag over or reach with the arrow
 * keys. Long problems wrap into lines, so that every cell stays large enough to hit.
 */

import { make } from "./dom.js";

/** @import { Problem } from "./types.d.ts" */
/** @typedef {{ bits: number[], name: string, set: (y: number, bit: number) => void }} Column */
/** @typedef {ReturnType<typeof buildColumn>} BuiltColumn */

/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** @type {Record<string, number>} */
const ENDS = { Home: 0, End: -1 };

/**
 * Draw a problem, in the server's format, into an element. Cells change the problem in place, and
 * then call `onChange()`. The focus stays on its cell. All vectors of the problem are columns;
 * tasks differ in the grouping of the columns, and in the controls below them.
 * @param {HTMLElement} element @param {Problem} problem @param {() => void} onChange
 */
export function mountDrawing(element, problem, onChange) {
  const columns = columnsOf(problem);
  const label = "Input, one column per vector. Arrow keys move, space flips a bit.";
  const grid = make("div", { class: "grid", role: "group", "aria-label": label });
  const built = columns.map(buildColumn);
  let parts = built.map((column) => column.element);
  const { items, priorities } = problem;
  if (items) parts = itemGroups(problem, items, parts, onChange);
  if (priorities) parts.forEach((part, x) => part.append(prioritySlider(priorities, x, onChange)));
  grid.classList.toggle("many", columns.length > 60);
  grid.classList.toggle("single", columns[0].bits.length === 1);
  grid.append(...parts);
  const focused = element.contains(document.activeElement) ? cellOf(document.activeElement) : null;
  element.replaceChildren(grid);
  paintWithPointer(grid, built, onChange);
  walkWithKeys(grid, built, onChange);
  if (focused) built[Number(focused.dataset.x)]?.cells[Number(focused.dataset.y)]?.focus();
}

/**
 * A column is { bits, set(y, bit), name }.
 * @param {Problem} problem
 * @returns {Column[]}
 */
function columnsOf(problem) {
  const { items, bits: sequence, vectors = [] } = problem;
  /** @type {(bits: number[], name: string) => Column} */
  const vector = (bits, name) => ({ bits, name, set: (y, bit) => (bits[y] = bit) });
  if (items) {
    return items.flatMap((item, i) =>
      item.map((bits, j) => vector(bits, `item ${i + 1}, vector ${j + 1}`)));
  }
  if (sequence) {
    return sequence.map((bit, x) => ({
      bits: [bit],
      name: `position ${x + 1}`,
      set: (_, value) => (sequence[x] = value),
    }));
  }
  return vectors.map((bits, x) => vector(bits, `vector ${x + 1}`));
}

/** @param {Column} column @param {number} x */
function buildColumn(column, x) {
  const cells = column.bits.map((_, y) => {
    const tabindex = x + y === 0 ? "0" : "-1";
    const label = `${column.name}, bit ${y + 1}`;
    const place = { "aria-label": label, tabindex, "data-x": x, "data-y": y };
    return make("div", { class: "cell", role: "checkbox", ...place });
  });
  /** @param {number} y @param {number} bit */
  const paint = (y, bit) => {
    column.set(y, bit);
    column.bits[y] = bit;
    cells[y].setAttribute("aria-checked", bit ? "true" : "false");
  };
  column.bits.forEach((bit, y) => paint(y, bit));
  const element = make("div", { class: "column" }, ...cells);
  return { element, cells, paint, bitAt: (/** @type {number} */ y) => column.bits[y] };
}

/**
 * Items of associative recall in boxes; any item but the last can be the query.
 * @param {Problem} problem @param {number[][][]} items @param {HTMLElement[]} elements @param {() => void} onChange
 */
function itemGroups(problem, items, elements, onChange) {
  const size = items[0].length;
  return items.map((_, i) => {
    const columns = elements.slice(i * size, (i + 1) * size);
    const box = make("div", { class: "item" }, make("div", { class: "item-columns" }, ...columns));
    if (i === items.length - 1) return box;
    const radio = make("input", { type: "radio", name: "query", checked: i === problem.query });
    radio.addEventListener("change", () => {
      problem.query = i;
      onChange();
    });
    box.append(make("label", {}, radio, " query", make("span", { class: "unseen" }, `: item ${i + 1}`)));
    return box;
  });
}

/**
 * A priority from -1 to 1 as a bar from a middle line: drag the bar, or use the arrow keys.
 * @param {number[]} priorities @param {number} x @param {() => void} onChange
 */
function prioritySlider(priorities, x, onChange) {
  const bar = make("span", { class: "bar" });
  const text = make("span", { class: "number", "aria-hidden": "true" });
  const well = make("div", { class: "well" }, bar);
  const slider = make(
    "div",
    {
      class: "priority", role: "slider", tabindex: "0", "aria-label": `Priority of vector ${x + 1}`,
      "aria-valuemin": "-1", "aria-valuemax": "1", "aria-orientation": "vertical",
    },
    well, text,
  );
  /** @param {number} value */
  const set = (value, changed = true) => {
    const priority = Math.round(Math.max(-1, Math.min(1, value)) * 100) / 100;
    priorities[x] = priority;
    slider.setAttribute("aria-valuenow", String(priority));
    bar.style.top = `${50 - 50 * Math.max(0, priority)}%`;
    bar.style.height = `${50 * Math.abs(priority)}%`;
    text.textContent = priority.toFixed(2).replace("0.", ".");
    if (changed) onChange();
  };
  set(priorities[x], false);
  const follow = (/** @type {PointerEvent} */ event) => {
    const box = well.getBoundingClientRect();
    set(1 - (2 * (event.clientY - box.top)) / box.height);
  };
  slider.addEventListener("pointerdown", (event) => {
    slider.setPointerCapture(event.pointerId);
    follow(event);
  });
  slider.addEventListener("pointermove", (event) => {
    if (slider.hasPointerCapture(event.pointerId)) follow(event);
  });
  slider.addEventListener("keydown", (event) => {
    const [right, down] = MOVES[event.key] ?? [0, 0];
    const by = 0.05 * (right - down);
    const ends = new Map([["Home", -1], ["End", 1]]);
    const to = ends.get(event.key) ?? (by ? priorities[x] + by : undefined);
    if (to === undefined) return;
    event.preventDefault();
    set(to);
  });
  return slider;
}

/**
 * A press flips a cell; dragging sets every cell on the way to the same bit.
 * @param {HTMLElement} grid @param {BuiltColumn[]} built @param {() => void} onChange
 */
function paintWithPointer(grid, built, onChange) {
  /** @type {number | null} */
  let bit = null;
  const cellAt = (/** @type {PointerEvent} */ { clientX, clientY }) =>
    cellOf(document.elementFromPoint(clientX, clientY));
  const paint = (/** @type {HTMLElement | null} */ cell) => {
    if (bit === null || !cell || !grid.contains(cell)) return;
    const [x, y] = [Number(cell.dataset.x), Number(cell.dataset.y)];
    if (built[x].bitAt(y) === bit) return;
    built[x].paint(y, bit);
    onChange();
  };
  grid.addEventListener("pointerdown", (event) => {
    const cell = cellOf(event.target);
    if (!cell || event.button !== 0) return;
    event.preventDefault();
    grid.setPointerCapture(event.pointerId);
    bit = 1 - built[Number(cell.dataset.x)].bitAt(Number(cell.dataset.y));
    focusCell(grid, cell);
    paint(cell);
  });
  grid.addEventListener("pointermove", (event) => {
    if (bit !== null) paint(cellAt(event));
  });
  for (const end of ["pointerup", "pointercancel"]) {
    grid.addEventListener(end, () => {
      bit = null;
    });
  }
}

/** @param {HTMLElement} grid @param {BuiltColumn[]} built @param {() => void} onChange */
function walkWithKeys(grid, built, onChange) {
  grid.addEventListener("keydown", (event) => {
    const cell = cellOf(event.target);
    if (!cell) return;
    const [x, y] = [Number(cell.dataset.x), Number(cell.dataset.y)];
    const [right, down] = MOVES[event.key] ?? [0, 0];
    if (event.key === " " || event.key === "Enter") {
      built[x].paint(y, 1 - built[x].bitAt(y));
      onChange();
    } else if (right || down || event.key in ENDS) {
      const column = event.key in ENDS ? built.at(ENDS[event.key]) : built[x + right];
      const next = column?.cells[y + down];
      if (next) focusCell(grid, next);
    } else return;
    event.preventDefault();
  });
}

/**
 * The cell that contains the target of an event, if any.
 * @param {EventTarget | null} target
 * @returns {HTMLElement | null}
 */
function cellOf(target) {
  return target instanceof Element ? target.closest(".cell") : null;
}

/**
 * Focus a cell. The tab key stops once in the grid, at the cell that last had the focus.
 * @param {HTMLElement} grid @param {HTMLElement} cell
 */
function focusCell(grid, cell) {
  grid.querySelector('.cell[tabindex="0"]')?.setAttribute("tabindex", "-1");
  cell.setAttribute("tabindex", "0");
  cell.focus();
}

/**
 * The drawing pane: a problem of any task as cells to click, drag over or reach with the arrow
 * keys. Long problems wrap into lines, so that every cell stays large enough to hit.
 */

import { capitalised, make } from "./dom.js";

/** @import { FormPart, ProblemForm } from "./python.d.ts" */
/** @import { Problem } from "./types.d.ts" */
/** @typedef {{ bits: number[], name: string, set: (y: number, bit: number) => void }} Column */
/** @typedef {{ axis: string, x: number, columns: Column[], isGroup?: boolean }} Entry */
/** @typedef {ReturnType<typeof buildColumn>} BuiltColumn */

/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
/** @type {Record<string, number>} */
const ENDS = { Home: 0, End: -1 };

/**
 * Draw a problem, in the server's format, into an element. Cells change the problem in place, and
 * then call `onChange()`. The focus stays on its cell. All vectors of the problem are columns;
 * tasks differ in the grouping of the columns, and in the controls below them.
 * @param {HTMLElement} element @param {Problem} problem @param {ProblemForm} form
 * @param {() => void} onChange
 */
export function mountDrawing(element, problem, form, onChange) {
  const entries = form.parts.flatMap((part) => entriesOf(problem, part));
  const columns = entries.flatMap((entry) => entry.columns);
  const label = "Input, one column per vector. Arrow keys move, space flips a bit.";
  const grid = make("div", { class: "grid", role: "group", "aria-label": label });
  const built = columns.map(buildColumn);
  const left = built.map((column) => column.element);
  const parts = entries.map((entry) => {
    const own = left.splice(0, entry.columns.length);
    return entryElement(problem, form, entry, own, onChange);
  });
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
 * The entries of a part that consists of bits. Each has columns { bits, set(y, bit), name }.
 * @param {Problem} problem @param {FormPart} part
 * @returns {Entry[]}
 */
function entriesOf(problem, { name, kind, axis, shape }) {
  if (kind !== "bits") return [];
  const list = problem[name];
  return list.map((/** @type {any} */ entry, /** @type {number} */ x) => {
    const title = `${singular(name)} ${x + 1}`;
    if (shape.length === 0) {
      const set = (/** @type {number} */ _, /** @type {number} */ bit) => (list[x] = bit);
      return { axis, x, columns: [{ bits: [entry], name: `position ${x + 1}`, set }] };
    }
    if (shape.length === 1) return { axis, x, columns: [vectorColumn(entry, title)] };
    const columns = entry.map((/** @type {number[]} */ bits, /** @type {number} */ j) =>
      vectorColumn(bits, `${title}, vector ${j + 1}`));
    return { axis, x, columns, isGroup: true };
  });
}

/**
 * @param {number[]} bits @param {string} name
 * @returns {Column}
 */
function vectorColumn(bits, name) {
  return { bits, name, set: (y, bit) => (bits[y] = bit) };
}

/**
 * The noun for one entry: a vector of the vectors.
 * @param {string} name
 */
function singular(name) {
  return name.replace(/ies$/, "y").replace(/s$/, "");
}

/**
 * The columns of an entry, in a box if they are several or the entry can be chosen, and the
 * controls that belong to the entry.
 * @param {Problem} problem @param {ProblemForm} form @param {Entry} entry
 * @param {HTMLElement[]} columns @param {() => void} onChange
 */
function entryElement(problem, { parts }, { axis, x, isGroup }, columns, onChange) {
  const own = parts.filter((part) => part.axis === axis);
  const choice = own.find(({ kind }) => kind === "choice");
  const element = isGroup || choice
    ? make("div", { class: "item" }, make("div", { class: "item-columns" }, ...columns))
    : columns[0];
  const [{ name: list }] = own;
  const title = `${singular(list)} ${x + 1}`;
  for (const { name, kind } of own) {
    if (kind !== "numbers") continue;
    const label = `${capitalised(singular(name))} of ${title}`;
    element.append(numberSlider(problem[name], x, label, onChange));
  }
  if (choice && x < problem[list].length - 1) {
    element.append(choiceButton(problem, choice.name, x, title, onChange));
  }
  return element;
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
 * The button that chooses an entry, such as the query among the items.
 * @param {Problem} problem @param {string} name @param {number} x @param {string} title
 * @param {() => void} onChange
 */
function choiceButton(problem, name, x, title, onChange) {
  const radio = make("input", { type: "radio", name, checked: x === problem[name] });
  radio.addEventListener("change", () => {
    problem[name] = x;
    onChange();
  });
  return make("label", {}, radio, ` ${name}`, make("span", { class: "unseen" }, `: ${title}`));
}

/**
 * A number from -1 to 1 as a bar from a middle line: drag the bar, or use the arrow keys.
 * @param {number[]} numbers @param {number} x @param {string} label @param {() => void} onChange
 */
function numberSlider(numbers, x, label, onChange) {
  const bar = make("span", { class: "bar" });
  const text = make("span", { class: "number", "aria-hidden": "true" });
  const well = make("div", { class: "well" }, bar);
  const slider = make(
    "div",
    {
      class: "priority", role: "slider", tabindex: "0", "aria-label": label,
      "aria-valuemin": "-1", "aria-valuemax": "1", "aria-orientation": "vertical",
    },
    well, text,
  );
  /** @param {number} value */
  const set = (value, changed = true) => {
    const number = Math.round(Math.max(-1, Math.min(1, value)) * 100) / 100;
    numbers[x] = number;
    slider.setAttribute("aria-valuenow", String(number));
    bar.style.top = `${50 - 50 * Math.max(0, number)}%`;
    bar.style.height = `${50 * Math.abs(number)}%`;
    text.textContent = number.toFixed(2).replace("0.", ".");
    if (changed) onChange();
  };
  set(numbers[x], false);
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
    const to = ends.get(event.key) ?? (by ? numbers[x] + by : undefined);
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

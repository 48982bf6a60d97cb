/** The whole run over time: one lane per quantity, like staves of a score, with one cursor. */

import { formatNumber } from "./arrays.js";
import { withAlpha } from "./colours.js";
import { make, pixelRatio } from "./dom.js";
import { drawMap, fittingCell, makeLegendOf } from "./heatmap.js";
import { lanesOf } from "./lanes.js";
import { writeSymbols } from "./symbols.js";
import { tellValues } from "./tip.js";

/** @import { Part, TimelineStage, Trace } from "./types.d.ts" */
/** @import { Cell } from "./heatmap.js" */
/** @import { Lane } from "./lanes.js" */
/** @typedef {Part & { update: (other: Trace) => void }} Timeline */
/**
 * @typedef {{ lane: Lane, element: HTMLElement, canvas: HTMLCanvasElement, tell: () => void,
 *   draw: (width: number) => void }} BuiltLane
 */

const LARGEST_CELL = 40;
const MARKS_HEIGHT = 9;
const UNSCORED_ALPHA = 80;
const LABEL_DISTANCE = 11;

/**
 * @param {Trace} first @param {TimelineStage} stage
 * @returns {Timeline}
 */
export function makeTimeline(first, stage) {
  let trace = first;
  const lanes = make("div", { class: "lanes" });
  const cursor = make("div", { class: "cursor", "aria-hidden": "true" });
  const element = make(
    "section",
    { class: "timeline", "aria-label": "The whole run over time" },
    make("h3", {}, "Over time"),
    make("div", { class: "scrolls" }, lanes),
  );
  let cellWidth = 1;
  /** @type {BuiltLane[]} */
  let tellers = [];

  function layout() {
    const wanted = lanesOf(trace, stage);
    const built = wanted.map((lane) => buildLane(lane, trace, stage, () => cellWidth));
    const { element: phases, plot } = buildPhases(trace);
    lanes.replaceChildren(phases, ...built.map((one) => one.element), cursor);
    const width = fittingCell(plot.clientWidth, trace.steps, LARGEST_CELL);
    cellWidth = width / pixelRatio();
    lanes.style.setProperty("--cell", `${cellWidth}px`);
    for (const one of built) one.draw(width);
    cursor.style.left = `${plot.offsetLeft}px`;
    cursor.style.width = `${Math.max(2, cellWidth)}px`;
    tellers = built;
  }
  /**
   * Show another trace of the same problem and the same sizes, in place.
   * @param {Trace} other
   */
  function update(other) {
    trace = other;
    lanesOf(trace, stage).forEach((lane, i) => {
      tellers[i].lane = lane;
      tellers[i].draw(cellWidth * pixelRatio());
    });
  }

  /** @param {number} step */
  function show(step) {
    cursor.style.transform = `translateX(${step * cellWidth}px)`;
    for (const one of tellers) if (one.canvas === document.activeElement) one.tell();
  }
  return { element, layout, show, update };
}

/**
 * @param {Lane} lane @param {Trace} trace @param {TimelineStage} stage @param {() => number} cellWidth
 * @returns {BuiltLane}
 */
function buildLane(lane, trace, stage, cellWidth) {
  const ratio = pixelRatio();
  const height = Math.max(1, Math.round(lane.height * ratio));
  const canvas = make("canvas", {
    tabindex: "0",
    role: "img",
    "aria-label": `${lane.title}, ${lane.note}: ${lane.rows} rows by ${trace.steps} steps. ` +
      "Arrow keys move through the cells.",
  });
  const plot = make("div", { class: "plot" }, canvas);
  const labels = rowLabels(lane, height / ratio);
  const rows = make("div", { class: "rows", "aria-hidden": "true" }, ...labels);
  const kind = lane.key ? { "data-head": lane.key } : {};
  const element = make("div", { class: "lane", ...kind }, laneHeading(lane), rows, plot);
  const tell = tellValues(canvas, stage.tip, {
    size: () => ({ rows: lane.rows, columns: trace.steps }),
    describe: (row, step) => describeCell(built.lane, row, step),
    cellSize: () => ({ width: cellWidth(), height: height / ratio }),
    columnShown: stage.step,
  });
  followPointer(canvas, trace, stage, cellWidth);
  const draw = (/** @type {number} */ width) => drawLane(canvas, built.lane, trace, { width, height });
  /** @type {BuiltLane} */
  const built = { lane, element, canvas, tell, draw };
  return built;
}

/** @param {Lane} lane */
function laneHeading(lane) {
  const title = make("strong", {}, lane.title);
  const note = make("span", { class: "note" }, lane.note);
  return make("div", { class: "lane-title" }, title, note, makeLegendOf(lane.scale, lane.from));
}

/**
 * Names of rows, as far as there is room. Numbered rows get a name at round intervals.
 * @param {Lane} lane @param {number} height
 */
function rowLabels(lane, height) {
  const every = 2 ** Math.max(0, Math.ceil(Math.log2(LABEL_DISTANCE / height)));
  /** @type {HTMLElement[]} */
  const labels = [];
  lane.names.forEach((name, row) => {
    if ((typeof name === "number" ? name : row) % every) return;
    const label = make("span", {}, String(name));
    label.style.top = `${(row + 0.5) * height}px`;
    labels.push(label);
  });
  return labels;
}

/** @param {Lane} lane @param {number} row @param {number} step */
function describeCell(lane, row, step) {
  const name = lane.rowName ? lane.rowName(row) : lane.names[row];
  const where = `${lane.title}, ${name}, step ${step + 1}`;
  if (lane.blank?.(step)) return `${where}: not scored`;
  const value = lane.tellAt?.(step) ?? formatNumber(lane.valueAt(row, step));
  return `${where}: ${value}${lane.remark?.(row, step) ?? ""}`;
}

/** @param {HTMLCanvasElement} canvas @param {Lane} lane @param {Trace} trace @param {Cell} cell */
function drawLane(canvas, lane, trace, cell) {
  /** @param {number} row @param {number} step */
  const colourAt = (row, step) => {
    if (lane.blank?.(step)) return 0;
    const colour = lane.scale.colourOf(lane.valueAt(row, step));
    return lane.faint?.(step) ? withAlpha(colour, UNSCORED_ALPHA) : colour;
  };
  const below = lane.wrong ? MARKS_HEIGHT : 0;
  const context = drawMap(canvas, lane.rows, trace.steps, colourAt, cell, below);
  if (lane.textAt) {
    const { textAt } = lane;
    const wanted = (/** @type {number} */ step) => (lane.blank?.(step) || lane.faint?.(step) ? "" : textAt(step));
    writeSymbols(context, wanted, (step) => colourAt(0, step), trace.steps, cell);
  }
  if (lane.wrong) markWrong(context, canvas, lane.rows, lane.wrong, trace.steps, cell);
}

/**
 * Draw a framed cross on every wrong bit, and an arrowhead below every step with a wrong bit.
 * @param {CanvasRenderingContext2D} context @param {HTMLCanvasElement} canvas
 * @param {number} rows @param {(row: number, step: number) => boolean} isWrongAt
 * @param {number} steps @param {Cell} cell
 */
function markWrong(context, canvas, rows, isWrongAt, steps, cell) {
  const ratio = pixelRatio();
  context.strokeStyle = context.fillStyle = getComputedStyle(canvas).getPropertyValue("--wrong");
  context.lineWidth = 1.5 * ratio;
  const bottom = rows * cell.height + ratio;
  for (let step = 0; step < steps; step++) {
    const wrong = [...Array(rows).keys()].filter((row) => isWrongAt(row, step));
    for (const row of wrong) crossOut(context, step * cell.width, row * cell.height, cell);
    if (wrong.length) arrowhead(context, (step + 0.5) * cell.width, bottom, ratio);
  }
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {Cell} cell */
function crossOut(context, x, y, { width, height }) {
  const inset = context.lineWidth;
  context.beginPath();
  context.rect(x + inset / 2, y + inset / 2, width - inset, height - inset);
  if (width > 4 * inset) {
    context.moveTo(x + inset, y + inset);
    context.lineTo(x + width - inset, y + height - inset);
    context.moveTo(x + width - inset, y + inset);
    context.lineTo(x + inset, y + height - inset);
  }
  context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} ratio */
function arrowhead(context, x, y, ratio) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + 4 * ratio, y + 7 * ratio);
  context.lineTo(x - 4 * ratio, y + 7 * ratio);
  context.fill();
}

/**
 * Press and drag over a lane to move through time.
 * @param {HTMLCanvasElement} canvas @param {Trace} trace @param {TimelineStage} stage @param {() => number} cellWidth
 */
function followPointer(canvas, trace, stage, cellWidth) {
  const follow = (/** @type {PointerEvent} */ event) => {
    const step = Math.floor(event.offsetX / cellWidth());
    stage.goTo(Math.max(0, Math.min(trace.steps - 1, step)));
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    follow(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (canvas.hasPointerCapture(event.pointerId)) follow(event);
  });
}

/**
 * Brackets above the lanes that show at which steps the network listens and answers.
 * @param {Trace} trace
 */
function buildPhases(trace) {
  const plot = make("div", { class: "phases plot" });
  for (let from = 0; from < trace.steps; ) {
    const answering = trace.answering.has(from);
    let to = from;
    while (to < trace.steps && trace.answering.has(to) === answering) to++;
    const name = !answering ? "listens" : trace.answering.has(0) ? "predicts" : "answers";
    const phase = make("span", { class: answering ? "phase answering" : "phase" }, name);
    phase.style.setProperty("--from", String(from));
    phase.style.setProperty("--steps", String(to - from));
    phase.title = `It ${name}: steps ${from + 1} to ${to}`;
    plot.append(phase);
    from = to;
  }
  const element = make("div", { class: "lane phase-lane" }, make("span"), make("span"), plot);
  return { element, plot };
}

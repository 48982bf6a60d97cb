/** The memory at one step as a tape: the write heads above it, the read heads below. */

import { formatNumber, greatestMagnitude, partAt, peakOf } from "./arrays.js";
import { colourScale, headColour } from "./colours.js";
import { make, pixelRatio } from "./dom.js";
import { isSymbol, makeSymbol } from "./equations.js";
import { KINDS, headsOf } from "./heads.js";
import { drawBars, drawMap, fittingCell, makeLegendOf } from "./heatmap.js";
import { tellValues } from "./tip.js";
import { locationsOf } from "./trace.js";

/** @import { Head, HeadKind, Part, Stage, Stretch, Trace, Values } from "./types.d.ts" */
/** @typedef {Trace & { memory: Values }} TapedTrace */
/** @typedef {ReturnType<typeof makeStrip>} Strip */
/**
 * @typedef {{ name: string, ramp: "bits" | HeadKind | "signed", array: () => Values,
 *   blank?: (step: number) => boolean, names?: string[] }} Vector
 */

export const LARGEST_LOCATION = 44;
const TAPE_HEIGHT = 140;
const HEAD_BARS_HEIGHT = 40;
const VECTOR_WIDTH = 14;
const BITS_WIDTH = 20;
const TICK_DISTANCE = 26;
/** Placeholder for a head that does not exist. */
const NONE = { shape: [0, 0], values: new Float32Array() };

/**
 * @param {TapedTrace} trace @param {Stage} stage
 * @returns {Part & { legend: HTMLElement }}
 */
export function makeTape(trace, stage) {
  const strip = makeStrip(trace, stage);
  const sides = KINDS.map((kind) => makeSide(kind, trace, stage, strip));
  const vectors = makeVectors(trace, stage, strip);
  const ticks = make("div", { class: "ticks", "aria-hidden": "true" });
  const legend = make("span", { class: "tape-legend" });
  const element = make(
    "section",
    { class: "tape", "aria-label": "The memory at this step" },
    ...vectors.elements, sides[0].element, strip.element, sides[1].element, ticks,
  );

  function layout() {
    // Measure the full width first; then shrink to the locations, with the vectors beside them.
    element.style.removeProperty("--tape");
    strip.layout();
    const locations = (strip.cell.width * stage.stretch().count) / pixelRatio();
    element.style.setProperty("--tape", `${locations}px`);
    vectors.layout();
    for (const side of sides) side.layout();
    ticks.replaceChildren(...tickLabels(strip, stage.stretch().count));
    legend.replaceChildren("Memory", strip.legend());
  }
  /** @param {number} step */
  function show(step) {
    strip.show(step);
    vectors.show(step);
    for (const side of sides) side.show(step);
  }
  return { element, legend, layout, show };
}

/**
 * The tape itself: a column per location, a row per component.
 * @param {TapedTrace} trace @param {Stage} stage
 */
function makeStrip(trace, stage) {
  const [, locations, width] = trace.memory.shape;
  const canvas = make("canvas", { tabindex: "0", role: "img" });
  const element = make("div", { class: "strip" }, canvas);
  const cell = { width: 1, height: 1 };
  const location = (/** @type {number} */ column) => (stage.stretch().start + column) % locations;
  let most = 1;
  let scale = colourScale("signed", -most, most);

  function layout() {
    cell.width = fittingCell(element.clientWidth, stage.stretch().count, LARGEST_LOCATION);
    cell.height = fittingCell(TAPE_HEIGHT, width, 12);
    most = stage.greatest(trace.memory.values);
    scale = colourScale("signed", -most, most);
  }
  /** @param {number} step */
  function show(step) {
    const memory = partAt(trace.memory, step);
    /** @param {number} row @param {number} column */
    const colourAt = (row, column) => scale.colourOf(memory[location(column) * width + row]);
    drawMap(canvas, width, stage.stretch().count, colourAt, cell);
    canvas.setAttribute("aria-label", `Memory after step ${step + 1}: ${locations} locations of ` +
      `${width} numbers. Arrow keys move through the cells.`);
  }
  tellValues(canvas, stage.tip, {
    size: () => ({ rows: width, columns: stage.stretch().count }),
    cellSize: () => ({ width: cell.width / pixelRatio(), height: cell.height / pixelRatio() }),
    describe: (row, column) => {
      const value = partAt(trace.memory, stage.step())[location(column) * width + row];
      return `Memory after step ${stage.step() + 1}, location ${location(column)}, ` +
        `component ${row + 1}: ${formatNumber(value)}`;
    },
  });
  const legend = () => makeLegendOf(scale, -most);
  return { element, layout, show, legend, cell, location, rows: width };
}

/**
 * The heads of one kind: a marker for each, and the weighting of the chosen head as bars.
 * @param {HeadKind} kind @param {Trace} trace @param {Stage} stage @param {Strip} strip
 */
function makeSide(kind, trace, stage, strip) {
  const heads = headsOf(trace, kind);
  const canvas = make("canvas", { "aria-hidden": "true" });
  const track = make("div", { class: "track" });
  const markers = heads.map((head) => makeMarker(head, trace));
  track.append(...markers.map((marker) => marker.element));
  const parts = kind === "write" ? [track, canvas] : [canvas, track];
  const element = make("div", { class: `side ${kind}` }, ...parts);
  let most = 1;
  const scaled = (/** @type {Float32Array} */ weighting) =>
    Float32Array.from({ length: stage.stretch().count }, (_, column) =>
      weighting[strip.location(column)] / most);

  tellValues(canvas, stage.tip, {
    size: () => ({ rows: 1, columns: stage.stretch().count }),
    cellSize: () => ({ width: strip.cell.width / pixelRatio(), height: HEAD_BARS_HEIGHT }),
    describe: (_, column) => {
      const head = stage.headOf(kind);
      if (!head) return "";
      const weight = partAt(head.weightings, stage.step())[strip.location(column)];
      return `${head.name} weighting, location ${strip.location(column)}, ` +
        `step ${stage.step() + 1}: ${formatNumber(weight)}`;
    },
  });
  function layout() {
    most = Math.max(...heads.map((head) => stage.greatest(head.weightings.values)));
    for (const marker of markers) marker.choose(marker.head === stage.headOf(kind));
  }
  /** @param {number} step */
  function show(step) {
    const chosen = stage.headOf(kind);
    if (!chosen) return;
    const others = heads.filter((head) => head !== chosen);
    drawBars(canvas, scaled(partAt(chosen.weightings, step)), {
      width: strip.cell.width,
      height: Math.round(HEAD_BARS_HEIGHT * pixelRatio()),
      colour: headColour(kind),
      ghost: others.length ? scaled(greatestWeights(others, step)) : null,
      ghostColour: `${headColour(kind)}44`,
      down: kind === "read",
    });
    for (const marker of markers) marker.show(step, stage.stretch(), strip);
  }
  return { element, layout, show };
}

/** @param {Head[]} heads @param {number} step */
function greatestWeights(heads, step) {
  const weightings = heads.map((head) => partAt(head.weightings, step));
  return weightings[0].map((_, i) => Math.max(...weightings.map((weighting) => weighting[i])));
}

/**
 * A head above or below the tape. Its arrow points at the peak of its weighting.
 * @param {Head} head @param {Trace} trace
 */
function makeMarker(head, trace) {
  const label = make("span", { class: "label" });
  const arrow = make("span", { class: "arrow" });
  const element = make("div", { class: `marker ${head.kind}` }, label, arrow);
  const total = locationsOf(trace);
  /** @type {Map<number, number>} */
  const widths = new Map();
  /** @type {number | null} */
  let last = null;

  /** @param {number} step @param {Stretch} stretch @param {Strip} strip */
  function show(step, { start, count }, strip) {
    const weighting = partAt(head.weightings, step);
    const peak = peakOf(weighting);
    const column = (peak - start + total) % total;
    const size = strip.cell.width / pixelRatio();
    // A head that wraps around the end of the tape jumps to the other side, without an animation.
    element.classList.toggle("jumps", last !== null && Math.abs(column - last) > count / 2);
    last = column;
    element.hidden = column >= count;
    const x = (column + 0.5) * size;
    element.style.transform = `translateX(${x}px)`;
    label.textContent = `${head.name} at ${peak}: ${formatNumber(weighting[peak])}`;
    const half = labelWidth() / 2;
    const room = Math.max(count * size, 2 * half);
    label.style.transform = `translateX(${Math.max(half, Math.min(x, room - half)) - x - half}px)`;
  }
  // Digits are equally wide, so texts of equal length are too. Measuring each would cost a layout.
  function labelWidth() {
    const { length } = label.textContent;
    const width = widths.get(length) || label.offsetWidth;
    widths.set(length, width);
    return width;
  }
  const choose = (/** @type {boolean} */ chosen) => element.classList.toggle("chosen", chosen);
  return { head, element, show, choose };
}

/**
 * The vectors beside the tape: input, erase and add on the left; read, output and target on the
 * right.
 * @param {Trace} trace @param {Stage} stage @param {Strip} strip
 */
function makeVectors(trace, stage, strip) {
  const silent = (/** @type {number} */ step) => !trace.answering.has(step);
  const { targets, kinds } = trace;
  const inputNames = kinds.inputs === "symbols" ? trace.labels.inputs : undefined;
  const names = kinds.outputs === "symbols" ? trace.labels.outputs : undefined;
  /** @type {(kind: HeadKind) => Vector[]} */
  const ofHeads = (kind) => {
    const labels = headsOf(trace, kind)[0]?.vectors.map(({ label }) => label) ?? [];
    // The last vector is moved; a vector before it, such as the erase vector, is a gate.
    return labels.map((name, i) => ({
      name,
      ramp: i + 1 < labels.length ? kind : "signed",
      array: () => stage.headOf(kind)?.vectors[i].values ?? NONE,
    }));
  };
  /** @type {Vector[]} */
  const before = [
    { name: "input", ramp: "bits", array: () => trace.inputs, names: inputNames }, ...ofHeads("write"),
  ];
  /** @type {Vector[]} */
  const after = [
    ...ofHeads("read"), { name: "output", ramp: "bits", array: () => trace.outputs, names },
  ];
  if (targets) after.push({ name: "target", ramp: "bits", array: () => targets, blank: silent, names });
  const columns = [...before, ...after].map((vector) => makeVector(vector, stage, strip));
  const elements = columns.map((column) => column.element);
  return {
    elements: [
      make("div", { class: "vectors before" }, ...elements.slice(0, before.length)),
      make("div", { class: "vectors after" }, ...elements.slice(before.length)),
    ],
    layout: () => columns.forEach((column) => column.layout()),
    show: (/** @type {number} */ step) => columns.forEach((column) => column.show(step)),
  };
}

/**
 * @param {Vector} vector @param {Stage} stage @param {Strip} strip
 * @returns {Part}
 */
function makeVector({ name, array, ramp, blank, names }, stage, strip) {
  const canvas = make("canvas", { tabindex: "0", role: "img", "aria-label": `${name} vector` });
  const isOfMemory = ramp !== "bits";
  const caption = isSymbol(name) ? makeSymbol(name, name, stage.tip) : name;
  const element = make("figure", { class: name }, make("figcaption", {}, caption), canvas);
  const width = Math.round((isOfMemory ? VECTOR_WIDTH : BITS_WIDTH) * pixelRatio());
  const rows = () => array().shape[1];
  // Vectors of bits are always as tall as the tape; many rows share a pixel.
  const height = () => {
    const fitting = (strip.cell.height * strip.rows) / rows();
    return fitting < 1 ? fitting : Math.floor(fitting);
  };
  let scale = colourScale(ramp, 0, 1);

  function layout() {
    const most = isOfMemory ? stage.greatest(array().values) : greatestMagnitude(array().values, 1);
    const isGate = ramp === "write" || ramp === "read";
    scale = isGate ? colourScale(ramp, 0, 1) : colourScale(ramp, -most, most);
  }
  /** @param {number} step */
  function show(step) {
    const vector = partAt(array(), step);
    const colourAt = (/** @type {number} */ row) => (blank?.(step) ? 0 : scale.colourOf(vector[row]));
    drawMap(canvas, vector.length, 1, colourAt, { width, height: height() });
  }
  tellValues(canvas, stage.tip, {
    size: () => ({ rows: rows(), columns: 1 }),
    cellSize: () => ({ width: width / pixelRatio(), height: height() / pixelRatio() }),
    describe: (row) => {
      const component = names ? `symbol ${names[row]}` : `component ${row + 1}`;
      const where = `${name} vector, ${component}, step ${stage.step() + 1}`;
      if (blank?.(stage.step())) return `${where}: not scored`;
      return `${where}: ${formatNumber(partAt(array(), stage.step())[row])}`;
    },
  });
  return { element, layout, show };
}

/**
 * Location numbers below the tape, at round intervals.
 * @param {Strip} strip @param {number} count
 */
function tickLabels(strip, count) {
  const size = strip.cell.width / pixelRatio();
  const every = 2 ** Math.max(0, Math.ceil(Math.log2(TICK_DISTANCE / size)));
  const labels = [];
  for (let column = 0; column < count; column++) {
    if (strip.location(column) % every) continue;
    const label = make("span", {}, String(strip.location(column)));
    label.style.left = `${(column + 0.5) * size}px`;
    labels.push(label);
  }
  return labels;
}

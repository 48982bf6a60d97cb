/** Symbols: one row with the symbol of every step instead of one row per channel. */

import { formatNumber, partAt, peakOf, valueIn } from "./arrays.js";
import { colourScale } from "./colours.js";
import { make, pixelRatio } from "./dom.js";
import { isWrong } from "./trace.js";

/** @import { Trace, Values } from "./types.d.ts" */
/** @import { Cell } from "./heatmap.js" */
/** @import { Lane } from "./lanes.js" */

const HEIGHT = 26;
const FONT_SIZE = 14;
const RANKED = 3; // symbols that a tip lists, and the table
const LIGHTEST_DARK = 0.18; // luminance at which black and white text are equally readable

/**
 * A lane whose cells hold the most probable symbol; the colour is its probability.
 * @param {string} title @param {string} note @param {string[]} names @param {Values} array
 * @returns {Lane}
 */
export function symbolLane(title, note, names, array) {
  const symbolAt = (/** @type {number} */ step) => peakOf(partAt(array, step));
  const valueAt = (/** @type {number} */ _, /** @type {number} */ step) =>
    valueIn(array, step, symbolAt(step));
  return {
    title, note, valueAt,
    rows: 1,
    height: HEIGHT,
    names: ["symbol"],
    scale: colourScale("bits", -1, 1),
    from: 0,
    textAt: (step) => (valueAt(0, step) > 0 ? visible(names[symbolAt(step)]) : ""),
    tellAt: (step) => rankedText(names, array, step),
  };
}

/**
 * Write the symbols of a lane into its cells, as many characters as fit.
 * @param {CanvasRenderingContext2D} context @param {(step: number) => string} textAt
 * @param {(step: number) => number} colourAt colour behind the text @param {number} steps
 * @param {Cell} cell
 */
export function writeSymbols(context, textAt, colourAt, steps, { width, height }) {
  const ratio = pixelRatio();
  context.font = `${FONT_SIZE * ratio}px ui-monospace, monospace`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let step = 0; step < steps; step++) {
    const characters = [...textAt(step)];
    while (characters.length && context.measureText(characters.join("")).width > width) characters.pop();
    if (!characters.length) continue;
    context.fillStyle = inkOn(colourAt(step));
    context.fillText(characters.join(""), (step + 0.5) * width, height / 2 + ratio);
  }
}

/**
 * Black or white, whichever is readable on a colour of a `colourScale`.
 * @param {number} colour
 */
export function inkOn(colour) {
  const [red, green, blue] = [0, 8, 16].map((shift) => (((colour >> shift) & 255) / 255) ** 2.2);
  const isLight = 0.2126 * red + 0.7152 * green + 0.0722 * blue > LIGHTEST_DARK;
  return isLight ? "#000000" : "#ffffff";
}

/**
 * The answer as a text: the most probable symbols at the answering steps.
 * @param {Trace} trace
 */
export function answerText({ answering, outputs, labels }) {
  const symbols = [...answering].map((step) => labels.outputs[peakOf(partAt(outputs, step))]);
  return symbols.join(labels.outputs.every((name) => [...name].length === 1) ? "" : " ");
}

/**
 * Heading and rows of the table of the answer: a row per step.
 * @param {Trace} trace @param {number[]} steps
 */
export function symbolTable(trace, steps) {
  const { labels: { outputs: names }, targets } = trace;
  const titles = ["step", "answer", "probability", ...(targets ? ["target"] : []), "next"];
  const head = make("tr", {}, ...titles.map((title) => make("th", { scope: "col" }, title)));
  const rows = steps.map((step) => {
    const [[symbol, probability], ...next] = ranked(names, trace.outputs, step);
    const wrong = isWrong(trace, step, 0);
    const target = targets && trace.answering.has(step) ? names[peakOf(partAt(targets, step))] : "";
    const others = next.map(([name, p]) => `${visible(name)} ${formatNumber(p)}`).join(", ");
    return make("tr", {},
      make("th", { scope: "row" }, String(step + 1)),
      make("td", wrong ? { class: "bad" } : {}, `${visible(symbol)}${wrong ? " X" : ""}`),
      make("td", {}, Number.isFinite(probability) ? probability.toFixed(4) : "not a number"),
      ...(targets ? [make("td", {}, visible(target))] : []),
      make("td", {}, others));
  });
  const caption = make("caption", {}, "The most probable symbol at every step; ",
    make("span", { class: "bad" }, "X"), " marks wrong symbols.");
  return make("table", {}, caption, make("thead", {}, head), make("tbody", {}, ...rows));
}

/**
 * The most probable symbols of a step, with their values.
 * @param {string[]} names @param {Values} array @param {number} step
 * @returns {[string, number][]}
 */
function ranked(names, array, step) {
  const values = [...partAt(array, step)];
  const order = values.map((_, channel) => channel).toSorted((a, b) => values[b] - values[a]);
  return order.slice(0, RANKED).map((channel) => [names[channel], values[channel]]);
}

/** @param {string[]} names @param {Values} array @param {number} step */
function rankedText(names, array, step) {
  const some = ranked(names, array, step).filter(([, value], rank) => rank === 0 || value >= 0.001);
  const [[first, value]] = some;
  if (value === 0) return "no symbol";
  if (value === 1) return visible(first);
  return some.map(([name, p]) => `${visible(name)} ${formatNumber(p)}`).join(", ");
}

/**
 * A symbol with visible spaces, as in Python's ntm.tasks.pictures.
 * @param {string} symbol
 */
function visible(symbol) {
  return symbol.replaceAll(" ", "\u2423").replaceAll("\n", "\u2424");
}

/** Figure 2 of the paper for one head at one step: four weightings, each computed from the last. */

import { formatNumber, partAt, peakOf } from "./arrays.js";
import { headColour } from "./colours.js";
import { make, pixelRatio } from "./dom.js";
import { makeSymbol } from "./equations.js";
import { drawBars, fittingCell } from "./heatmap.js";
import { tellValues } from "./tip.js";

/** @import { Head, Part, Stage, Tip, Trace } from "./types.d.ts" */
/**
 * @typedef {{ field: "content" | "gated" | "shifted" | "weightings", title: string, symbol: string,
 *   parameter: (head: Head, step: number, shifts: number[]) => string,
 *   words: (head: Head, step: number, shifts: number[]) => string,
 *   ghost: (head: Head, step: number) => Float32Array | null }} Link
 */

const LINK_HEIGHT = 64;

/**
 * Each link has a title, the symbol and value of its parameter at a step, its effect in words, and
 * the weighting drawn behind it.
 * @type {Link[]}
 */
const LINKS = [
  {
    field: "content",
    title: "1. Content",
    symbol: "\u03b2",
    parameter: (head, step) => formatNumber(head.strengths.values[step]),
    words: (head, step) => placeInWords("matches", partAt(head.content, step)),
    ghost: () => null,
  },
  {
    field: "gated",
    title: "2. Gate",
    symbol: "g",
    parameter: (head, step) => formatNumber(head.gates.values[step]),
    words: (head, step) => gateInWords(head.gates.values[step]),
    // The gate mixes the content weighting with the last weighting, which is drawn behind.
    ghost: (head, step) => (step > 0 ? partAt(head.weightings, step - 1) : null),
  },
  {
    field: "shifted",
    title: "3. Shift",
    symbol: "s",
    parameter: (head, step, shifts) => shiftAsText(partAt(head.shifts, step), shifts),
    words: (head, step, shifts) => shiftInWords(partAt(head.shifts, step), shifts),
    ghost: (head, step) => partAt(head.gated, step),
  },
  {
    field: "weightings",
    title: "4. Sharpening",
    symbol: "\u03b3",
    parameter: (head, step) => formatNumber(head.sharpness.values[step]),
    words: (head, step) => placeInWords("ends on", partAt(head.weightings, step)),
    ghost: (head, step) => partAt(head.shifted, step),
  },
];

/**
 * @param {Trace} trace @param {Stage} stage
 * @returns {Part}
 */
export function makeChain(trace, stage) {
  const links = LINKS.map((link) => makeLink(link, trace, stage));
  const element = make(
    "section",
    { class: "chain", "aria-label": "How the chosen head finds its location" },
    make("div", { class: "links" }, ...links.map((link) => link.element)),
  );
  return {
    element,
    layout: () => links.forEach((link) => link.layout()),
    show: (step) => links.forEach((link) => link.show(step)),
  };
}

/**
 * @param {Link} link @param {Trace} trace @param {Stage} stage
 * @returns {Part}
 */
function makeLink(link, trace, stage) {
  const parameter = make("span");
  const words = make("figcaption");
  const label = `${link.title}, a bar per location. Arrow keys move through the bars.`;
  const canvas = make("canvas", { tabindex: "0", role: "img", "aria-label": label });
  const bars = make("div", { class: "bars" }, canvas);
  const element = make("figure", { class: "link" }, headingOf(link, parameter, stage.tip), bars, words);
  const location = (/** @type {number} */ column) => {
    const { start } = stage.stretch();
    return (start + column) % stage.chosenHead().weightings.shape[1];
  };
  const stretched = (/** @type {Float32Array} */ weighting) =>
    Float32Array.from({ length: stage.stretch().count }, (_, column) =>
      weighting[location(column)] / most);
  let width = 1;
  let most = 1;

  function layout() {
    const head = stage.chosenHead();
    most = Math.max(...LINKS.map(({ field }) => stage.greatest(head[field].values)));
    width = fittingCell(bars.clientWidth, stage.stretch().count, 24);
  }
  /** @param {number} step */
  function show(step) {
    const head = stage.chosenHead();
    const ghost = link.ghost(head, step);
    const height = Math.round(LINK_HEIGHT * pixelRatio());
    const colour = headColour(head.kind);
    drawBars(canvas, stretched(partAt(head[link.field], step)), {
      width, height, colour, ghost: ghost && stretched(ghost), ghostColour: "#88888855",
    });
    parameter.textContent = link.parameter(head, step, trace.shifts);
    words.textContent = link.words(head, step, trace.shifts);
  }
  tellValues(canvas, stage.tip, {
    size: () => ({ rows: 1, columns: stage.stretch().count }),
    cellSize: () => ({ width: width / pixelRatio(), height: LINK_HEIGHT }),
    describe: (_, column) => {
      const value = partAt(stage.chosenHead()[link.field], stage.step())[location(column)];
      return `${link.title}, location ${location(column)}, step ${stage.step() + 1}: ` +
        formatNumber(value);
    },
  });
  return { element, layout, show };
}

/** @param {Link} link @param {HTMLElement} parameter @param {Tip} tip */
function headingOf({ field, title, symbol }, parameter, tip) {
  const named = make("span", { class: "parameter" }, make("i", {}, symbol), " ", parameter);
  return make("div", { class: "link-title" }, makeSymbol(field, title, tip, named), named);
}

/** @param {string} verb @param {Float32Array} weighting */
function placeInWords(verb, weighting) {
  const peak = peakOf(weighting);
  const weight = weighting[peak];
  if (!(weight > 2 / weighting.length)) return `${verb} no single location`;
  const degree = weight > 0.9 ? "" : weight > 0.5 ? ", mostly" : ", a little";
  return `${verb} location ${peak}${degree} (${formatNumber(weight)})`;
}

/** @param {number} gate */
function gateInWords(gate) {
  if (gate > 0.9) return "jumps to the best match";
  if (gate < 0.1) return "stays at its last location";
  return "mixes match and last location (grey)";
}

/** @param {Float32Array} shift @param {number[]} shifts */
function shiftAsText(shift, shifts) {
  return shifts.map((by, i) => `${signed(by)}:\u00a0${shift[i].toFixed(2)}`).join("  ");
}

/** @param {Float32Array} shift @param {number[]} shifts */
function shiftInWords(shift, shifts) {
  const main = peakOf(shift);
  if (shift[main] < 0.6) return "spreads over its neighbours";
  if (shifts[main] === 0) return "does not move";
  return `moves by ${signed(shifts[main])}`;
}

/** @param {number} number */
function signed(number) {
  return number > 0 ? `+${number}` : String(number);
}

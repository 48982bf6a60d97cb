/**
 * All arrays of one head over the locations, at one step. For an NTM this is figure 2 of the paper:
 * four weightings, each computed from the last.
 */

import { formatNumber, partAt, peakOf } from "./arrays.js";
import { headColour } from "./colours.js";
import { make, pixelRatio } from "./dom.js";
import { isSymbol, makeSymbol } from "./equations.js";
import { drawBars, fittingCell } from "./heatmap.js";
import { LARGEST_LOCATION } from "./tape.js";
import { tellValues } from "./tip.js";

/** @import { Head, NamedValues, Part, Stage, Tip, Trace } from "./types.d.ts" */
/**
 * @typedef {(head: Head, step: number, shifts: number[]) => string} Text
 * @typedef {{ title: string, words: Text, symbol?: string, parameter?: Text,
 *   ghost?: (head: Head, step: number) => Float32Array | null }} Explanation
 * @typedef {Explanation & { field: string, number: number }} Link
 */

const LINK_HEIGHT = 64;

/** Names of the four stages of addressing, by the weighting that each computes. */
export const STAGE_NAMES = { content: "Content lookup", gated: "Gate", shifted: "Shift", weightings: "Sharpening" };

/**
 * The four weightings of an NTM by name. Each has a title, the symbol of its parameter, the array
 * with the parameter and its text, its effect in words, and the weighting drawn behind it.
 * @type {Record<string, Required<Explanation> & { needs: string }>}
 */
const EXPLAINED = {
  content: {
    title: STAGE_NAMES.content,
    symbol: "\u03b2",
    needs: "strengths",
    parameter: (head, step) => formatNumber(head.arrays.strengths.values[step]),
    words: (head, step) => placeInWords("matches", partAt(head.arrays.content, step)),
    ghost: () => null,
  },
  gated: {
    title: STAGE_NAMES.gated,
    symbol: "g",
    needs: "gates",
    parameter: (head, step) => formatNumber(head.arrays.gates.values[step]),
    words: (head, step) => gateInWords(head.arrays.gates.values[step], step),
    // The gate mixes the content weighting with the last weighting, which is drawn behind.
    ghost: (head, step) => (step > 0 ? partAt(head.weightings, step - 1) : null),
  },
  shifted: {
    title: STAGE_NAMES.shifted,
    symbol: "s",
    needs: "shifts",
    parameter: (head, step, shifts) => shiftAsText(partAt(head.arrays.shifts, step), shifts),
    words: (head, step, shifts) => shiftInWords(partAt(head.arrays.shifts, step), shifts),
    ghost: (head, step) => partAt(head.arrays.gated, step),
  },
  weightings: {
    title: STAGE_NAMES.weightings,
    symbol: "\u03b3",
    needs: "sharpness",
    parameter: (head, step) => formatNumber(head.arrays.sharpness.values[step]),
    words: (head, step) => placeInWords("ends on", partAt(head.weightings, step)),
    ghost: (head, step) => partAt(head.arrays.shifted, step),
  },
};

/**
 * @param {Trace} trace @param {Stage} stage
 * @returns {Part}
 */
export function makeChain(trace, stage) {
  const byKind = new Map(trace.heads.map((head) => [head.kind, linksOf(head)]));
  const made = new Map([...byKind].map(([kind, links]) =>
    [kind, links.map((link) => makeLink(link, trace, stage))]));
  const shown = () => made.get(stage.chosenHead().kind) ?? [];
  const links = make("div", { class: "links" });
  const label = "How the chosen head finds its location";
  const element = make("section", { class: "chain", "aria-label": label }, links);
  return {
    element,
    layout: () => {
      links.replaceChildren(...shown().map((link) => link.element));
      shown().forEach((link) => link.layout());
    },
    show: (step) => shown().forEach((link) => link.show(step)),
  };
}

/**
 * A link for each array of a head over the locations.
 * @param {Head} head
 * @returns {Link[]}
 */
function linksOf(head) {
  return head.bars.map(({ name, label }, i) => {
    const known = Object.hasOwn(EXPLAINED, name) ? EXPLAINED[name] : null;
    const fits = known && Object.hasOwn(head.arrays, known.needs);
    return { ...(fits ? known : plainLink(name, label)), field: name, number: i + 1 };
  });
}

/**
 * @param {string} name @param {string} label
 * @returns {Explanation}
 */
function plainLink(name, label) {
  const title = label[0].toUpperCase() + label.slice(1);
  return { title, words: (head, step) => placeInWords("is on", partAt(head.arrays[name], step)) };
}

/**
 * @param {Link} link @param {Trace} trace @param {Stage} stage
 * @returns {Part}
 */
function makeLink(link, trace, stage) {
  const parameter = make("span");
  const words = make("figcaption");
  const title = `${link.number}. ${link.title}`;
  const label = `${title}, a bar per location. Arrow keys move through the bars.`;
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
    most = Math.max(...head.bars.map(({ values }) => stage.greatest(values.values)));
    width = fittingCell(bars.clientWidth, stage.stretch().count, LARGEST_LOCATION);
  }
  /** @param {number} step */
  function show(step) {
    const head = stage.chosenHead();
    const ghost = link.ghost?.(head, step);
    const height = Math.round(LINK_HEIGHT * pixelRatio());
    const colour = headColour(head.kind);
    drawBars(canvas, stretched(partAt(head.arrays[link.field], step)), {
      width, height, colour, ghost: ghost ? stretched(ghost) : null, ghostColour: "#88888855",
    });
    parameter.textContent = link.parameter?.(head, step, trace.shifts) ?? "";
    words.textContent = link.words(head, step, trace.shifts);
  }
  tellValues(canvas, stage.tip, {
    size: () => ({ rows: 1, columns: stage.stretch().count }),
    cellSize: () => ({ width: width / pixelRatio(), height: LINK_HEIGHT }),
    describe: (_, column) => {
      const value = partAt(stage.chosenHead().arrays[link.field], stage.step())[location(column)];
      return `${title}, location ${location(column)}, step ${stage.step() + 1}: ` +
        formatNumber(value);
    },
  });
  return { element, layout, show };
}

/** @param {Link} link @param {HTMLElement} parameter @param {Tip} tip */
function headingOf({ field, number, title, symbol }, parameter, tip) {
  const text = `${number}. ${title}`;
  if (!symbol || !isSymbol(field)) return make("div", { class: "link-title" }, text);
  const named = make("span", { class: "parameter" }, make("i", {}, symbol), " ", parameter);
  return make("div", { class: "link-title" }, makeSymbol(field, text, tip, named), named);
}

/** @param {string} verb @param {Float32Array} weighting */
function placeInWords(verb, weighting) {
  const peak = peakOf(weighting);
  const weight = weighting[peak];
  if (!(weight > 2 / weighting.length)) return `${verb} no single location`;
  const degree = weight > 0.9 ? "" : weight > 0.5 ? ", mostly" : ", a little";
  return `${verb} location ${peak}${degree} (${formatNumber(weight)})`;
}

/**
 * At the first step, the last location is the learned start, which a trace does not contain.
 * @param {number} gate @param {number} step
 */
function gateInWords(gate, step) {
  const last = step > 0 ? "last location" : "start location";
  if (gate > 0.9) return "jumps to the best match";
  if (gate < 0.1) return `stays at its ${last}`;
  return `mixes match and ${last}${step > 0 ? " (grey)" : ""}`;
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

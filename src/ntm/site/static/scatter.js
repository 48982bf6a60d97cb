/** A scatter of locations: where a head is, against a property of the input at the same step. */

import { partAt, peakOf } from "../../studio/static/arrays.js";
import { headColour } from "../../studio/static/colours.js";
import { makeSvg } from "../../studio/static/dom.js";
import { locationsOf } from "../../studio/static/trace.js";

/** @import { Head, Problem, Trace } from "../../studio/static/types.d.ts" */
/** @typedef {"priority" | "context"} Property */
/** @typedef {{ x: number, location: number }} Place */

const BOX = { width: 320, height: 150, left: 34, bottom: 34 };
const CONTEXT = 5; // bits that decide the chances of the next bit

/** @type {Record<Property, { title: string, ends: [string, string], valueAt: (problem: Problem, step: number) => number | null }>} */
const PROPERTIES = {
  priority: {
    title: "priority", ends: ["-1", "1"],
    valueAt: ({ priorities }, step) => (priorities && step < priorities.length ? (priorities[step] + 1) / 2 : null),
  },
  context: {
    title: "the last five bits", ends: ["00000", "11111"],
    valueAt: ({ bits = [] }, step) => {
      if (step + 1 < CONTEXT || step >= bits.length) return null;
      const seen = bits.slice(step + 1 - CONTEXT, step + 1).join("");
      return parseInt(seen, 2) / (2 ** CONTEXT - 1);
    },
  },
};

/**
 * The places of a head; `x` lies between 0 and 1.
 * @param {Problem} problem @param {Head} head @param {Property} property @param {number} steps
 * @returns {Place[]}
 */
export function placesOf(problem, head, property, steps) {
  return Array.from({ length: steps }, (_, step) => ({
    x: PROPERTIES[property].valueAt(problem, step),
    location: peakOf(partAt(head.weightings, step)),
  })).flatMap(({ x, location }) => (x === null ? [] : [{ x, location }]));
}

/**
 * @param {Trace} trace @param {Problem} problem @param {Head} head @param {Property} property
 */
export function makeScatter(trace, problem, head, property) {
  const { width, height, left, bottom } = BOX;
  const { title, ends } = PROPERTIES[property];
  const most = locationsOf(trace) - 1;
  const across = (/** @type {number} */ x) => left + 8 + x * (width - left - 16);
  const up = (/** @type {number} */ location) => 6 + (1 - location / most) * (height - bottom - 12);
  const dots = placesOf(problem, head, property, trace.steps).map(({ x, location }) =>
    makeSvg("circle", { cx: across(x).toFixed(1), cy: up(location).toFixed(1), r: 3, fill: headColour(head.kind), "fill-opacity": 0.6 }));
  /** @param {string} content @param {number} x @param {number} y @param {string} anchor */
  const text = (content, x, y, anchor) => makeSvg("text", { x, y, "text-anchor": anchor }, content);
  const floor = height - bottom;
  return makeSvg("svg", {
    class: "scatter", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Location of the ${head.kind} head against ${title}: ${dots.length} points.`,
  },
  makeSvg("path", { d: `M${left} 0V${floor}H${width}`, class: "axis" }),
  ...dots,
  text(String(most), left - 4, 12, "end"), text("0", left - 4, floor, "end"),
  text(ends[0], left + 8, floor + 14, "start"), text(ends[1], width - 8, floor + 14, "end"),
  text(`location of the ${head.kind} head, against ${title}`, (left + width) / 2, height - 4, "middle"));
}

/** Short descriptions of the heads of a trace, which tell several heads apart. */

import { partAt, peakOf } from "./arrays.js";

/** @import { Head, HeadKind, Trace, Values } from "./types.d.ts" */

/**
 * The machine writes before it reads.
 * @type {["write", "read"]}
 */
export const KINDS = ["write", "read"];
const ON_A_PLACE = 0.5; // a head is at a location with more weight than this

/**
 * The heads of one kind.
 * @param {Trace} trace @param {HeadKind} kind
 */
export function headsOf(trace, kind) {
  return trace.heads.filter((head) => head.kind === kind);
}

/**
 * The heads of one kind, the most active head first. A head that visits many locations explains
 * more than a head that adds as much in one place.
 * @param {Trace} trace @param {HeadKind} kind
 */
export function rankedHeads(trace, kind) {
  const work = headsOf(trace, kind).map((head) => {
    return { head, done: workOf(head, trace) * Math.max(visitedBy(head, trace), 1) };
  });
  return work.toSorted((a, b) => b.done - a.done).map(({ head }) => head);
}

/**
 * Number of locations at which a head is during a run.
 * @param {Head} head @param {Trace} trace
 */
export function visitedBy(head, trace) {
  return new Set(placesOf(head, trace)).size;
}

/**
 * The activity of a head: how much a write head adds, or how much the read vector varies.
 * @param {Head} head @param {Trace} trace
 */
function workOf(head, trace) {
  const moved = head.vectors.at(-1)?.values;
  if (head.kind === "read" && moved) return variation(moved);
  let sum = 0;
  for (let step = 0; step < trace.steps; step++) {
    const weighting = partAt(head.weightings, step);
    sum += weighting[peakOf(weighting)] * (moved ? Math.hypot(...partAt(moved, step)) : 1);
  }
  return sum;
}

/**
 * The sum of the variances of the columns.
 * @param {Values} matrix
 */
function variation({ shape: [rows, columns], values }) {
  const [sums, squares] = [new Float64Array(columns), new Float64Array(columns)];
  values.forEach((value, i) => {
    sums[i % columns] += value;
    squares[i % columns] += value * value;
  });
  return squares.reduce((sum, square, i) => sum + square / rows - (sums[i] / rows) ** 2, 0);
}

/**
 * A head's behaviour in a few words.
 * @param {Head} head @param {Trace} trace
 */
export function roleOf(head, trace) {
  const places = placesOf(head, trace);
  if (places.length < trace.steps / 4) return "spreads";
  const visited = visitedBy(head, trace);
  return visited === 1 ? `stays at ${places[0]}` : `visits ${visited}`;
}

/**
 * The locations at which a head is, at the steps when it is at one.
 * @param {Head} head @param {Trace} trace
 */
function placesOf(head, trace) {
  const places = [];
  for (let step = 0; step < trace.steps; step++) {
    const weighting = partAt(head.weightings, step);
    const peak = peakOf(weighting);
    if (weighting[peak] > ON_A_PLACE) places.push(peak);
  }
  return places;
}

/**
 * At every step and location, the greatest weight of any of the heads: (steps, locations).
 * @param {Head[]} heads
 * @returns {Values}
 */
export function anyOf(heads) {
  const { shape } = heads[0].weightings;
  const values = heads[0].weightings.values.slice();
  for (const head of heads.slice(1)) {
    head.weightings.values.forEach((weight, i) => {
      if (weight > values[i]) values[i] = weight;
    });
  }
  return { shape, values };
}

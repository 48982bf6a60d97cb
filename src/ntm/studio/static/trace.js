/** A trace document made ready for drawing: arrays decoded, heads named, the answer marked. */

import { decodeArray, partAt, peakOf, valueIn } from "./arrays.js";
import { TRACE_FORMAT } from "./facts.js";
import { KINDS } from "./heads.js";

/**
 * @import { ArrayDocument, DocumentArray, Head, HeadDocument, NamedValues, Stretch, Trace,
 *   TraceDocument, Values } from "./types.d.ts"
 */

/**
 * @param {TraceDocument} source
 * @returns {Trace}
 */
export function readTrace(source) {
  if (source.format !== TRACE_FORMAT) {
    const { format } = source;
    throw new Error(`This trace has format ${format}; this viewer reads format ${TRACE_FORMAT}.`);
  }
  const optional = (/** @type {DocumentArray | null} */ array) => (array ? decodeArray(array) : null);
  const heads = KINDS.flatMap((kind) => {
    const siblings = source.heads.filter((head) => head.kind === kind);
    const described = source.arrays.filter((array) => array.kind === kind);
    return siblings.map((head) => readHead(head, siblings.length, described));
  });
  const lanes = decoded(source.lanes);
  return {
    title: source.title,
    hint: source.hint,
    steps: source.steps,
    costBits: source.cost_bits,
    wrongBits: source.wrong_bits,
    answering: new Set(source.answer_steps),
    labels: source.labels,
    kinds: source.kinds ?? { inputs: "bits", outputs: "bits" },
    inputs: decodeArray(source.inputs),
    targets: optional(source.targets),
    outputs: decodeArray(source.outputs),
    optimal: optional(source.optimal),
    memory: optional(source.memory),
    lanes: namedValues(source.arrays.filter(({ name }) => Object.hasOwn(lanes, name)), lanes),
    heads,
    shifts: source.shifts,
  };
}

/**
 * @param {HeadDocument} head @param {number} siblings @param {ArrayDocument[]} described
 * @returns {Head}
 */
function readHead({ kind, index, arrays: encoded }, siblings, described) {
  const arrays = decoded(encoded);
  const name = siblings > 1 ? `${kind} ${index + 1}` : kind;
  const withRole = (/** @type {string} */ role) =>
    namedValues(described.filter((array) => array.role === role), arrays);
  const bars = namedValues(described.filter((array) => array.axis === "location"), arrays);
  const [{ values: weightings }] = withRole("weighting");
  return {
    kind, index, name, arrays, weightings, bars, vectors: withRole("vector"), lanes: withRole("lane"),
  };
}

/**
 * @param {Record<string, DocumentArray>} arrays
 * @returns {Record<string, Values>}
 */
function decoded(arrays) {
  return Object.fromEntries(
    Object.entries(arrays).map(([name, array]) => [name, decodeArray(array)]));
}

/**
 * @param {ArrayDocument[]} described @param {Record<string, Values>} arrays
 * @returns {NamedValues[]}
 */
function namedValues(described, arrays) {
  return described.map(({ name, label, axis }) => ({ name, label, axis, values: arrays[name] }));
}

/**
 * Whether a scored output is on the wrong side of one half, or not a number. For symbols: whether
 * the most probable symbol of the step is wrong.
 * @param {Trace} trace @param {number} step @param {number} channel
 */
export function isWrong(trace, step, channel) {
  if (!trace.targets || !trace.answering.has(step)) return false;
  if (trace.kinds.outputs === "symbols") {
    const outputs = partAt(trace.outputs, step);
    return !(valueIn(trace.targets, step, peakOf(outputs)) > 0.5) || outputs.some(Number.isNaN);
  }
  const output = valueIn(trace.outputs, step, channel);
  const one = valueIn(trace.targets, step, channel) > 0.5;
  return one ? !(output > 0.5) : !(output <= 0.5);
}

/**
 * Number of memory locations; 0 for a network without a memory.
 * @param {Trace} trace
 */
export function locationsOf(trace) {
  return trace.heads.length ? trace.heads[0].weightings.shape[1] : 0;
}

/** A head is at a location with more weight than this. */
export const IN_USE = 0.1;

/**
 * The shortest stretch of locations that contains every weight above a tenth. It may wrap around
 * the end of the memory. If it would leave out little, it contains all locations.
 * @param {Trace} trace
 * @returns {Stretch}
 */
export function stretchInUse(trace) {
  const count = locationsOf(trace);
  const all = { start: 0, count };
  const used = locationsInUse(trace, count);
  const places = [...used.keys()].filter((location) => used[location]);
  if (places.length === 0) return all;
  let widest = { length: -1, after: 0 };
  places.forEach((place, i) => {
    const next = i + 1 < places.length ? places[i + 1] : places[0] + count;
    if (next - place > widest.length) widest = { length: next - place, after: next };
  });
  const start = widest.after - 1;
  const stretch = { start: (start + count) % count, count: count - widest.length + 3 };
  return stretch.count > 0.75 * count ? all : stretch;
}

/** @param {Trace} trace @param {number} count */
function locationsInUse(trace, count) {
  const used = Array.from({ length: count }, () => false);
  for (const head of trace.heads) {
    head.weightings.values.forEach((weight, i) => {
      if (weight > IN_USE) used[i % count] = true;
    });
  }
  return used;
}

/** The lanes of a timeline as plain values: what each shows, and its colours. */

import { greatestMagnitude, valueIn } from "./arrays.js";
import { colourScale } from "./colours.js";
import { capitalised } from "./dom.js";
import { KINDS, anyOf, headsOf } from "./heads.js";
import { symbolLane } from "./symbols.js";
import { isWrong } from "./trace.js";

/** @import { HeadKind, NamedValues, TimelineStage, Trace, Values } from "./types.d.ts" */
/** @import { ColourScale } from "./colours.js" */
/**
 * @typedef {object} Lane
 * @property {string} title
 * @property {string} note
 * @property {string} [key]
 * @property {number} rows
 * @property {number} height of a row, in CSS pixels
 * @property {(string | number)[]} names of its rows
 * @property {(row: number) => string} [rowName]
 * @property {ColourScale} scale
 * @property {number} from the least value on the scale
 * @property {(row: number, step: number) => number} valueAt
 * @property {(step: number) => boolean} [blank]
 * @property {(step: number) => boolean} [faint]
 * @property {((row: number, step: number) => boolean) | null} [wrong]
 * @property {(row: number, step: number) => string} [remark]
 * @property {(step: number) => string} [textAt] text in a cell, for a lane of one row
 * @property {(step: number) => string} [tellAt] value of a cell in words
 */

/** Height of a bit and of a weighting in CSS pixels, where there is less room than usual. */
const COMPACT = { roomy: { bit: 12, lane: 110 }, tight: { bit: 9, lane: 76 } };
const LONE_BIT_HEIGHT = 44;
const LANE_HEIGHT = 168;
const VECTOR_LANE_HEIGHT = 84;

/**
 * The lanes to show for the chosen heads and locations, as plain values.
 * @param {Trace} trace @param {TimelineStage} stage
 */
export function lanesOf(trace, stage) {
  const [lanes, wanted] = [allLanes(trace, stage), stage.lanes];
  return wanted ? lanes.filter((lane) => wanted.includes(lane.key ?? lane.title)) : lanes;
}

/**
 * @param {Trace} trace @param {TimelineStage} stage
 * @returns {Lane[]}
 */
function allLanes(trace, stage) {
  const height = COMPACT[stage.compact ?? "roomy"].bit;
  const inputLane = LANES[trace.kinds.inputs];
  const lanes = [inputLane("Input", "what it receives", trace.labels.inputs, trace.inputs, height)];
  const names = trace.labels.outputs;
  if (trace.targets) {
    const blank = (/** @type {number} */ step) => !trace.answering.has(step);
    const targetLane = LANES[trace.kinds.outputs];
    lanes.push({ ...targetLane("Target", "the right answer", names, trace.targets, height), blank });
  }
  lanes.push(outputLane(trace, names, height));
  if (trace.optimal) {
    lanes.push(bitsLane("Optimum", "the best possible prediction", names, trace.optimal, height));
  }
  for (const kind of KINDS) lanes.push(...headLanes(trace, stage, kind));
  lanes.push(...trace.lanes.map((array) => arrayLane(array, "over the whole memory", stage)));
  return lanes;
}

/**
 * Lanes for inputs, targets and outputs, by the kind of their channels.
 * @type {Record<string, typeof bitsLane>}
 */
const LANES = { bits: bitsLane, symbols: symbolLane };

/**
 * @param {string} title @param {string} note @param {string[]} names @param {Values} array
 * @param {number} height of a bit
 * @returns {Lane}
 */
function bitsLane(title, note, names, array, height) {
  const most = greatestMagnitude(array.values, 1);
  return {
    title, note, names,
    rows: array.shape[1],
    height: array.shape[1] === 1 ? LONE_BIT_HEIGHT : height,
    scale: colourScale("bits", -most, most),
    from: array.values.some((value) => value < 0) ? -most : 0,
    valueAt: (row, step) => valueIn(array, step, row),
  };
}

/**
 * @param {Trace} trace @param {string[]} names @param {number} height of a bit
 * @returns {Lane}
 */
function outputLane(trace, names, height) {
  const { outputs: kind } = trace.kinds;
  const note = kind === "symbols" ? "the most probable symbol" : "probability of a one";
  const lane = LANES[kind]("Output", note, names, trace.outputs, height);
  return {
    ...lane,
    faint: (step) => trace.answering.size > 0 && !trace.answering.has(step),
    // If the best possible answer is a guess, a wrong guess is no mistake.
    wrong: trace.optimal ? null : (row, step) => isWrong(trace, step, row),
    remark: (row, step) => {
      if (!trace.targets || !trace.answering.has(step)) return " (not scored)";
      const verdict = isWrong(trace, step, row) ? "wrong" : "right";
      if (kind === "symbols") return `: ${verdict}`;
      return `, target ${valueIn(trace.targets, step, row)}: ${verdict}`;
    },
  };
}

/**
 * @param {Trace} trace @param {TimelineStage} stage @param {HeadKind} kind
 * @returns {Lane[]}
 */
function headLanes(trace, stage, kind) {
  const head = stage.headOf(kind);
  if (!head) return [];
  const siblings = headsOf(trace, kind);
  const title = capitalised(head.name);
  const headTitle = capitalised(head.name.replace(kind, `${kind} head`));
  const note = kind === "write" ? "where it writes" : "where it reads";
  const all = siblings.length > 1
    ? [weightingLane(`All ${siblings.length} ${kind} heads`, "their largest weights",
      { kind, weightings: anyOf(siblings) }, stage)]
    : [];
  return [
    ...all,
    { ...weightingLane(stage.compact ? headTitle : `${title} weighting`, note, head, stage), key: kind },
    ...head.vectors.slice(-1).map((vector) => vectorLane(vector, stage)),
    ...head.lanes.map((array) => arrayLane(array, `of ${head.name}`, stage)),
  ];
}

/**
 * An array that only this kind of machine has.
 * @param {NamedValues} array @param {string} note @param {TimelineStage} stage
 * @returns {Lane}
 */
function arrayLane({ label, axis, values: array }, note, stage) {
  const title = capitalised(label);
  if (axis === "location") return weightingLane(title, note, { kind: "read", weightings: array }, stage);
  const rows = array.values.length / array.shape[0];
  const most = stage.greatest(array.values);
  const from = array.values.some((value) => value < 0) ? -most : 0;
  return {
    title, note, rows,
    height: rows === 1 ? LONE_BIT_HEIGHT / 2 : vectorRowHeight(rows),
    names: rows === 1 ? [""] : Array.from({ length: rows }, (_, row) => row + 1),
    rowName: (row) => `${axis} ${row + 1}`,
    scale: colourScale("signed", -most, most),
    from,
    valueAt: (row, step) => array.values[step * rows + row],
  };
}

/** @param {number} rows */
function vectorRowHeight(rows) {
  return Math.max(3, Math.min(VECTOR_LANE_HEIGHT / rows, 14));
}

/**
 * @param {string} title @param {string} note
 * @param {{ kind: HeadKind, weightings: Values }} head @param {TimelineStage} stage
 * @returns {Lane}
 */
function weightingLane(title, note, head, stage) {
  const { start, count } = stage.stretch();
  const total = head.weightings.shape[1];
  const most = stage.greatest(head.weightings.values);
  const location = (/** @type {number} */ row) => (start + row) % total;
  return {
    title, note,
    rows: count,
    // A few locations get tall rows; many locations get two pixels each, if there is room.
    height: stage.compact
      ? Math.min(COMPACT[stage.compact].lane / count, 14)
      : Math.max(Math.min(LANE_HEIGHT / count, 14), Math.min(2, 320 / count)),
    names: Array.from({ length: count }, (_, row) => location(row)),
    rowName: (row) => `location ${location(row)}`,
    scale: colourScale(head.kind, 0, most),
    from: 0,
    valueAt: (row, step) => valueIn(head.weightings, step, location(row)),
  };
}

/**
 * @param {NamedValues} vector @param {TimelineStage} stage
 * @returns {Lane}
 */
function vectorLane({ label, values: array }, stage) {
  const most = stage.greatest(array.values);
  return {
    title: `${capitalised(label)} vector`,
    note: `what it ${label}s`,
    rows: array.shape[1],
    height: vectorRowHeight(array.shape[1]),
    names: Array.from({ length: array.shape[1] }, (_, row) => row + 1),
    rowName: (row) => `component ${row + 1}`,
    scale: colourScale("signed", -most, most),
    from: -most,
    valueAt: (row, step) => valueIn(array, step, row),
  };
}

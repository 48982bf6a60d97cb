/** Mixtures of sizes, as in Python's ntm.tasks.mixture: smaller problems for some of the batches. */

import { atSizes, trainedRange } from "./tasks.js";

/** @import { Axis } from "../../studio/static/python.d.ts" */
/** @import { Task } from "./tasks.js" */
/** @typedef {{ sizes: [Axis, number][], share: number, until: number, grows: boolean }} Mixture */

/**
 * The mixture that the setting training.mixture describes; null for an empty text.
 * @param {string} text
 * @returns {Mixture | null}
 */
export function mixtureOf(text) {
  if (!text) return null;
  const pairs = text.replaceAll(" ", "").split(",").map((part) => part.split("="));
  const values = Object.fromEntries(pairs.map(([name, value]) => [name, Number(value)]));
  const { share, until, growing_until: growing, ...sizes } = values;
  const axes = /** @type {[Axis, number][]} */ (Object.entries(sizes));
  return { sizes: axes, share, until: growing ?? until, grows: growing !== undefined };
}

/**
 * Whether the batch that starts after `first` sequences has smaller problems.
 * @param {Mixture} mixture @param {number} first @param {number} batchSize
 */
export function hasSmaller({ share, until }, first, batchSize) {
  const batch = Math.floor(first / batchSize);
  return first < until && Math.floor((batch + 1) * share) > Math.floor(batch * share);
}

/**
 * The task with the smaller ranges that apply after this many sequences.
 * @param {Mixture} mixture @param {number} sequences @param {Task} task
 */
export function taskAfter({ sizes, until, grows }, sequences, task) {
  const done = grows ? Math.min(sequences, until) : 0;
  return sizes.reduce((smaller, [axis, size]) => {
    const largest = trainedRange(task, axis)[1];
    return upTo(smaller, axis, size + Math.floor(((largest - size) * done) / until));
  }, task);
}

/**
 * The task with another largest size along an axis: Python's Task.up_to.
 * @param {Task} task @param {Axis} axis @param {number} size
 * @returns {Task}
 */
function upTo(task, axis, size) {
  const least = `min_${axis}`;
  const { settings } = atSizes(task, { [axis]: size });
  if (least in settings) settings[least] = Math.min(Number(task.settings[least]), size);
  return { ...task, settings };
}

/**
 * Tasks in the page. Python writes names, settings, ranges, channels and texts into data/site.json;
 * `facts` is a task's entry there. Sampling and encoding of problems are in encodings.js.
 */

import { KINDS, Score } from "./encodings.js";
import { EXAMPLES, EXAMPLES_FACTS } from "./examples.js";

/** @import { Axis, ProblemForm, SizeRange } from "../../studio/static/python.d.ts" */
/** @import { Labels, Problem, Sizes } from "../../studio/static/types.d.ts" */
/** @import { Kind } from "./encodings.js" */
/** @import { Generator } from "./random.js" */
/** @import { PageLimits, Sequence, TaskFacts, TaskSettings } from "./types.d.ts" */
/** @typedef {{ facts: TaskFacts, kind: Kind, settings: TaskSettings }} Task */

/**
 * A task with its settings; missing settings have their defaults.
 * @param {TaskFacts} facts @param {TaskSettings} [settings]
 * @returns {Task}
 */
export function makeTask(facts, settings = {}) {
  const kind = facts.task === EXAMPLES_FACTS.task ? EXAMPLES : KINDS[facts.task];
  return { facts, kind, settings: { ...facts.defaults, ...settings } };
}

/**
 * The facts of a task by its name; null for a task that the page does not know.
 * @param {string} name @param {Record<string, TaskFacts>} tasks
 */
export function factsOf(name, tasks) {
  if (name === EXAMPLES_FACTS.task) return EXAMPLES_FACTS;
  return Object.hasOwn(tasks, name) ? tasks[name] : null;
}

/**
 * The task with fixed sizes along some of its axes.
 * @param {Task} task @param {Sizes} sizes
 * @returns {Task}
 */
export function atSizes(task, sizes) {
  const settings = { ...task.settings };
  for (const [axis, size] of Object.entries(sizes)) {
    const fixed = axis in settings
      ? { [axis]: size }
      : { [`min_${axis}`]: size, [`max_${axis}`]: size };
    Object.assign(settings, task.kind.kept?.(settings, axis, size), fixed);
  }
  return { ...task, settings };
}

/**
 * The names of the channels, {inputs, outputs}: the names for one bit, extended to all bits.
 * @param {Task} task
 * @returns {Labels}
 */
export function channelsOf({ facts, kind, settings }) {
  if (kind.channels) return kind.channels(settings);
  const known = facts.channels.find(({ options }) =>
    Object.entries(options).every(([name, value]) => settings[name] === value));
  if (!known) throw new Error(`The task ${facts.task} has no such options.`);
  const allBits = Array.from({ length: Number(settings.bits ?? 0) }, (_, i) => `bit ${i + 1}`);
  const named = (/** @type {string[]} */ names) => names.flatMap((name) => (name === "bit 1" ? allBits : [name]));
  return { inputs: named(known.inputs), outputs: named(known.outputs) };
}

/**
 * Random problems, in the format of drawings.
 * @param {Task} task @param {number} count @param {Generator} random
 */
export function sampleProblems(task, count, random) {
  return task.kind.sample(task.settings, count, random);
}

/**
 * A problem as a batch of one sequence, for the engine.
 * @param {Problem} problem @param {Task} task
 * @returns {Sequence}
 */
export function encodeProblem(problem, task) {
  const { inputs, outputs } = channelsOf(task);
  const score = new Score(inputs.length, outputs.length);
  task.kind.encode(problem, settingsFor(problem, task), score);
  return score.batch;
}

/**
 * The best possible predictions, (steps, 1); null if a perfect answer is possible.
 * @param {Problem} problem @param {Task} task
 */
export function optimumOf(problem, task) {
  return task.kind.optimum?.(problem, task.settings) ?? null;
}

/**
 * Settings that depend on the size of the problem: for sort, the number of answers.
 * @param {Problem} problem @param {Task} task
 */
function settingsFor(problem, task) {
  const { priorities, vectors = [] } = problem;
  const sizes = priorities ? { length: vectors.length } : {};
  return atSizes(task, sizes).settings;
}

/**
 * Facts about a task for the drawing pane, as in Python's ntm.studio.problems.form.
 * @param {Task} task @param {PageLimits} limits
 * @returns {ProblemForm}
 */
export function formOf(task, limits) {
  const sizes = task.facts.axes.map((axis) => [axis, sizeRange(task, axis, limits)]);
  const parts = task.facts.parts.map(({ name, kind, axes: [axis, ...fixed] }) =>
    ({ name, kind, axis: axis ?? "", shape: fixed.map((setting) => Number(task.settings[setting])) }));
  return { parts, context: Number(task.settings.context ?? 0), sizes: Object.fromEntries(sizes) };
}

/**
 * @param {Task} task @param {Axis} axis @param {PageLimits} limits
 * @returns {SizeRange}
 */
function sizeRange(task, axis, limits) {
  const { smallest } = task.facts;
  const min = smallest[axis] ?? 1;
  const fits = (/** @type {number} */ size) =>
    isShown(atSizes(task, { ...smallest, [axis]: size }), limits);
  let max = min - 1;
  while (max <= limits.max_steps && fits(max + 1)) max += 1;
  const trained = trainedRange(task, axis);
  const middle = Math.floor((trained[0] + trained[1]) / 2);
  return { min, max, trained, default: Math.min(middle, max) };
}

/**
 * The least and the greatest size in training.
 * @param {Task} task @param {Axis} axis
 * @returns {[number, number]}
 */
export function trainedRange({ settings }, axis) {
  const names = axis in settings ? [axis, axis] : [`min_${axis}`, `max_${axis}`];
  return [Number(settings[names[0]]), Number(settings[names[1]])];
}

/** @param {Task} task @param {PageLimits} limits */
function isShown(task, { max_steps: maxSteps, max_cells: maxCells }) {
  const { inputs, outputs } = channelsOf(task);
  const steps = task.kind.steps(task.settings);
  return steps <= maxSteps && steps * Math.max(inputs.length, outputs.length) <= maxCells;
}

/**
 * What the page knows about tasks. Names, settings, ranges, channels and texts are written by
 * Python into data/site.json; `facts` is one task's entry there. How problems are drawn and encoded
 * is in encodings.js.
 */

import { KINDS, Score } from "./encodings.js";

/** A task with its settings; those that are not given are the defaults. */
export function makeTask(facts, settings = {}) {
  return { facts, kind: KINDS[facts.drawing], settings: { ...facts.defaults, ...settings } };
}

/** The same task fixed at a size along some of its axes. */
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

/** The names of the channels, {inputs, outputs}: those of one bit, with as many as there are. */
export function channelsOf({ facts, settings }) {
  const known = facts.channels.find(({ options }) =>
    Object.entries(options).every(([name, value]) => settings[name] === value));
  const allBits = Array.from({ length: settings.bits ?? 0 }, (_, i) => `bit ${i + 1}`);
  const named = (names) => names.flatMap((name) => (name === "bit 1" ? allBits : [name]));
  return { inputs: named(known.inputs), outputs: named(known.outputs) };
}

/** Problems as a person would draw them. */
export function sampleProblems(task, count, random) {
  return task.kind.sample(task.settings, count, random);
}

/** A problem as a batch of one sequence, for the engine. */
export function encodeProblem(problem, task) {
  const { inputs, outputs } = channelsOf(task);
  const score = new Score(inputs.length, outputs.length);
  task.kind.encode(problem, settingsFor(problem, task), score);
  return score.batch;
}

/** The best possible predictions, (steps, 1); null where a perfect answer is possible. */
export function optimumOf(problem, task) {
  return task.kind.optimum?.(problem, task.settings) ?? null;
}

/** Only sort has a setting that follows from the size of the problem: the number of answers. */
function settingsFor(problem, task) {
  const sizes = problem.priorities ? { length: problem.vectors.length } : {};
  return atSizes(task, sizes).settings;
}

/** What a person needs to draw a problem, as Python's ntm.studio.drawings.form. */
export function formOf(task, limits) {
  const { bits = 1, item_length: itemLength = 1, context = 0 } = task.settings;
  const sizes = task.facts.axes.map((axis) => [axis, sizeRange(task, axis, limits)]);
  return {
    fields: task.facts.fields, bits, item_length: itemLength, context,
    sizes: Object.fromEntries(sizes),
  };
}

function sizeRange(task, axis, limits) {
  const { settings, facts: { smallest, axes } } = task;
  const others = axes.filter((other) => other !== axis).map((other) => [other, smallest[other]]);
  const fits = (size) => isShown(atSizes(task, { ...Object.fromEntries(others), [axis]: size }), limits);
  let max = smallest[axis] - 1;
  while (max <= limits.max_steps && fits(max + 1)) max += 1;
  const trained = axis in settings
    ? [settings[axis], settings[axis]]
    : [settings[`min_${axis}`], settings[`max_${axis}`]];
  const middle = Math.floor((trained[0] + trained[1]) / 2);
  return { min: smallest[axis], max, trained, default: Math.min(middle, max) };
}

function isShown(task, { max_steps: maxSteps, max_cells: maxCells }) {
  const { inputs, outputs } = channelsOf(task);
  const steps = task.kind.steps(task.settings);
  return steps <= maxSteps && steps * Math.max(inputs.length, outputs.length) <= maxCells;
}

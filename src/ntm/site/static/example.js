/** The problem that a network is shown on while it learns: one that is as large as fits the page. */

import { Generator } from "./random.js";
import { atSizes, makeTask, sampleProblems } from "./tasks.js";

const SEED = 7;
// Of every size that a problem has, in training; larger ones are cut.
const LONGEST = { length: 10, repeats: 3, items: 4 };

/** A problem of a task with these settings. */
export function exampleOf(facts, settings) {
  const task = makeTask(facts, settings);
  const sizes = facts.axes.map((axis) => {
    const trained = task.settings[axis] ?? task.settings[`max_${axis}`];
    return [axis, task.settings[axis] ?? Math.min(trained, LONGEST[axis])];
  });
  return sampleProblems(atSizes(task, Object.fromEntries(sizes)), 1, new Generator(SEED))[0];
}

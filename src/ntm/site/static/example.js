/** The problem that a network is shown on while it learns: one that is as large as fits the page. */

import { Generator } from "./random.js";
import { atSizes, makeTask, sampleProblems, trainedRange } from "./tasks.js";

/** @import { Axis } from "../../studio/static/python.d.ts" */
/** @import { TaskFacts, TaskSettings } from "./types.d.ts" */

const SEED = 7;
// Of every size that a problem has, in training; larger ones are cut.
/** @type {Record<Axis, number>} */
const LONGEST = { length: 10, repeats: 3, items: 4 };

/**
 * A problem of a task with these settings.
 * @param {TaskFacts} facts @param {TaskSettings} settings
 */
export function exampleOf(facts, settings) {
  const task = makeTask(facts, settings);
  const sizes = facts.axes.map((axis) => {
    const [, most] = trainedRange(task, axis);
    return [axis, axis in task.settings ? most : Math.min(most, LONGEST[axis])];
  });
  return sampleProblems(atSizes(task, Object.fromEntries(sizes)), 1, new Generator(SEED))[0];
}

/** The problem that shows a network while it learns, as large as fits the page. */

import { Generator } from "./random.js";
import { atSizes, makeTask, sampleProblems, trainedRange } from "./tasks.js";

/** @import { Axis } from "../../studio/static/python.d.ts" */
/** @import { TaskFacts, TaskSettings } from "./types.d.ts" */

const SEED = 7;
// Largest sizes of the problem; larger sizes in training are cut to these.
/** @type {Record<Axis, number>} */
const LONGEST = { length: 10, repeats: 3, items: 4 };

/**
 * The problem of a task with these settings.
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

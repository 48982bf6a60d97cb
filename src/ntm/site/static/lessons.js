/** The parts of the machine that a visitor can turn off, and what happens then. */

import { LINKS, fullTitle } from "./links.js";

/** @import { Switch } from "./types.d.ts" */
/**
 * `off` tells what is turned off, `broken` explains a run that got worse, `spared` a run that did not.
 * @typedef {{ part: Switch, off: string, broken: string, spared: string }} Lesson
 */

/** @type {Lesson[]} */
export const LESSONS = [
  {
    part: "content", off: "Without content lookup",
    broken: "a head cannot search the memory, so it does not find where an item was stored.",
    spared: "This run does not need content lookup: the heads find their start without it, and then walk.",
  },
  {
    part: "interpolation", off: "With the gate always at 1",
    broken: "a head goes wherever the search leads at every step and forgets where it was.",
    spared: "This run does not need the gate.",
  },
  {
    part: "shift", off: "Without shifts",
    broken: "the heads cannot walk, so vectors overwrite each other.",
    spared: "This run does not need shifts.",
  },
  {
    part: "sharpening", off: "Without sharpening",
    broken: "the heads are blurred, and read mixtures of several vectors.",
    spared: "This run is short enough to do without sharpening.",
  },
  {
    part: "erase", off: "Without erasing",
    broken: "new vectors are added to the old ones.",
    spared: "This run does not need to erase: it writes to fresh locations.",
  },
];

/**
 * The title of a part that can be turned off: a stage of addressing, or erasing.
 * @param {Switch} part
 */
export function titleOf(part) {
  const stage = LINKS.find((link) => link.part === part);
  return stage ? fullTitle(stage) : "Erase before writing";
}

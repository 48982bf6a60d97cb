/** The parts of the machine that a visitor can turn off, and what happens then. */

/** @import { Switch } from "./types.d.ts" */
/**
 * `broken` explains a run that got worse, `spared` a run that did not.
 * @typedef {{ part: Switch, title: string, broken: string, spared: string }} Lesson
 */

/** @type {Lesson[]} */
export const LESSONS = [
  {
    part: "content", title: "Find by content (content lookup)",
    broken: "Without content lookup, a head cannot search the memory, so it does not find where an item was stored.",
    spared: "This run does not need content lookup: the heads only walk.",
  },
  {
    part: "interpolation", title: "Search, or go on (gate)",
    broken: "With the gate always at 1, a head jumps to the best match at every step and forgets where it was.",
    spared: "This run does not need the gate.",
  },
  {
    part: "shift", title: "Move by one (shift)",
    broken: "Without shifts, the heads cannot walk, so vectors overwrite each other.",
    spared: "This run does not need shifts.",
  },
  {
    part: "sharpening", title: "Stay sharp (sharpening)",
    broken: "Without sharpening, the heads blur after a few steps, and read mixtures of several vectors.",
    spared: "This run is short enough to do without sharpening.",
  },
  {
    part: "erase", title: "Erase before writing",
    broken: "Without erasing, new vectors are added to the old ones.",
    spared: "This run does not need to erase: it writes to fresh locations.",
  },
];

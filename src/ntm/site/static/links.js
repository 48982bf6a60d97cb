/** The four stages of addressing: how a head finds its location. Each has one control. */

import { STAGE_NAMES } from "../../studio/static/chain.js";

/** @import { Head } from "../../studio/static/types.d.ts" */
/** @import { Fix } from "./types.d.ts" */
/**
 * `least`, `most` and `by` describe the slider; `read` takes the learned value from a trace.
 * @typedef {{ part: Fix["part"], equation: keyof typeof STAGE_NAMES, title: string, text: string, control: string,
 *   least: number, most: number, by: number, read: (head: Head, step: number) => number }} Link
 */

/** @type {Link[]} */
export const LINKS = [
  {
    part: "content", equation: "content", title: "Find by content",
    text: "The controller sends a key: a pattern to look for. Every location is compared with the " +
      "key, and the location that resembles it most gets the largest share. This is how a head finds " +
      "something without knowing where it is, as in a search. Copying hardly needs this. Finding an item " +
      "of a list does.",
    control: "Key strength: at 0 all locations are equal, at 50 only the best match counts",
    least: 0, most: 50, by: 0.5,
    read: (head, step) => head.arrays.strengths.values[step],
  },
  {
    part: "interpolation", equation: "gated", title: "Search, or go on",
    text: "The gate decides between the result of the search and the place where the head was one " +
      "step ago. At 0 the head ignores the search; at 1 it jumps to the best match. The next two " +
      "stages then move it and make it sharp.",
    control: "Gate: 0 goes on from the last place, 1 jumps to the match",
    least: 0, most: 1, by: 0.01,
    read: (head, step) => head.arrays.gates.values[step],
  },
  {
    part: "shift", equation: "shifted", title: "Move by one",
    text: "The shift moves the head one location back or forth, or not at all. This is how a head " +
      "walks along the tape: every step is one shift, and it works from any location. So the same " +
      "walk can go on for 20 locations or for 120. The direction does not matter: this network walks down.",
    control: "Shift: -1 back, 0 stay, +1 forth",
    least: -1, most: 1, by: 0.05,
    read: (head, step) => shiftOf(head, step),
  },
  {
    part: "sharpening", equation: "weightings", title: "Stay sharp",
    text: "A shift that is not quite a whole step leaves the head blurred over a few locations, and " +
      "blur grows with every step. Sharpening makes large shares larger and small shares smaller, " +
      "so that the head is at one location again. Without it, no walk could be long.",
    control: "Power: 1 changes nothing, more is sharper",
    least: 1, most: 20, by: 0.1,
    read: (head, step) => head.arrays.sharpness.values[step],
  },
];

/**
 * The title of a stage in plain words, and its name.
 * @param {Link} link
 */
export function fullTitle({ title, equation }) {
  return `${title} (${STAGE_NAMES[equation].toLowerCase()})`;
}

/**
 * The mean shift of a head at a step, for shifts -1, 0 and 1.
 * @param {Head} head @param {number} step
 */
function shiftOf({ arrays: { shifts } }, step) {
  const count = shifts.shape[1];
  const own = shifts.values.subarray(step * count, (step + 1) * count);
  return own.reduce((sum, share, i) => sum + share * (i - (count - 1) / 2), 0);
}

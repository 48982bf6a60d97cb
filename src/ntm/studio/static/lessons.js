/** Explanations of failures: why a network made mistakes, and what to try. */

import { sizeOf } from "./problems.js";

/** @import { Network, Problem } from "./types.d.ts" */
/** @typedef {{ text: string, locations: number | null }} Lesson */

/**
 * { text, locations } that explains the mistakes of a network, or null without an explanation;
 * `locations` is a memory size that would help. `wrongBits` is null if nothing is scored.
 * @param {{ problem: Problem, steps: number, network: Network, memory: number | null,
 *    wrongBits: number | null, guesses: unknown }} failure
 * @returns {Lesson | null}
 */
export function lessonOf({ problem, steps, network, memory, wrongBits, guesses }) {
  const slipped = wrongBits !== null && wrongBits > 0 && !guesses;
  return (slipped ? untrained(network) : null) ?? tooManyVectors(problem, steps, network, memory) ??
    (slipped ? blankRun(problem) ?? beyondTraining(problem, network) : null);
}

/**
 * Every vector needs its own location; the longer the problem, the fewer locations can be shown.
 * @param {Problem} problem @param {number} steps @param {Network} network @param {number | null} memory
 * @returns {Lesson | null}
 */
function tooManyVectors({ vectors }, steps, { limits }, memory) {
  if (!memory || !vectors || vectors.length <= memory) return null;
  const { max_locations: largest, max_location_steps: together } = limits;
  if (largest === null || together === null) return null;
  const most = Math.min(largest, Math.floor(together / steps));
  const locations = Math.min(2 ** Math.ceil(Math.log2(vectors.length)), most);
  const text = `${vectors.length} vectors do not fit ${memory} locations`;
  if (locations < vectors.length) return { text: `${text}: use fewer vectors.`, locations: null };
  return { text: `${text}: use ${locations}.`, locations };
}

/**
 * @param {Network} network
 * @returns {Lesson | null}
 */
function untrained({ sequences }) {
  if (sequences !== 0) return null;
  return { text: "This network is untrained: its answer is a guess.", locations: null };
}

const BLANKS = 2; // blank vectors in a row that are rare in training

/**
 * A network that saw only random vectors may take a few blank ones for the end of the input, because
 * the input is also blank while the network answers.
 * @param {Problem} problem
 * @returns {Lesson | null}
 */
function blankRun({ vectors, items }) {
  let [run, longest] = [0, 0];
  for (const vector of items?.flat() ?? vectors ?? []) {
    run = vector.some(Boolean) ? 0 : run + 1;
    longest = Math.max(longest, run);
  }
  if (longest < BLANKS) return null;
  const text = `The drawing has ${longest} blank vectors in a row, which are rare in training. To ` +
    "this network they look like the silence in which it answers.";
  return { text, locations: null };
}

/**
 * @param {Problem} problem @param {Network} network
 * @returns {Lesson | null}
 */
function beyondTraining(problem, { problem: form }) {
  const beyond = Object.entries(form.sizes)
    .filter(([axis, { trained }]) => sizeOf(problem, axis, form) > trained[1])
    .map(([axis, { trained }]) => (axis === "length" ? `length ${trained[1]}` : `${trained[1]} ${axis}`));
  if (beyond.length === 0) return null;
  const text = `It was trained up to ${beyond.join(" and ")}; it does not generalise this far.`;
  return { text, locations: null };
}

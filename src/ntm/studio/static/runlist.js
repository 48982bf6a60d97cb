/** Which runs are listed, in which order, and how long they will take. */

/** @import { RunListed } from "./python.d.ts" */
/** @typedef {"name" | "state" | "sequences" | "bits"} RunColumn */
/** @typedef {{ column: RunColumn, descending: boolean }} RunOrder */

/**
 * What the runs are compared by, one after the other.
 * @type {Record<RunColumn, ((run: RunListed) => string | number | null)[]>}
 */
const COLUMNS = {
  name: [(run) => run.name],
  state: [(run) => run.state, secondsLeft, (run) => run.name],
  sequences: [(run) => run.sequences, (run) => run.name],
  bits: [(run) => run.bits, (run) => run.name],
};

/**
 * The runs whose name has every word of the text in it, of the given state, if one is given.
 * @param {RunListed[]} runs @param {{ text: string, state: string }} wanted
 */
export function filterRuns(runs, { text, state }) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return runs.filter((run) => {
    const searched = `${run.name} ${run.model ?? ""}`.toLowerCase();
    return words.every((word) => searched.includes(word)) && (!state || run.state === state);
  });
}

/**
 * In the order of a column; runs that have nothing there come last either way.
 * @param {RunListed[]} runs @param {RunOrder} order
 */
export function sortRuns(runs, { column, descending }) {
  const sign = descending ? -1 : 1;
  return runs.toSorted((a, b) => {
    for (const valueOf of COLUMNS[column]) {
      const order = compare(valueOf(a), valueOf(b), sign);
      if (order !== 0) return order;
    }
    return 0;
  });
}

/** @param {string | number | null} a @param {string | number | null} b @param {number} sign */
function compare(a, b, sign) {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === "number" && typeof b === "number") return sign * (a - b);
  return sign * String(a).localeCompare(String(b), "en", { numeric: true });
}

/**
 * How long a run will go on at its present speed; null where that is not known.
 * @param {RunListed} run
 */
export function secondsLeft({ state, speed, sequences, total }) {
  if (state !== "running" || !speed || !total) return null;
  return Math.max(0, total - sequences) / speed;
}

/**
 * A duration in the two largest of its units: "2 h 5 min".
 * @param {number} seconds
 */
export function durationInWords(seconds) {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor(whole / 3600) % 24} h`;
}

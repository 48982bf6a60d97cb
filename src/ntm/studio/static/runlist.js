/** Filter and order of the list of runs, and the time that runs will take. */

/** @import { RunListed } from "./python.d.ts" */
/** @typedef {"name" | "state" | "sequences" | "bits"} RunColumn */
/** @typedef {{ column: RunColumn, descending: boolean }} RunOrder */

/**
 * Values for comparing runs, by column; the first that differs decides.
 * @type {Record<RunColumn, ((run: RunListed) => string | number | null)[]>}
 */
const COLUMNS = {
  name: [(run) => run.name],
  state: [(run) => run.state, secondsLeft, (run) => run.name],
  sequences: [(run) => run.sequences, (run) => run.name],
  bits: [(run) => run.bits, (run) => run.name],
};

/**
 * The runs whose name or model contains every word of the text, in the given state, if any.
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
 * Sort runs by a column; runs without a value come last in both directions.
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
 * Seconds until a run ends at its present speed; null if unknown.
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

/** Numbers of a training in the page: cost, speed, time left, and the cost that it should reach. */

import { formatNumber } from "../../studio/static/arrays.js";
import { make } from "../../studio/static/dom.js";

/** @import { Point } from "../../studio/static/types.d.ts" */
/** @typedef {{ bits: number, title: string }} Yardstick */
/** @typedef {{ sequences: number, seconds: number }} Moment */

const SOLVED = 0.1; // bits
const REPORTS = 5; // reports in a row that must be below the yardstick, because a curve has spikes
// Made once: making a format takes longer than drawing a lane, and every frame uses it.
const COUNTS = new Intl.NumberFormat("en");

/**
 * The cost that a network should reach: 0.1 bits, or the paper's final cost where this is higher.
 * No network comes near zero on priority sort or n-grams.
 * @param {Point[] | undefined} paper the paper's curve for this task and model
 * @returns {Yardstick}
 */
export function yardstickOf(paper = []) {
  const last = paper.at(-1)?.[0] ?? 0;
  const end = paper.filter(([sequences]) => sequences >= 0.9 * last);
  const bits = end.reduce((sum, point) => sum + point[1], 0) / Math.max(end.length, 1);
  if (bits <= SOLVED) return { bits: SOLVED, title: `Below ${SOLVED} bits after` };
  const number = formatNumber(bits);
  return { bits, title: `Below the paper's ${number} ${number === "1" ? "bit" : "bits"} after` };
}

/**
 * Whether the last reports are all below the yardstick.
 * @param {Point[]} points @param {Yardstick} yardstick
 */
export function hasPassed(points, { bits }) {
  const last = points.slice(-REPORTS);
  return last.length === REPORTS && last.every((point) => point[1] < bits);
}

/**
 * Names and values of the numbers that the page shows.
 * @param {Moment} now @param {Point[]} points @param {number} most sequences of the whole training
 * @param {Yardstick} yardstick @param {Moment | null} passed
 */
export function figuresOf({ sequences, seconds }, points, most, yardstick, passed) {
  const bits = points.at(-1)?.[1];
  const speed = seconds > 0 ? sequences / seconds : 0;
  const left = speed ? inWords((most - sequences) / speed) : "-";
  const reached = passed && `${passed.seconds.toFixed(1)} s, ${COUNTS.format(passed.sequences)} sequences`;
  return [
    ["Sequences", `${COUNTS.format(sequences)} of ${COUNTS.format(most)}`],
    ["Bits per sequence", bits === undefined ? "-" : formatNumber(bits)],
    ["Seconds", seconds.toFixed(1)],
    ["Time left", left],
    ["Sequences per second", COUNTS.format(Math.round(speed))],
    [yardstick.title, reached ?? "-"],
  ];
}

/**
 * Update the numbers in a list in place: rebuilding it sixty times per second is slow.
 * @param {HTMLElement} list @param {string[][]} figures
 */
export function showFigures(list, figures) {
  if (!list.children.length) {
    list.append(...figures.map(([name]) => make("div", {}, make("dt", {}, name), make("dd"))));
  }
  figures.forEach((texts, i) => {
    list.children[i].childNodes.forEach((place, part) => {
      if (place.textContent !== texts[part]) place.textContent = texts[part];
    });
  });
}

/**
 * A duration such as "40 s", "12 min" or "2 h 10 min".
 * @param {number} seconds
 */
export function inWords(seconds) {
  if (seconds < 100) return `${Math.ceil(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 100) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

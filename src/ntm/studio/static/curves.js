/** Learning curves for a chart: the paper's lines, axes that fit, and points in words. */

import { formatNumber } from "./arrays.js";

/** @import { Frame, Line, ModelGuide, Point } from "./types.d.ts" */
/** @import { LegendEntry } from "./chart.js" */

/**
 * Axes for a task that defines none.
 * @type {Frame}
 */
export const ANY_FRAME = { sequences: 1e6, bits: [0, 10] };

/**
 * The paper's curves for one task, by model, as dotted lines.
 * @param {Record<string, Point[]> | undefined} curves @param {Record<string, ModelGuide>} models
 * @returns {Line[]}
 */
export function paperLines(curves, models) {
  return Object.entries(curves ?? {}).map(([model, points]) => ({
    name: `the paper's ${models[model]?.title ?? model}`, colours: models[model]?.colours, points,
    paper: true,
  }));
}

/**
 * Axes that contain all points and the beginning of the paper's curves, which fall later.
 * @param {Point[]} points @param {Frame} usual
 * @returns {Frame}
 */
export function frameAround(points, usual) {
  const room = usual.sequences / 20;
  const sequences = points.reduce((most, point) => Math.max(most, point[0]), room);
  const least = points.reduce((low, point) => Math.min(low, point[1]), usual.bits[0]);
  const greatest = points.reduce((high, point) => Math.max(high, point[1]), least + 1);
  return { sequences, bits: [Math.max(0, least), 1.02 * greatest] };
}

/**
 * Axes that show the paper's curves together with a network that learns many times faster. The
 * sequence axis is logarithmic and starts at `from`. The cost axis is logarithmic too, unless even
 * the best costs are far from zero.
 * @param {Point[]} points @param {Line[]} paper @param {Frame} usual @param {number} from
 * @returns {Frame}
 */
export function frameOfBoth(points, paper, { sequences, bits: [low, high] }, from) {
  const all = [...paper.flatMap((line) => line.points), ...points];
  const costs = all.map(([, bits]) => bits).filter((bits) => bits > 0);
  const most = all.reduce((last, point) => Math.max(last, point[0]), sequences);
  const greatest = Math.max(...costs, high);
  if (low > 0) return { sequences: most, from, bits: [Math.min(...costs, low), greatest] };
  return { sequences: most, from, bits: [Math.min(...costs, high / 10), 1.2 * greatest], log: true };
}

/** @param {Line} line @param {Point} point */
export function describePoint(line, [sequences, bits]) {
  const cost = line.paper ? `about ${formatNumber(bits)}` : formatNumber(bits);
  return `${line.name}: ${cost} bits at ${sequences.toLocaleString("en")} sequences`;
}

/**
 * Entries of a legend: the models of the runs, then the paper's lines.
 * @param {Line[]} paper @param {Line[]} runs @param {Record<string, ModelGuide>} models
 * @returns {LegendEntry[]}
 */
export function legendOf(paper, runs, models) {
  const known = Object.keys(models).filter((model) => runs.some((run) => run.model === model));
  /** @type {LegendEntry[]} */
  const ours = known.map((model) => [models[model].colours, models[model].title, false]);
  /** @type {LegendEntry[]} */
  const papers = paper.map(({ colours, name }) => [colours, name, true]);
  return [...ours, ...papers];
}

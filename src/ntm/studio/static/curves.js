/** Learning curves for a chart: the paper's lines, a frame around others, and points in words. */

import { formatNumber } from "./arrays.js";

/** The paper's curves for one task, by model, as dotted lines. */
export function paperLines(curves, models) {
  return Object.entries(curves ?? {}).map(([model, points]) => ({
    name: `the paper's ${models[model]?.title ?? model}`, colours: models[model]?.colours, points,
    paper: true,
  }));
}

/** Axes that hold all points and the beginning of the paper's curves, which fall later. */
export function frameAround(points, usual) {
  const room = usual.sequences / 20;
  const sequences = points.reduce((most, point) => Math.max(most, point[0]), room);
  const least = points.reduce((low, point) => Math.min(low, point[1]), usual.bits[0]);
  const greatest = points.reduce((high, point) => Math.max(high, point[1]), least + 1);
  return { sequences, bits: [Math.max(0, least), 1.02 * greatest] };
}

export function describePoint(line, [sequences, bits]) {
  const cost = line.paper ? `about ${formatNumber(bits)}` : formatNumber(bits);
  return `${line.name}: ${cost} bits at ${sequences.toLocaleString("en")} sequences`;
}

/** Entries of a legend: the models of the runs, then the paper's lines. */
export function legendOf(paper, runs, models) {
  const known = Object.keys(models).filter((model) => runs.some((run) => run.model === model));
  const ours = known.map((model) => [models[model].colours, models[model].title, false]);
  return [...ours, ...paper.map(({ colours, name }) => [colours, name, true])];
}

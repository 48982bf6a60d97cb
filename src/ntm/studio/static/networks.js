/** Facts about listed networks that the play view needs. */

import { formatNumber } from "./arrays.js";
import { make } from "./dom.js";
import { wholeNumber } from "./route.js";

/** @import { ModelGuide, Network, Sizes } from "./types.d.ts" */
/** @typedef {{ memory?: string | number | null }} Asking an address or a sketch */
/** @typedef {{ id: string, title: string }} Listed */

/**
 * The sizes of the first problem for a network.
 * @param {Network} network
 * @returns {Sizes}
 */
export function defaultsOf(network) {
  const sizes = Object.entries(network.problem.sizes);
  return Object.fromEntries(sizes.map(([axis, range]) => [axis, range.default]));
}

/**
 * Memory locations from an address or a sketch (default: as trained); null without a memory.
 * @param {Network} network @param {Asking} asking
 */
export function memoryOf({ memory_locations: locations, limits }, { memory }) {
  if (!locations) return null;
  return Math.min(wholeNumber(memory, locations) ?? locations, limits.max_locations ?? locations);
}

/**
 * Memory locations from an address or a sketch; null if they are as trained.
 * @param {Network} network @param {Asking} asking
 */
export function largerMemory(network, asking) {
  const locations = memoryOf(network, asking);
  return locations === network.memory_locations ? null : locations;
}

/** @param {Network} network @param {ModelGuide | undefined} known */
export function describeNetwork({ model, sequences, bits, memory_locations: locations }, known) {
  const parts = [known?.title ?? model];
  if (locations) parts.push(`${locations} locations`);
  if (sequences === 0) parts.push("untrained");
  else if (sequences) parts.push(`trained on ${sequences.toLocaleString("en")} sequences`);
  if (bits !== null) parts.push(`${formatNumber(bits)} bits per sequence`);
  return `${parts.join(", ")}.`;
}

/**
 * Fill a <select> with networks, grouped by task, and saved traces: { id, title } each.
 * @param {HTMLSelectElement} select @param {Network[]} networks @param {Listed[]} saved
 */
export function listNetworks(select, networks, saved) {
  /** @type {Map<string, Listed[]>} */
  const groups = Map.groupBy(networks, (network) => network.task);
  if (saved.length) groups.set("saved traces", saved);
  const option = (/** @type {Listed} */ { id, title }) => make("option", { value: id }, title);
  const group = (/** @type {[string, Listed[]]} */ [label, found]) => make("optgroup", { label }, ...found.map(option));
  select.replaceChildren(...[...groups].map(group));
}

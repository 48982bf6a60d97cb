/** The list of networks and saved traces to choose from. */

import { nullIfMissing } from "./api.js";
import { listNetworks } from "./networks.js";

/** @import { Backend, Network } from "./types.d.ts" */

/** Prefix of the ids of saved traces. */
export const SAVED = "trace:";
const WAIT_FOR_MORE = 1000;

export class Listing {
  /** @type {Network[]} */
  networks = [];
  /** @type {string[]} */
  saved = []; // ids
  timer = 0;

  /**
   * `select` lists networks and traces; `more` is shown if the list is incomplete.
   * @param {Backend} backend @param {HTMLSelectElement} select @param {HTMLElement} more
   */
  constructor(backend, select, more) {
    this.backend = backend;
    this.select = select;
    this.more = more;
  }

  get ids() {
    return [...this.networks.map((network) => network.id), ...this.saved];
  }

  /**
   * Update the list. `wanted` is added if it exists but is not listed in a large folder.
   * @param {string} wanted
   */
  async update(wanted) {
    clearTimeout(this.timer);
    const { backend, select } = this;
    const [networks, saved] = await Promise.all([backend.networks(), backend.traces()]);
    const { whole, read } = await backend.folder();
    this.networks = networks;
    this.saved = saved.map((name) => `${SAVED}${name}`);
    const hasAll = whole && read;
    if (wanted && !hasAll && !this.ids.includes(wanted)) await this.lookUp(wanted);
    const chosen = select.value;
    listNetworks(select, this.networks, this.saved.map((id) => ({ id, title: id.slice(SAVED.length) })));
    select.value = chosen;
    this.more.hidden = whole;
    if (!read) this.timer = setTimeout(() => this.goOn(), WAIT_FOR_MORE);
  }

  /** Update the list again, and ignore a failure: the old list is still good. */
  goOn() {
    this.update(this.select.value).catch(() => {});
  }

  /**
   * Add a network or trace that exists but is not listed.
   * @param {string} id
   */
  async lookUp(id) {
    const { backend, networks, saved } = this;
    if (id.startsWith(SAVED)) {
      const trace = await backend.savedTrace(id.slice(SAVED.length)).catch(nullIfMissing);
      if (trace) saved.push(id);
      return;
    }
    const network = await backend.network(id);
    if (network) networks.push(network);
  }
}

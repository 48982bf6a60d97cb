/** The networks and saved traces that there are to choose from. */

import { nullIfMissing } from "./api.js";
import { listNetworks } from "./networks.js";

/** @import { Backend, Network } from "./types.d.ts" */

/** What the ids of saved traces begin with. */
export const SAVED = "trace:";
const WAIT_FOR_MORE = 1000;

export class Listing {
  /** @type {Network[]} */
  networks = [];
  /** @type {string[]} */
  saved = []; // ids
  timer = 0;

  /**
   * `select` lists them, `more` is shown where it does not list all.
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
   * List what there is, and `wanted` also where it is beyond the end of the list.
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

  /** Without a word where it fails: what is listed is as good as before. */
  goOn() {
    this.update(this.select.value).catch(() => {});
  }

  /**
   * Add what the lists lack, if it is there.
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

/** The learning curves of runs, fetched from the server as they grow, and the paper's curves. */

import { getJson, postJson } from "./api.js";

/** @import { Curve, RunListed } from "./python.d.ts" */
/** @import { Point } from "./types.d.ts" */

export class Curves {
  /** @type {Map<string, Curve>} */
  #curves = new Map(); // { points, generation } by name of run
  /** @type {Map<string, Record<string, Point[]>>} */
  papers = new Map(); // the paper's curves by task

  /** @param {string} name of a run */
  pointsOf(name) {
    return this.#curves.get(name)?.points ?? [];
  }

  /**
   * Fetch new points of the runs' curves and, once per task, the paper's curves.
   * @param {RunListed[]} runs @param {string | null} task of the paper @param {() => boolean} isLate
   */
  async update(runs, task, isLate) {
    if (task && !this.papers.has(task)) this.papers.set(task, await getJson(`paper/${task}`));
    const behind = runs.filter(({ name, sequences }) => sequences !== this.#reached(name));
    if (behind.length === 0) return;
    const news = await this.#askFor(behind.map(({ name }) => name));
    if (isLate()) return;
    const anew = Object.keys(news).filter((name) => !this.#take(name, news[name]));
    if (anew.length === 0) return;
    for (const name of anew) this.#curves.delete(name); // these runs started again
    for (const [name, curve] of Object.entries(await this.#askFor(anew))) this.#take(name, curve);
  }

  /**
   * @param {string[]} names
   * @returns {Promise<Record<string, Curve>>}
   */
  #askFor(names) {
    const after = Object.fromEntries(names.map((name) => [name, this.#reached(name)]));
    return postJson("curves", { after });
  }

  /**
   * Add new points to a curve; return false if the curve has started again.
   * @param {string} name @param {Curve} curve
   */
  #take(name, { points, generation }) {
    const known = this.#curves.get(name);
    if (known && known.generation !== generation) return false;
    this.#curves.set(name, { points: [...(known?.points ?? []), ...points], generation });
    return true;
  }

  /** @param {string} name */
  #reached(name) {
    return this.pointsOf(name).at(-1)?.[0] ?? 0;
  }
}

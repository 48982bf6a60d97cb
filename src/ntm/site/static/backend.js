/**
 * The studio's server, replaced by code in the page: networks are files next to the page, and a
 * worker runs them. The studio's api.js has the same interface over HTTP.
 */

import { count, traceShapes } from "../../engine/web/shapes.js";
import { messageOf } from "../../studio/static/dom.js";
import { sizeOf } from "../../studio/static/problems.js";
import { Generator } from "./random.js";
import { sharedFile } from "./sharing.js";
import { atSizes, factsOf, formOf, makeTask, sampleProblems } from "./tasks.js";

/** @import { NTMConfig } from "../../engine/web/python.d.ts" */
/** @import { Network, Problem, Sizes, TraceDocument, TraceRequest } from "../../studio/static/types.d.ts" */
/** @import { Task } from "./tasks.js" */
/** @import { Ask, Catalogue, Damage, Message, NetworkFacts, Progress, TaskFacts, Tensors } from "./types.d.ts" */

/**
 * Start a worker that answers questions: `ask("trace", request)` promises the answer.
 * @param {(progress: Progress) => void} [onProgress]
 * @returns {Ask}
 */
export function startMachine(onProgress) {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  /** @type {Map<number, { resolve: (answer: any) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  let asked = 0;
  worker.addEventListener("message", (/** @type {MessageEvent<Message>} */ { data }) => {
    const { number, answer, error, progress } = data;
    if (progress) return onProgress?.(progress);
    const asker = waiting.get(number);
    waiting.delete(number);
    if (error === undefined) asker?.resolve(answer);
    else asker?.reject(new Error(error));
  });
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    const reason = new Error("The engine does not start: this browser lacks WebAssembly with SIMD.");
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  });
  return (ask, request) =>
    new Promise((resolve, reject) => {
      waiting.set((asked += 1), { resolve, reject });
      worker.postMessage({ number: asked, ask, ...request });
    });
}

export class Backend {
  /** @type {NetworkFacts[]} */
  #added = []; // the visitor's own networks

  /** @param {Catalogue} catalogue */
  constructor(catalogue) {
    this.catalogue = catalogue;
    this.machine = startMachine();
    /** @type {PromiseWithResolvers<void>} */
    const { promise, resolve } = Promise.withResolvers();
    this.hasTraced = promise;
    this.onTrace = resolve;
    for (const network of catalogue.networks) network.stream = catalogue.streams.weights[1];
  }

  static async open() {
    const answer = await fetch("data/site.json");
    if (!answer.ok) throw new Error("The site is incomplete: data/site.json is missing.");
    return new Backend(await answer.json());
  }

  guide() {
    return this.catalogue;
  }

  networks() {
    return [...this.#added, ...this.catalogue.networks].map((network) => this.#listed(network));
  }

  traces() {
    return [];
  }

  /**
   * The site has no saved traces.
   * @param {string} name
   * @returns {Promise<never>}
   */
  async savedTrace(name) {
    throw new Error(`There is no trace ${name} here.`);
  }

  /** The list is complete, so there is no other network. */
  network() {
    return null;
  }

  folder() {
    return { whole: true, read: true };
  }

  /**
   * Add a visitor's own network at the top of the list.
   * @param {NetworkFacts} network @param {Tensors} tensors
   */
  async add(network, tensors) {
    const others = this.#added.filter(({ id }) => id !== network.id);
    this.#added = [network, ...others];
    await this.machine("keep", { id: network.id, tensors });
    try {
      await this.#tryOut(network);
    } catch (error) {
      this.#added = others;
      throw new Error(`${network.title} does not run here. ${messageOf(error)}`, { cause: error });
    }
  }

  /**
   * Run a network once on its smallest problem.
   * @param {NetworkFacts} network
   */
  async #tryOut({ id, task }) {
    const problem = this.example(id, this.#factsOf(task).smallest, 1);
    await this.trace({ network: id, problem });
  }

  /** @param {string} id */
  missing(id) {
    const [kind, name] = [id.slice(0, id.indexOf(":")), id.slice(id.indexOf(":") + 1)];
    const remedies = new Map([
      ["file", "open it again"], ["trained", "train it again, or open its saved weights"],
    ]);
    const remedy = remedies.get(kind);
    if (remedy) return `${name} existed only in the page that you left; ${remedy}.`;
    return `There is no network ${id} here.`;
  }

  /**
   * @param {NetworkFacts} network
   * @returns {Network}
   */
  #listed(network) {
    const { config } = network;
    const { limits } = this.catalogue;
    const most = Math.max(limits.max_locations, config.memory_locations);
    const together = Math.floor(limits.max_values / valuesPerLocation(config));
    return {
      ...network,
      memory_locations: config.memory_locations,
      limits: { max_steps: limits.max_steps, max_locations: most, max_location_steps: together },
      problem: formOf(this.taskOf(network), limits),
    };
  }

  /**
   * @param {string} id
   * @returns {NetworkFacts}
   */
  find(id) {
    const found = this.#all.find((network) => network.id === id);
    if (found) return found;
    throw new Error(this.missing(id));
  }

  /** @param {string} id */
  has(id) {
    return this.#all.some((network) => network.id === id);
  }

  get #all() {
    return [...this.#added, ...this.catalogue.networks, ...this.catalogue.baselines];
  }

  /** @param {string} name */
  #factsOf(name) {
    const facts = factsOf(name, this.catalogue.tasks);
    if (facts) return facts;
    throw new Error(`There is no task ${name} here.`);
  }

  /** @param {NetworkFacts} network */
  taskOf({ task, task_settings: settings }) {
    return makeTask(this.#factsOf(task), settings);
  }

  /** @param {string} id */
  form(id) {
    return formOf(this.taskOf(this.find(id)), this.catalogue.limits);
  }

  /** @param {string} id @param {Sizes} sizes @param {number} seed */
  example(id, sizes, seed) {
    const task = atSizes(this.taskOf(this.find(id)), sizes);
    return sampleProblems(task, 1, new Generator(seed))[0];
  }

  /**
   * @param {TraceRequest} request @param {unknown} [_signal] the engine cannot be interrupted
   * @param {Damage} [damage]
   * @returns {Promise<TraceDocument>}
   */
  async trace({ network: id, problem, memory_locations: locations }, _signal, damage = {}) {
    const network = this.find(id);
    const facts = this.#factsOf(network.task);
    const words = this.taskOf(network).kind.title?.(problem) ?? sizesInWords(problem, facts);
    const title = `${network.title}, ${words}`;
    // The hint tells what a trained network does.
    const hint = network.sequences === 0 ? null : facts.look_for || null;
    const about = { title, hint, model: network.model };
    this.#requireRoom(network.config, problem, this.taskOf(network), locations);
    const trace = await this.machine("trace", { network, facts, problem, locations, about, damage });
    this.onTrace();
    return trace;
  }

  /**
   * Refuse a problem that would be too large to show.
   * @param {NTMConfig} config @param {Problem} problem @param {Task} task
   * @param {number | null} [locations]
   */
  #requireRoom(config, problem, task, locations) {
    const steps = task.kind.stepsOf?.(problem, task.settings) ??
      task.kind.steps(atSizes(task, sizesOf(problem, task.facts)).settings);
    const { max_steps: maxSteps, max_values: maxValues } = this.catalogue.limits;
    if (steps > maxSteps) {
      throw new Error(`This problem takes ${steps} steps; the page shows up to ${maxSteps}.`);
    }
    const rows = locations ?? config.memory_locations;
    if (steps * rows * valuesPerLocation(config) > maxValues) {
      throw new Error(`${steps} steps of a memory of ${rows} locations are too many numbers to ` +
        "show. Use a shorter problem or a smaller memory.");
    }
  }

  /**
   * The self-contained page of one trace, as a Blob.
   * @param {TraceRequest} request @param {{ step: number, head: number }} view
   */
  async file(request, view) {
    return sharedFile(await this.trace(request), view);
  }
}

/**
 * Additional numbers per step in a trace for each additional location.
 * @param {NTMConfig} config
 */
function valuesPerLocation(config) {
  const [fewer, more] = [1, 2].map((locations) => {
    const shapes = Object.values(traceShapes({ ...config, memory_locations: locations }));
    return shapes.reduce((sum, shape) => sum + count(shape), 0);
  });
  return more - fewer;
}

/**
 * @param {Problem} problem @param {TaskFacts} facts
 * @returns {Sizes}
 */
function sizesOf(problem, { axes, parts }) {
  const form = { parts: parts.map((part) => ({ ...part, axis: part.axes[0], shape: [] })) };
  return Object.fromEntries(axes.map((axis) => [axis, sizeOf(problem, axis, form)]));
}

/** @param {Problem} problem @param {TaskFacts} facts */
function sizesInWords(problem, facts) {
  return Object.entries(sizesOf(problem, facts)).map((size) => size.join(" ")).join(", ");
}

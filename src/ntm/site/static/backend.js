/**
 * What the studio's server does, done in the page: the networks are files beside it, and a worker
 * runs them. See the studio's api.js for the same behind HTTP.
 */

import { sizeOf } from "../../studio/static/problems.js";
import { Generator } from "./random.js";
import { sharedFile } from "./sharing.js";
import { atSizes, formOf, makeTask, sampleProblems } from "./tasks.js";

/** A worker that is asked: `ask("trace", request)` promises the answer. */
export function startMachine(onProgress) {
  const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const waiting = new Map();
  let asked = 0;
  worker.addEventListener("message", ({ data: { number, answer, error, progress } }) => {
    if (progress) return onProgress(progress);
    const { resolve, reject } = waiting.get(number);
    waiting.delete(number);
    if (error === undefined) resolve(answer);
    else reject(new Error(error));
  });
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    const reason = new Error("The engine does not start: this browser lacks WebAssembly with SIMD.");
    for (const { reject } of waiting.values()) reject(reason);
    waiting.clear();
  });
  return (ask, request = {}) =>
    new Promise((resolve, reject) => {
      waiting.set((asked += 1), { resolve, reject });
      worker.postMessage({ number: asked, ask, ...request });
    });
}

export class Backend {
  #added = []; // networks of the person's own

  constructor(catalogue) {
    this.catalogue = catalogue;
    this.machine = startMachine();
    this.hasTraced = new Promise((resolve) => (this.onTrace = resolve));
    for (const network of catalogue.networks) network.stream = catalogue.streams.weights[1];
  }

  static async open() {
    const answer = await fetch("data/site.json");
    if (!answer.ok) throw new Error("The site is not whole: data/site.json is missing.");
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

  /** Those that there are are all listed. */
  network() {
    return null;
  }

  folder() {
    return { whole: true, read: true };
  }

  /** Have a network of the person's own in the list, first. */
  async add(network, tensors) {
    this.#added = [network, ...this.#added.filter(({ id }) => id !== network.id)];
    await this.machine("keep", { id: network.id, tensors });
  }

  missing(id) {
    const [kind, name] = [id.slice(0, id.indexOf(":")), id.slice(id.indexOf(":") + 1)];
    const remedy = { file: "open it again", trained: "train it again, or open its saved weights" };
    if (Object.hasOwn(remedy, kind)) {
      return `${name} was only in the page that you left; ${remedy[kind]}.`;
    }
    return `There is no network ${id} here.`;
  }

  #listed(network) {
    const { config, task, task_settings: settings } = network;
    const { limits, tasks } = this.catalogue;
    const most = Math.max(limits.max_locations, config.memory_locations);
    const together = Math.floor(limits.max_values / valuesPerLocation(config));
    return {
      ...network,
      memory_locations: config.memory_locations,
      limits: { max_steps: limits.max_steps, max_locations: most, max_location_steps: together },
      problem: formOf(makeTask(tasks[task], settings), limits),
    };
  }

  find(id) {
    return [...this.#added, ...this.catalogue.networks].find((network) => network.id === id);
  }

  taskOf({ task, task_settings: settings }) {
    return makeTask(this.catalogue.tasks[task], settings);
  }

  example(id, sizes, seed) {
    const task = atSizes(this.taskOf(this.find(id)), sizes);
    return sampleProblems(task, 1, new Generator(seed))[0];
  }

  async trace({ network: id, problem, memory_locations: locations }) {
    const network = this.find(id);
    const facts = this.catalogue.tasks[network.task];
    const title = `${network.title}, ${sizesInWords(problem, facts)}`;
    const about = { title, hint: facts.look_for || null, model: network.model };
    this.#requireRoom(network.config, problem, this.taskOf(network), locations);
    const trace = await this.machine("trace", { network, facts, problem, locations, about });
    this.onTrace();
    return trace;
  }

  /** Refuse what would be too large to show. */
  #requireRoom(config, problem, task, locations) {
    const steps = task.kind.steps(atSizes(task, sizesOf(problem, task.facts)).settings);
    const { max_steps: maxSteps, max_values: maxValues } = this.catalogue.limits;
    if (steps > maxSteps) {
      throw new Error(`This problem takes ${steps} steps; the page shows up to ${maxSteps}.`);
    }
    const rows = locations ?? config.memory_locations;
    if (steps * rows * valuesPerLocation(config) > maxValues) {
      throw new Error(`${steps} steps of a memory of ${rows} locations are too many numbers to ` +
        "show. Take a shorter problem or a smaller memory.");
    }
  }

  /** The page of one trace, which opens offline, as a Blob. */
  async file(request, view) {
    return sharedFile(await this.trace(request), view);
  }
}

/** Numbers in a trace of one step: the memory, and the stages of every head's weighting. */
function valuesPerLocation(config) {
  return config.memory_width + 4 * (config.read_heads + config.write_heads);
}

function sizesOf(problem, { axes }) {
  return Object.fromEntries(axes.map((axis) => [axis, sizeOf(problem, axis)]));
}

function sizesInWords(problem, facts) {
  return Object.entries(sizesOf(problem, facts)).map((size) => size.join(" ")).join(", ");
}

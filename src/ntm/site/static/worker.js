/**
 * A worker that runs the engine. The page posts { number, ask, ...request }; the answer is
 * { number, answer } or { number, error }. During training the worker also posts { progress }.
 */

import { loadEngine } from "../../engine/web/engine.js";
import { traceDocument } from "./documents.js";
import { initialWeights } from "./initial.js";
import { Generator, blockSeed } from "./random.js";
import { makeTask } from "./tasks.js";
import { without } from "./switches.js";
import { Trainer } from "./trainer.js";
import { enlarged, readSafetensors } from "./weights.js";

/** @import { Point, Problem } from "../../studio/static/types.d.ts" */
/** @import { Engine } from "../../engine/web/engine.js" */
/** @import { Answers, Progress, Question, Run, Tensors, TrainRequest } from "./types.d.ts" */
/**
 * @typedef {{ trainer: Trainer, problem: Problem, most: number, began: number, stopped: boolean,
 *   pictured?: number, pictureEvery?: number, wait: number }} Training
 */

const SLICE = 14; // milliseconds of training between checks for messages
const PICTURE_EVERY = 120; // milliseconds
const DATA = new URL("../../data/", import.meta.url);

const ENGINE = new URL("../../engine/web/engine.wasm", import.meta.url);

/** @type {Map<string, Promise<Engine>>} */
const engines = new Map(); // the promise of the only engine, by its address
/** @type {Map<string, Promise<Tensors>>} */
const weights = new Map(); // promises of tensors by network id
const turn = new MessageChannel();
turn.port1.start();
/** @type {Promise<Training> | null} */
let training = null; // a promise of the last training: the engine may still be loading

/** @type {Answers} */
const ANSWERS = {
  keep({ id, tensors }) {
    weights.set(id, Promise.resolve(tensors));
  },
  async trace({ network, facts, problem, locations, about, damage = {} }) {
    const tensors = await weightsOf(network);
    const config = { ...network.config, memory_locations: locations ?? network.config.memory_locations };
    const machine = (await theEngine()).network(config);
    try {
      const damaged = without(tensors, config, damage.without ?? []);
      machine.load(enlarged(damaged, network.config, config.memory_locations));
      const task = makeTask(facts, network.task_settings);
      return traceDocument(machine, problem, task, about, damage);
    } finally {
      machine.free();
    }
  },
  async train(request) {
    training = begin(request, training);
    goOn(await training);
  },
  async pace({ wait }) {
    if (training) (await training).wait = wait;
  },
  async stop() {
    if (!training) throw new Error("Nothing is being trained.");
    const state = await training;
    state.stopped = true;
    return { tensors: state.trainer.weights(), sequences: state.trainer.sequences };
  },
};

/**
 * The state of a new training, which replaces the previous one.
 * @param {TrainRequest} request @param {Promise<Training> | null} before
 * @returns {Promise<Training>}
 */
async function begin({ facts, settings, starts, problem, most, pictureEvery, wait = 0 }, before) {
  const last = await before?.catch(() => null);
  if (last) last.stopped = true;
  last?.trainer.network.free();
  const trainer = new Trainer(await theEngine(), makeTask(facts, settings.task), settings, starts);
  return { trainer, problem, most, pictureEvery, wait, began: performance.now(), stopped: false };
}

/**
 * The weights of a network: stored here, from a file of the site, or initial.
 * @param {Run} network
 * @returns {Promise<Tensors>}
 */
function weightsOf(network) {
  const { id, file } = network;
  return kept(weights, id, () => (file ? fetched(file) : untrained(network)));
}

function theEngine() {
  return kept(engines, ENGINE.href, () => loadEngine(ENGINE));
}

/**
 * The promise stored under this key, or a new one. A promise that fails is not stored, so that the
 * next request tries again.
 * @template Value
 * @param {Map<string, Promise<Value>>} promises @param {string} key @param {() => Promise<Value>} ask
 */
function kept(promises, key, ask) {
  const found = promises.get(key) ?? ask();
  promises.set(key, found);
  found.catch(() => promises.get(key) === found && promises.delete(key));
  return found;
}

/** @param {string} file */
async function fetched(file) {
  const answer = await fetch(new URL(file, DATA)).catch(() => null);
  if (!answer?.ok) throw new Error(`The weights in data/${file} cannot be fetched.`);
  return readSafetensors(await answer.arrayBuffer()).tensors;
}

/**
 * @param {Run} network
 * @returns {Promise<Tensors>}
 */
async function untrained({ id, config, initialisation, stream }) {
  if (!initialisation || stream === undefined) throw new Error(`${id} has no weights.`);
  return initialWeights(config, initialisation, new Generator(blockSeed(stream, 0)));
}

/**
 * Call back when all waiting messages are answered. A timer would take 4 ms longer.
 * @param {() => void} call
 */
function afterMessages(call) {
  turn.port1.addEventListener("message", call, { once: true });
  turn.port2.postMessage(null);
}

/**
 * Train for one slice, report to the page, and continue after its messages.
 * @param {Training} state
 */
function goOn(state) {
  if (state.stopped) return;
  const { trainer } = state;
  const began = performance.now();
  const next = trainer.sequences + (state.pictureEvery ?? Infinity);
  const last = Math.min(next, state.most);
  const isOver = () =>
    trainer.sequences >= last || (!state.pictureEvery && performance.now() - began >= SLICE);
  const secondsSoFar = () => (performance.now() - state.began) / 1000;
  /** @type {Point[]} */
  let points;
  try {
    points = trainer.run(isOver);
  } catch (error) {
    state.stopped = true;
    const trouble = error instanceof Error ? error.message : String(error);
    const { sequences } = trainer;
    postMessage({ progress: { points: [], sequences, seconds: secondsSoFar(), done: true, trouble } });
    return;
  }
  const done = trainer.sequences >= state.most;
  /** @type {Progress} */
  const progress = { points, sequences: trainer.sequences, seconds: secondsSoFar(), done };
  if (done || state.pictureEvery || !(began - (state.pictured ?? -Infinity) < PICTURE_EVERY)) {
    state.pictured = began;
    progress.picture = traceDocument(trainer.network, state.problem, trainer.task, {});
  }
  postMessage({ progress });
  if (!done) afterMessages(() => (state.wait ? setTimeout(goOn, state.wait, state) : goOn(state)));
}

addEventListener("message", async (/** @type {MessageEvent<Question>} */ { data }) => {
  const { number, ask, ...request } = data;
  const answerTo = /** @type {(request: object) => unknown} */ (ANSWERS[ask]);
  try {
    postMessage({ number, answer: await answerTo(request) });
  } catch (error) {
    postMessage({ number, error: error instanceof Error ? error.message : String(error) });
  }
});

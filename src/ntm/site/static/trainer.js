/** Training in steps that a page can wait for: the sequences of `ntm train`, in their order. */

import { initialWeights } from "./initial.js";
import { Generator, blockSeed } from "./random.js";
import { encodeProblem, sampleProblems } from "./tasks.js";
import { enlarged } from "./weights.js";

// As in Python, problems are drawn in blocks of whole batches.
const SMALLEST_BLOCK = 256;
export const REPORT_EVERY = 100; // sequences

/** The model while it trains, which may have fewer memory locations: Python's Settings.trained_model. */
export function trainedModel({ model, training }) {
  const most = training.memory_locations ?? model.memory_locations;
  return { ...model, memory_locations: Math.min(most, model.memory_locations) };
}

export class Trainer {
  sequences = 0;
  #batches = [];
  #block = 0;
  #sum = 0; // of the costs since the last report
  #counted = 0;

  /**
   * `settings` are sections as in a run's config.json; `starts` says where the random numbers of
   * its streams begin.
   */
  constructor(engine, task, settings, starts) {
    this.task = task;
    this.settings = settings;
    this.start = starts.training;
    const model = trainedModel(settings);
    this.network = engine.network(model);
    const random = new Generator(blockSeed(starts.weights, 0));
    this.network.load(initialWeights(model, settings.initialisation, random));
  }

  /** The weights so far, with all the memory locations that the network has. */
  weights() {
    const { network, settings } = this;
    return enlarged(network.parameters(), network.config, settings.model.memory_locations);
  }

  /** Train until a clock says so; returns points of the learning curve, [sequences, bits]. */
  run(isOver) {
    const points = [];
    do {
      const bits = this.step();
      if (this.#counted >= REPORT_EVERY) points.push(this.#report());
      if (!Number.isFinite(bits)) break;
    } while (!isOver());
    return points;
  }

  /** One update; returns the mean cost of its sequences in bits. */
  step() {
    if (this.#batches.length === 0) this.#batches = this.#nextBlock();
    const batch = this.#batches.pop();
    const bits = this.network.train(batch, this.settings.optimiser);
    this.sequences += batch.sequences;
    this.#sum += bits * batch.sequences;
    this.#counted += batch.sequences;
    return bits;
  }

  #report() {
    const point = [this.sequences, this.#sum / this.#counted];
    this.#sum = this.#counted = 0;
    return point;
  }

  /** The batches of the next block, the last one first. */
  #nextBlock() {
    const size = this.settings.training.batch_size;
    const count = size * Math.ceil(SMALLEST_BLOCK / size);
    const random = new Generator(blockSeed(this.start, this.#block++));
    const problems = sampleProblems(this.task, count, random);
    const encoded = problems.map((problem) => encodeProblem(problem, this.task));
    const batches = [];
    for (let at = 0; at < count; at += size) batches.unshift(sideBySide(encoded.slice(at, at + size)));
    return batches;
  }
}

/** Batches of one sequence as one batch: (time, sequences, channels), zero behind the shorter. */
function sideBySide(batches) {
  if (batches.length === 1) return batches[0];
  const steps = Math.max(...batches.map((batch) => batch.steps));
  const joined = (name) => {
    const channels = batches[0][name].length / batches[0].steps;
    const values = new Float32Array(steps * batches.length * channels);
    batches.forEach((batch, b) => {
      for (let step = 0; step < batch.steps; step++) {
        const own = batch[name].subarray(step * channels, (step + 1) * channels);
        values.set(own, (step * batches.length + b) * channels);
      }
    });
    return values;
  };
  return {
    steps,
    sequences: batches.length,
    lengths: batches.map((batch) => batch.steps),
    inputs: joined("inputs"),
    targets: joined("targets"),
    mask: joined("mask"),
  };
}

/** Training in short slices, on the same sequences as `ntm train`, in the same order. */

import { SMALLEST_BLOCK } from "../../engine/web/facts.js";
import { initialWeights } from "./initial.js";
import { hasSmaller, mixtureOf, taskAfter } from "./mixture.js";
import { Generator, blockSeed } from "./random.js";
import { encodeProblem, sampleProblems } from "./tasks.js";
import { enlarged } from "./weights.js";

/** @import { Engine, Problems } from "../../engine/web/engine.js" */
/** @import { NTMConfig } from "../../engine/web/python.d.ts" */
/** @import { Point } from "../../studio/static/types.d.ts" */
/** @import { Task } from "./tasks.js" */
/** @import { Sequence, Settings } from "./types.d.ts" */

export const REPORT_EVERY = 100; // sequences

/**
 * The model during training, which may have fewer locations: Python's Settings.trained_model.
 * @param {Pick<Settings, "model" | "training">} settings
 * @returns {NTMConfig}
 */
export function trainedModel({ model, training }) {
  const most = training.memory_locations ?? model.memory_locations;
  return { ...model, memory_locations: Math.min(most, model.memory_locations) };
}

export class Trainer {
  sequences = 0;
  /** @type {{ batch: Problems, smaller: boolean }[]} */
  #batches = [];
  #block = 0;
  #sum = 0; // sum of the costs since the last report, without smaller problems
  #counted = 0;
  #seen = 0; // sequences since the last report

  /**
   * `settings` are sections as in a run's config.json; `starts` are the starts of its random
   * streams.
   * @param {Engine} engine @param {Task} task @param {Settings} settings @param {{ training: number, weights: number }} starts
   */
  constructor(engine, task, settings, starts) {
    this.task = task;
    this.settings = settings;
    this.start = starts.training;
    this.mixture = mixtureOf(settings.training.mixture);
    const model = trainedModel(settings);
    this.network = engine.network(model);
    const random = new Generator(blockSeed(starts.weights, 0));
    this.network.load(initialWeights(model, settings.initialisation, random));
  }

  /** The weights so far, with all memory locations of the network. */
  weights() {
    const { network, settings } = this;
    return enlarged(network.parameters(), network.config, settings.model.memory_locations);
  }

  /**
   * Train until `isOver()`; returns points of the learning curve, [sequences, bits].
   * @param {() => boolean} isOver
   * @returns {Point[]}
   */
  run(isOver) {
    /** @type {Point[]} */
    const points = [];
    do {
      const bits = this.step();
      if (this.#seen >= REPORT_EVERY && this.#counted > 0) points.push(this.#report());
      if (!Number.isFinite(bits)) break;
    } while (!isOver());
    return points;
  }

  /** One update; returns the mean cost of its sequences in bits. */
  step() {
    if (this.#batches.length === 0) this.#batches = this.#nextBlock();
    const { batch, smaller } = /** @type {{ batch: Problems, smaller: boolean }} */ (this.#batches.pop());
    const bits = this.network.train(batch, this.settings.optimiser);
    this.sequences += batch.sequences;
    this.#seen += batch.sequences;
    if (!smaller) {
      this.#sum += bits * batch.sequences;
      this.#counted += batch.sequences;
    }
    return bits;
  }

  /** @returns {Point} */
  #report() {
    const mean = this.#sum / this.#counted;
    this.#sum = this.#counted = this.#seen = 0;
    return [this.sequences, mean];
  }

  /** Sample the next block and return its batches in reverse order. All batches are full, as in Python. */
  #nextBlock() {
    const { mixture, task } = this;
    const size = this.settings.training.batch_size;
    const count = size * Math.ceil(SMALLEST_BLOCK / size);
    const before = this.#block * count;
    const random = new Generator(blockSeed(this.start, this.#block++));
    const firsts = Array.from({ length: count / size }, (_, i) => count - (i + 1) * size);
    const smaller = firsts.map((at) => mixture !== null && hasSmaller(mixture, before + at, size));
    const problems = sampleProblems(task, count, random);
    const others = mixture && smaller.includes(true)
      ? sampleProblems(taskAfter(mixture, before, task), count, random)
      : problems;
    return firsts.map((at, i) => {
      const chosen = (smaller[i] ? others : problems).slice(at, at + size);
      const batch = sideBySide(chosen.map((problem) => encodeProblem(problem, task)));
      return { batch, smaller: smaller[i] };
    });
  }
}

/**
 * Join batches of one sequence to (time, sequences, channels), with zeros after short sequences.
 * @param {Sequence[]} batches
 * @returns {Problems}
 */
function sideBySide(batches) {
  if (batches.length === 1) return batches[0];
  const steps = Math.max(...batches.map((batch) => batch.steps));
  const joined = (/** @type {"inputs" | "targets" | "mask"} */ name) => {
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

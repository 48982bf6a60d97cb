/** The engine's traces as documents for the viewer, as in Python's ntm.studio.documents. */

import { peakOf } from "../../studio/static/arrays.js";
import { NTM_ARRAYS, TRACE_FORMAT } from "../../studio/static/facts.js";
import { traceWith } from "./meddling.js";
import { channelsOf, encodeProblem, optimumOf } from "./tasks.js";

/** @import { NTMConfig } from "../../engine/web/python.d.ts" */
/** @import { HeadKind, Problem, TraceDocument } from "../../studio/static/types.d.ts" */
/** @import { Task } from "./tasks.js" */
/** @import { About, Damage, Machine, Sequence, Tensor, Tensors } from "./types.d.ts" */

/**
 * Run a network on a drawn problem. `about` is { title, hint, model }.
 * @param {Machine} network @param {Problem} problem @param {Task} task @param {About} about
 * @param {Damage} [damage] changes during the run
 * @returns {TraceDocument}
 */
export function traceDocument(network, problem, task, about, damage = {}) {
  const batch = posed(network, problem, task);
  const kinds = task.kind.outputKinds?.(task.settings) ?? { inputs: "bits", outputs: "bits" };
  const isScored = task.kind.isScored?.(problem) ?? true;
  const isChanged = damage.edit || damage.fix;
  const { outputs, ...recorded } = isChanged ? traceWith(network, batch, damage) : network.trace(batch);
  const labels = channelsOf(task);
  /** @param {Float32Array} values @param {string[]} names */
  const shaped = (values, names) => ({ shape: [batch.steps, names.length], values });
  const optimal = optimumOf(problem, task);
  return {
    format: TRACE_FORMAT,
    task: task.facts.task,
    title: "",
    hint: null,
    model: null,
    ...about,
    config: network.config,
    steps: batch.steps,
    labels,
    kinds,
    inputs: shaped(batch.inputs, labels.inputs),
    outputs: shaped(PROBABILITIES[kinds.outputs](outputs.values, batch.steps), labels.outputs),
    targets: isScored ? shaped(batch.targets, labels.outputs) : null,
    optimal: optimal && shaped(optimal, labels.outputs),
    answer_steps: [...batch.mask.keys()].filter((step) => batch.mask[step] > 0),
    ...(isScored ? VERDICTS[kinds.outputs](outputs.values, batch) : { cost_bits: null, wrong_bits: null }),
    ...inside(recorded, network.config),
  };
}

/**
 * A problem as a batch. Without a target, it ends where the network ends its answer.
 * @param {Machine} network @param {Problem} problem @param {Task} task
 * @returns {Sequence}
 */
function posed(network, problem, task) {
  const batch = encodeProblem(problem, task);
  const { inputs, outputs } = channelsOf(task);
  if (!task.kind.stepsAnswered || task.kind.isScored?.(problem)) return batch;
  const { values } = network.trace(batch).outputs;
  const steps = task.kind.stepsAnswered(problem, task.settings, values, outputs.length) ?? batch.steps;
  return {
    steps, sequences: 1,
    inputs: batch.inputs.slice(0, steps * inputs.length),
    targets: batch.targets.slice(0, steps * outputs.length),
    mask: batch.mask.slice(0, steps),
  };
}

/**
 * The cost in bits, null if it is not finite, and the wrong bits.
 * @param {Float32Array} logits @param {Sequence} batch
 */
function verdict(logits, { targets, mask, steps }) {
  const channels = logits.length / steps;
  let [nats, wrong] = [0, 0];
  logits.forEach((logit, i) => {
    if (!mask[Math.floor(i / channels)]) return;
    const one = targets[i] > 0.5;
    nats += Math.max(logit, 0) - logit * targets[i] + Math.log1p(Math.exp(-Math.abs(logit)));
    wrong += Number(one ? !(logit > 0) : !(logit <= 0));
  });
  const bits = nats / Math.LN2;
  return { cost_bits: Number.isFinite(bits) ? bits : null, wrong_bits: wrong };
}

/**
 * The same for symbols: at every scored step, the most probable symbol must be the target.
 * @param {Float32Array} logits @param {Sequence} batch
 */
function symbolVerdict(logits, { targets, mask, steps }) {
  const channels = logits.length / steps;
  const probabilities = softmax(logits, steps);
  let [nats, wrong] = [0, 0];
  for (let step = 0; step < steps; step++) {
    if (!mask[step]) continue;
    const at = step * channels;
    const right = peakOf(targets.subarray(at, at + channels));
    nats -= Math.log(probabilities[at + right]);
    wrong += Number(peakOf(probabilities.subarray(at, at + channels)) !== right);
  }
  const bits = nats / Math.LN2;
  return { cost_bits: Number.isFinite(bits) ? bits : null, wrong_bits: wrong };
}

/** @param {number} logit */
function sigmoid(logit) {
  return 1 / (1 + Math.exp(-logit));
}

/** @param {Float32Array} logits @param {number} steps */
function softmax(logits, steps) {
  const channels = logits.length / steps;
  const values = new Float32Array(logits.length);
  for (let at = 0; at < logits.length; at += channels) {
    const row = logits.subarray(at, at + channels);
    const most = row[peakOf(row)];
    const powers = row.map((logit) => Math.exp(logit - most));
    const sum = powers.reduce((total, power) => total + power, 0);
    values.set(powers.map((power) => power / sum), at);
  }
  return values;
}

/** @type {Record<string, (logits: Float32Array, steps: number) => Float32Array>} */
const PROBABILITIES = { bits: (logits) => logits.map(sigmoid), symbols: softmax };
/** @type {Record<string, typeof verdict>} */
const VERDICTS = { bits: verdict, symbols: symbolVerdict };

/** @param {Tensors} trace @param {NTMConfig} config */
function inside(trace, config) {
  /** @type {HeadKind[]} */
  const kinds = ["read", "write"];
  const recorded = (/** @type {string} */ name, /** @type {HeadKind} */ kind) =>
    trace[`${kind}_${name}`] ?? trace[name];
  const heads = kinds.flatMap((kind) => {
    const own = NTM_ARRAYS.filter((array) => array.kind === kind);
    return Array.from({ length: config[`${kind}_heads`] }, (_, index) => ({
      kind, index,
      arrays: Object.fromEntries(own.map(({ name }) => [name, ofHead(recorded(name, kind), index)])),
    }));
  });
  return {
    shifts: config.shifts, memory: withoutBatch(trace.memory), arrays: NTM_ARRAYS, lanes: {}, heads,
  };
}

/**
 * An array (steps, 1, ...) as (steps, ...).
 * @param {Tensor} array
 */
function withoutBatch({ shape: [steps, , ...rest], values }) {
  return { shape: [steps, ...rest], values };
}

/**
 * An array (steps, 1, heads, ...) as (steps, ...) for one head.
 * @param {Tensor} array @param {number} index
 */
function ofHead({ shape: [steps, , heads, ...rest], values }, index) {
  const size = values.length / (steps * heads);
  const own = new Float32Array(steps * size);
  for (let step = 0; step < steps; step++) {
    const first = (step * heads + index) * size;
    own.set(values.subarray(first, first + size), step * size);
  }
  return { shape: [steps, ...rest], values: own };
}

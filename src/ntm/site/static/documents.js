/** The engine's traces as documents for the viewer, as in Python's ntm.studio.documents. */

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
  const batch = encodeProblem(problem, task);
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
    kinds: { inputs: "bits", outputs: "bits" }, // of every task that can be drawn
    inputs: shaped(batch.inputs, labels.inputs),
    outputs: shaped(outputs.values.map(sigmoid), labels.outputs),
    targets: shaped(batch.targets, labels.outputs),
    optimal: optimal && shaped(optimal, labels.outputs),
    answer_steps: [...batch.mask.keys()].filter((step) => batch.mask[step] > 0),
    ...verdict(outputs.values, batch),
    ...inside(recorded, network.config),
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

/** @param {number} logit */
function sigmoid(logit) {
  return 1 / (1 + Math.exp(-logit));
}

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

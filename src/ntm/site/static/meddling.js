/**
 * Runs in which a visitor meddles: a number in the memory is changed after a step, or the write head
 * gets another value at one step. Such a run stops and continues from the changed state: the state
 * becomes the learned start of another run.
 */

import { fixed } from "./switches.js";

/** @import { Problems } from "../../engine/web/engine.js" */
/** @import { Damage, Edit, Machine, Tensor, Tensors } from "./types.d.ts" */

const LEAST = 1e-30; // logarithms of smaller weights are the same to the softmax

/**
 * The arrays of a trace, as `network.trace` returns them. The controller must be feedforward,
 * because a trace does not contain the state of an LSTM.
 * @param {Machine} network with its weights loaded @param {Problems} batch of one sequence
 * @param {Damage} damage
 * @returns {Tensors}
 */
export function traceWith(network, batch, { edit, fix }) {
  const learned = network.parameters();
  let trace = network.trace(batch);
  if (fix) {
    trace = redone(network, batch, trace, fix.step, fixed(learned, network.config, fix));
    trace = redone(network, batch, trace, fix.step + 1, learned);
  }
  if (edit) {
    change(partOf(trace.memory, edit.step), edit); // the memory after this step shows the edit
    trace = redone(network, batch, trace, edit.step + 1, learned);
  }
  network.load(learned);
  return trace;
}

/**
 * A trace whose steps from `first` on are run again, from the state before them.
 * @param {Machine} network @param {Problems} batch @param {Tensors} trace @param {number} first
 * @param {Tensors} weights
 */
function redone(network, batch, trace, first, weights) {
  const rest = restOf(batch, first, network.config.input_size);
  if (rest.steps === 0) return trace;
  network.load({ ...weights, ...(first > 0 ? startAfter(trace, first - 1) : {}) });
  const after = network.trace(rest);
  const named = Object.entries(trace).map(([name, array]) => [name, joined(array, after[name], first)]);
  return Object.fromEntries(named);
}

/** @param {Problems} batch @param {number} first @param {number} channels */
function restOf({ inputs, targets, mask, steps }, first, channels) {
  const rest = Float32Array.from(inputs).subarray(first * channels);
  return { steps: steps - first, sequences: 1, inputs: rest, targets, mask };
}

/**
 * The state after a step as a learned start.
 * @param {Tensors} trace @param {number} step
 * @returns {Tensors}
 */
function startAfter(trace, step) {
  const at = (/** @type {string} */ name) => partOf(trace[name], step);
  return {
    "start.memory": at("memory"),
    "start.read_logits": logitsOf(at("read_weightings")),
    "start.write_logits": logitsOf(at("write_weightings")),
    "start.reads": at("reads"),
  };
}

/** @param {Tensor} memory @param {Edit} edit */
function change({ shape: [, width], values }, { location, component, value }) {
  const first = location * width;
  if (component === null) values.fill(value, first, first + width);
  else values[first + component] = value;
}

/**
 * A view of one step of an array (steps, 1, ...).
 * @param {Tensor} array @param {number} step
 */
function partOf({ shape: [steps, , ...shape], values }, step) {
  const size = values.length / steps;
  return { shape, values: values.subarray(step * size, (step + 1) * size) };
}

/** @param {Tensor} weighting */
function logitsOf({ shape, values }) {
  return { shape, values: values.map((weight) => Math.log(Math.max(weight, LEAST))) };
}

/**
 * The first `count` steps of one array, then the steps of another.
 * @param {Tensor} first @param {Tensor} second @param {number} count
 */
function joined({ shape: [steps, ...rest], values }, second, count) {
  const size = values.length / steps;
  const all = new Float32Array(values);
  all.set(second.values, count * size);
  return { shape: [steps, ...rest], values: all };
}

/** Initial weights for training. */

import { CONSTANT_START } from "../../engine/web/facts.js";
import { count, parameterShapes } from "../../engine/web/shapes.js";

/** @import { Initialisation, NTMConfig } from "../../engine/web/python.d.ts" */
/** @import { Generator } from "./random.js" */
/** @import { Tensors } from "./types.d.ts" */
/** @typedef {Record<string, Float32Array>} Named */

/**
 * Every parameter by name, with the same values as in Python for the same generator. Numbers that
 * torch draws for its own, unused initialisation are skipped.
 * @param {NTMConfig} config @param {Initialisation} initialisation @param {Generator} random
 * @returns {Tensors}
 */
export function initialWeights(config, initialisation, random) {
  const shapes = parameterShapes(config);
  const linear = Object.keys(shapes).filter((name) => name.startsWith("cell."));
  random.skip(linear.reduce((sum, name) => sum + count(shapes[name]), 0));
  startValues(shapes, initialisation, random);
  const weights = Object.fromEntries(
    linear.map((name) => [name, linearValues(name, shapes[name], initialisation, random)]));
  biasGates(weights["cell.heads.linear.bias"], config, initialisation);
  if (config.controller === "lstm") startFeedforward(weights, config);
  const values = { ...weights, ...startValues(shapes, initialisation, random) };
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [name, { shape, values: values[name] }]));
}

/**
 * Glorot's weights, times the gain for the heads. Biases are zero; the gates' biases follow later.
 * @param {string} name @param {number[]} shape @param {Initialisation} initialisation @param {Generator} random
 */
function linearValues(name, shape, { head_gain: headGain }, random) {
  if (shape.length === 1) return new Float32Array(count(shape));
  const gain = name.startsWith("cell.heads") ? headGain : 1;
  const bound = Math.sqrt(3) * gain * Math.sqrt(2 / (shape[0] + shape[1]));
  const [low, range] = [Math.fround(-bound), Math.fround(Math.fround(bound) - Math.fround(-bound))];
  return random.uniform(count(shape)).map((share) => share * range + low);
}

/**
 * Set the gate's bias of every head. The gate comes after key and strength; write heads have two
 * more vectors.
 * @param {Float32Array} bias @param {NTMConfig} config @param {Initialisation} initialisation
 */
function biasGates(bias, config, { gate_bias: gateBias }) {
  const { memory_width: width, read_heads: readHeads, write_heads: writeHeads } = config;
  const each = (bias.length - 2 * width * writeHeads) / (readHeads + writeHeads);
  for (let head = 0; head < readHeads + writeHeads; head++) {
    bias[head * each + 2 * width * Math.max(head - readHeads, 0) + width + 1] = gateBias;
  }
}

/**
 * Make an LSTM start without recurrence, and with forget gates that forget.
 * @param {Named} values @param {NTMConfig} config
 */
function startFeedforward(values, { controller_layers: layers, controller_size: size }) {
  for (let layer = 0; layer < layers; layer++) {
    const name = `cell.controller.layers.${layer}`;
    const weight = values[`${name}.weight`];
    const inputs = weight.length / (4 * size);
    weight.forEach((_, i) => {
      if (i % inputs >= inputs - size) weight[i] = 0;
    });
    values[`${name}.bias`].fill(-1, size, 2 * size);
  }
}

/**
 * @param {Record<string, number[]>} shapes @param {Initialisation} initialisation @param {Generator} random
 * @returns {Named}
 */
function startValues(shapes, initialisation, random) {
  const sizes = Object.entries(shapes).filter(([name]) => name.startsWith("start."));
  /** @type {Named} */
  const values = Object.fromEntries(
    sizes.map(([name, shape]) => [name, new Float32Array(count(shape))]));
  const memory = values["start.memory"];
  if (initialisation.start_memory === "constant") memory.fill(CONSTANT_START);
  else memory.set(random.uniform(memory.length).map((share) => share - 0.5));
  for (const name of ["start.read_logits", "start.write_logits"]) {
    const spread = Math.fround(initialisation.start_spread);
    values[name] = random.normal(values[name].length).map((value) => value * spread);
  }
  if (initialisation.start_together) startTogether(values, shapes["start.read_logits"][1]);
  return values;
}

/** @param {Named} values @param {number} locations */
function startTogether(values, locations) {
  const first = values["start.read_logits"].slice(0, locations);
  for (const name of ["start.read_logits", "start.write_logits"]) {
    values[name].forEach((_, i, logits) => (logits[i] = first[i % locations]));
  }
}

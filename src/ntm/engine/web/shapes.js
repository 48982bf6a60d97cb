/** Names and shapes of a network's arrays, computed from its config. */

import { CONTROLLERS, PARAMETERS, SHIFT_MODES, SIZES, traceArrays } from "./facts.js";

/** @import { NTMConfig } from "./python.d.ts" */
/** @typedef {NTMConfig} Config */

/**
 * Refuse a config that the kernels would misread.
 * @param {Config} config
 */
export function requireConfig(config) {
  for (const name of SIZES)
    if (!Number.isInteger(config[name]) || config[name] < 1)
      throw new RangeError(`${name} must be a whole number of at least 1, got ${config[name]}.`);
  requireChoice("controller", config.controller, CONTROLLERS);
  requireChoice("shift_mode", config.shift_mode, SHIFT_MODES);
  if (config.controller === "feedforward" && config.controller_layers !== 1)
    throw new RangeError("controller_layers must be 1 for a feedforward controller.");
  const { shifts } = config;
  if (!Array.isArray(shifts) || !shifts.length || !shifts.every(Number.isInteger))
    throw new RangeError(`shifts must be whole numbers, at least one, got ${shifts}.`);
}

/**
 * @param {string} name
 * @param {string} value
 * @param {string[]} choices
 */
function requireChoice(name, value, choices) {
  if (!choices.includes(value))
    throw new RangeError(`${name} must be one of ${choices.join(", ")}, got ${value}.`);
}

/**
 * The shape of every parameter by name, in the order of Python's `state_dict`.
 * @param {Config} c
 * @returns {Record<string, number[]>}
 */
export function parameterShapes(c) {
  const shiftOutputs = c.shift_mode === "scalar" ? 1 : c.shifts.length;
  return Object.fromEntries(PARAMETERS[c.controller](c, shiftOutputs));
}

/**
 * The shapes of a trace's arrays after time and batch, in the module's order.
 * @param {Config} c
 * @returns {Record<string, number[]>}
 */
export function traceShapes(c) {
  return Object.fromEntries(traceArrays(c));
}

/** @param {number[]} shape */
export function count(shape) {
  return shape.reduce((product, size) => product * size, 1);
}

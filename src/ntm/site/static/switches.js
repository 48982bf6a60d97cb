/**
 * Switches that turn off one part of a trained network. A part is turned off through the weights of
 * the heads: its rows become zero, and its biases take the value at which the part does nothing. So
 * the engine needs no special case. Python's ntm.layer.switches does the same.
 */

/** @import { NTMConfig } from "../../engine/web/python.d.ts" */
/** @import { Fix, Switch, Tensors } from "./types.d.ts" */

const NEVER = -1e9; // softplus and sigmoid of this are 0

/**
 * By part: the first value of a head, the number of values, and the biases that turn it off. A head
 * emits key (M), strength, gate, shift (S), sharpness and, if it writes, erase (M), add (M).
 * @type {Record<Switch, (c: NTMConfig) => { first: number, biases: number[], writes?: boolean }>}
 */
const VALUES = {
  content: ({ memory_width: m }) => ({ first: m, biases: [NEVER] }),
  interpolation: ({ memory_width: m }) => ({ first: m + 1, biases: [-NEVER] }),
  shift: ({ memory_width: m, shifts }) => ({
    first: m + 2, biases: shifts.map((by) => (by === 0 ? 0 : NEVER)),
  }),
  sharpening: ({ memory_width: m, shifts }) => ({ first: m + 2 + shifts.length, biases: [NEVER] }),
  erase: ({ memory_width: m, shifts }) => ({
    first: m + 3 + shifts.length, biases: Array(m).fill(NEVER), writes: true,
  }),
};

/**
 * The weights of a network with some parts turned off. The shifts must be a softmax.
 * @param {Tensors} tensors @param {NTMConfig} config @param {Switch[]} parts
 * @returns {Tensors}
 */
export function without(tensors, config, parts) {
  const constants = parts.map((part) => VALUES[part](config));
  return constants.length ? withConstants(tensors, config, constants) : tensors;
}

/**
 * The weights of a network whose write heads always get the same value for one part.
 * @param {Tensors} tensors @param {NTMConfig} config @param {Fix} fix
 * @returns {Tensors}
 */
export function fixed(tensors, config, { part, value }) {
  const { first } = VALUES[part](config);
  return withConstants(tensors, config, [{ first, biases: BIASES[part](value, config), writes: true }]);
}

/**
 * By part: the biases at which a head emits a value. A shift moves by the value, between -1 and 1.
 * @type {Record<Fix["part"], (value: number, c: NTMConfig) => number[]>}
 */
const BIASES = {
  content: (strength) => [beforeSoftplus(strength)],
  interpolation: (gate) => [atLeastNever(Math.log(gate / (1 - gate)))],
  shift: (by, { shifts }) => shifts.map((shift) => atLeastNever(Math.log(Math.max(0, 1 - Math.abs(by - shift))))),
  sharpening: (power) => [beforeSoftplus(power - 1)],
};

/** @param {number} value */
function beforeSoftplus(value) {
  return atLeastNever(value > 30 ? value : Math.log(Math.expm1(value)));
}

/** @param {number} bias */
function atLeastNever(bias) {
  return Math.max(NEVER, Math.min(bias, -NEVER));
}

/**
 * The weights of a network whose heads get constants for some of their values.
 * @param {Tensors} tensors @param {NTMConfig} config
 * @param {{ first: number, biases: number[], writes?: boolean }[]} constants
 * @returns {Tensors}
 */
function withConstants(tensors, config, constants) {
  const [weight, bias] = ["weight", "bias"].map((name) => {
    const { shape, values } = tensors[`cell.heads.linear.${name}`];
    return { shape, values: Float32Array.from(values) };
  });
  const units = config.controller_size;
  for (const { first, biases, writes = false } of constants) {
    for (const start of headStarts(config, writes)) {
      weight.values.fill(0, (start + first) * units, (start + first + biases.length) * units);
      bias.values.set(biases, start + first);
    }
  }
  return { ...tensors, "cell.heads.linear.weight": weight, "cell.heads.linear.bias": bias };
}

/**
 * The number of each head's first value; read heads come first.
 * @param {NTMConfig} config @param {boolean} onlyWriting
 */
function headStarts({ memory_width: m, shifts, read_heads: reads, write_heads: writes }, onlyWriting) {
  const size = m + 3 + shifts.length;
  const reading = Array.from({ length: reads }, (_, i) => i * size);
  const writing = Array.from({ length: writes }, (_, i) => reads * size + i * (size + 2 * m));
  return onlyWriting ? writing : [...reading, ...writing];
}

/** Facts about networks, written by `make facts` from the Python package. */

/** @import { NTMConfig } from "./python.d.ts" */
/** @typedef {[string, number[]][]} Shapes names and shapes, in order */

/** The sizes of a config; each is at least 1. */
export const SIZES = /** @type {const} */ ([
  "input_size", "output_size", "controller_size", "controller_layers", "memory_locations",
  "memory_width", "read_heads", "write_heads",
]);
export const CONTROLLERS = ["feedforward", "lstm"];
export const SHIFT_MODES = ["softmax", "scalar"];
/** The command line's model for each controller. */
export const MODELS = {
  feedforward: "ntm-ff",
  lstm: "ntm-lstm",
};

/** The defaults of the optimiser, which are the paper's. */
export const PAPER = Object.freeze({
  learning_rate: 0.0001,
  halve_every: 0,
  halve_after: 0,
  decay: 0.95,
  momentum: 0.9,
  epsilon: 0.0001,
  clip: 10.0,
  backward_clip: null,
  backward_clip_until: null,
});
/** The settings of an update after the learning rate, in the engine's order. */
export const RMSPROP = /** @type {const} */ (["decay", "momentum", "epsilon", "clip"]);

/** Number of sequences in the smallest block of training data. */
export const SMALLEST_BLOCK = 256;
/** Value of a constant start memory. */
export const CONSTANT_START = 1e-06;

/**
 * The shapes of a controller's layers above the first.
 * @param {NTMConfig} c
 * @param {(layer: number) => Shapes} shapesOf
 */
function layersAbove(c, shapesOf) {
  return Array.from({ length: c.controller_layers - 1 }, (_, i) => shapesOf(i + 1)).flat();
}

/**
 * Names and shapes of all parameters by controller, in the order of Python's `state_dict`.
 * @type {Record<NTMConfig["controller"], (c: NTMConfig, shiftOutputs: number) => Shapes>}
 */
export const PARAMETERS = {
  feedforward: (c, shiftOutputs) => [
    ["cell.controller.layers.0.weight", [c.controller_size, c.input_size + c.memory_width * c.read_heads]],
    ["cell.controller.layers.0.bias", [c.controller_size]],
    ["cell.heads.linear.weight", [3 * c.read_heads + 3 * c.write_heads + c.memory_width * c.read_heads + 3 * c.memory_width * c.write_heads + c.read_heads * shiftOutputs + c.write_heads * shiftOutputs, c.controller_size]],
    ["cell.heads.linear.bias", [3 * c.read_heads + 3 * c.write_heads + c.memory_width * c.read_heads + 3 * c.memory_width * c.write_heads + c.read_heads * shiftOutputs + c.write_heads * shiftOutputs]],
    ["cell.output.weight", [c.output_size, c.controller_size + c.memory_width * c.read_heads]],
    ["cell.output.bias", [c.output_size]],
    ["start.memory", [c.memory_locations, c.memory_width]],
    ["start.read_logits", [c.read_heads, c.memory_locations]],
    ["start.write_logits", [c.write_heads, c.memory_locations]],
    ["start.reads", [c.read_heads, c.memory_width]],
  ],
  lstm: (c, shiftOutputs) => [
    ["cell.controller.layers.0.weight", [4 * c.controller_size, c.input_size + c.controller_size + c.memory_width * c.read_heads]],
    ["cell.controller.layers.0.bias", [4 * c.controller_size]],
    ...layersAbove(c, (layer) => [
      [`cell.controller.layers.${layer}.weight`, [4 * c.controller_size, 2 * c.controller_size]],
      [`cell.controller.layers.${layer}.bias`, [4 * c.controller_size]],
    ]),
    ["cell.heads.linear.weight", [3 * c.read_heads + 3 * c.write_heads + c.memory_width * c.read_heads + 3 * c.memory_width * c.write_heads + c.read_heads * shiftOutputs + c.write_heads * shiftOutputs, c.controller_size]],
    ["cell.heads.linear.bias", [3 * c.read_heads + 3 * c.write_heads + c.memory_width * c.read_heads + 3 * c.memory_width * c.write_heads + c.read_heads * shiftOutputs + c.write_heads * shiftOutputs]],
    ["cell.output.weight", [c.output_size, c.controller_size + c.memory_width * c.read_heads]],
    ["cell.output.bias", [c.output_size]],
    ["start.memory", [c.memory_locations, c.memory_width]],
    ["start.read_logits", [c.read_heads, c.memory_locations]],
    ["start.write_logits", [c.write_heads, c.memory_locations]],
    ["start.reads", [c.read_heads, c.memory_width]],
    ["start.hidden", [c.controller_layers, c.controller_size]],
    ["start.cell", [c.controller_layers, c.controller_size]],
  ],
};

/**
 * Names of all arrays of a trace, and their shapes after time and batch, in the engine's order.
 * @type {(c: NTMConfig) => Shapes}
 */
export const traceArrays = (c) => [
  ["outputs", [c.output_size]],
  ["hidden", [c.controller_size]],
  ["reads", [c.read_heads, c.memory_width]],
  ["erases", [c.write_heads, c.memory_width]],
  ["adds", [c.write_heads, c.memory_width]],
  ["memory", [c.memory_locations, c.memory_width]],
  ["read_keys", [c.read_heads, c.memory_width]],
  ["read_strengths", [c.read_heads]],
  ["read_gates", [c.read_heads]],
  ["read_shifts", [c.read_heads, c.shifts.length]],
  ["read_sharpness", [c.read_heads]],
  ["read_content", [c.read_heads, c.memory_locations]],
  ["read_gated", [c.read_heads, c.memory_locations]],
  ["read_shifted", [c.read_heads, c.memory_locations]],
  ["read_weightings", [c.read_heads, c.memory_locations]],
  ["write_keys", [c.write_heads, c.memory_width]],
  ["write_strengths", [c.write_heads]],
  ["write_gates", [c.write_heads]],
  ["write_shifts", [c.write_heads, c.shifts.length]],
  ["write_sharpness", [c.write_heads]],
  ["write_content", [c.write_heads, c.memory_locations]],
  ["write_gated", [c.write_heads, c.memory_locations]],
  ["write_shifted", [c.write_heads, c.memory_locations]],
  ["write_weightings", [c.write_heads, c.memory_locations]],
];

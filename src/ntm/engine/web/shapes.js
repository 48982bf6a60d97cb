/** What follows from a network's config: which arrays it has, and their shapes. */

/**
 * The fields of Python's NTMConfig that decide how a network runs.
 * @typedef {object} Config
 * @property {number} input_size
 * @property {number} output_size
 * @property {"feedforward" | "lstm"} controller
 * @property {number} controller_size
 * @property {number} controller_layers
 * @property {number} memory_locations
 * @property {number} memory_width
 * @property {number} read_heads
 * @property {number} write_heads
 * @property {number[]} shifts
 * @property {"softmax" | "scalar"} shift_mode
 */

const SIZES = /** @type {const} */ ([
  "input_size", "output_size", "controller_size", "controller_layers",
  "memory_locations", "memory_width", "read_heads", "write_heads",
]);

/**
 * Refuse what the kernels would read wrongly.
 * @param {Config} config
 */
export function requireConfig(config) {
  for (const name of SIZES)
    if (!Number.isInteger(config[name]) || config[name] < 1)
      throw new RangeError(`${name} must be a whole number of at least 1, got ${config[name]}.`);
  requireChoice("controller", config.controller, ["feedforward", "lstm"]);
  requireChoice("shift_mode", config.shift_mode, ["softmax", "scalar"]);
  if (config.controller === "feedforward" && config.controller_layers !== 1)
    throw new RangeError("controller_layers must be 1 for a feedforward controller.");
  if (!config.shifts.length || !config.shifts.every(Number.isInteger))
    throw new RangeError(`shifts must be whole numbers, at least one, got ${config.shifts}.`);
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
  const lstm = c.controller === "lstm";
  const [units, locations, width] = [c.controller_size, c.memory_locations, c.memory_width];
  const reads = c.read_heads * width;
  const shifts = c.shift_mode === "scalar" ? 1 : c.shifts.length;
  const raw = reads + 3 * c.write_heads * width + (c.read_heads + c.write_heads) * (3 + shifts);
  const controller = Array.from({ length: c.controller_layers }, (_, layer) => {
    const below = layer === 0 ? c.input_size + reads : units;
    return linear(`cell.controller.layers.${layer}`, lstm ? 4 * units : units, below + (lstm ? units : 0));
  });
  return Object.fromEntries([
    ...controller.flat(),
    ...linear("cell.heads.linear", raw, units),
    ...linear("cell.output", c.output_size, units + reads),
    ["start.memory", [locations, width]],
    ["start.read_logits", [c.read_heads, locations]],
    ["start.write_logits", [c.write_heads, locations]],
    ["start.reads", [c.read_heads, width]],
    ...(lstm ? ["hidden", "cell"] : []).map((name) => [`start.${name}`, [c.controller_layers, units]]),
  ]);
}

/**
 * @param {string} name
 * @param {number} outputs
 * @param {number} inputs
 * @returns {[string, number[]][]}
 */
function linear(name, outputs, inputs) {
  return [
    [`${name}.weight`, [outputs, inputs]],
    [`${name}.bias`, [outputs]],
  ];
}

/**
 * The shapes of a trace's arrays behind time and batch, in the order of the module's.
 * @param {Config} c
 * @returns {Record<string, number[]>}
 */
export function traceShapes(c) {
  const [reads, writes] = [c.read_heads, c.write_heads];
  const [locations, width] = [c.memory_locations, c.memory_width];
  const heads = [["read", reads], ["write", writes]].flatMap(([kind, number]) => [
    [`${kind}_keys`, [number, width]],
    [`${kind}_strengths`, [number]],
    [`${kind}_gates`, [number]],
    [`${kind}_shifts`, [number, c.shifts.length]],
    [`${kind}_sharpness`, [number]],
    [`${kind}_content`, [number, locations]],
    [`${kind}_gated`, [number, locations]],
    [`${kind}_shifted`, [number, locations]],
    [`${kind}_weightings`, [number, locations]],
  ]);
  return Object.fromEntries([
    ["outputs", [c.output_size]],
    ["hidden", [c.controller_size]],
    ["reads", [reads, width]],
    ["erases", [writes, width]],
    ["adds", [writes, width]],
    ["memory", [locations, width]],
    ...heads,
  ]);
}

/** @param {number[]} shape */
export function count(shape) {
  return shape.reduce((product, size) => product * size, 1);
}

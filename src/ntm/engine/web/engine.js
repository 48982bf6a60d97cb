/**
 * Neural Turing Machines in JavaScript: the native engine's kernels as WebAssembly.
 *
 *     const engine = await loadEngine(new URL("engine.wasm", import.meta.url));
 *     const network = engine.network(config);
 *     network.load(tensors);
 *     const { outputs, read_weightings } = network.trace({ steps, sequences, inputs });
 *     const bits = network.train({ steps, sequences, inputs, targets, mask }, { learning_rate: 1e-4 });
 *
 * It runs wherever WebAssembly with SIMD does: in a page, a worker or node. Calls block until they
 * are done, so a page should train in a worker. Names of settings, parameters and traces are the
 * same as in the Python package. Arrays are float32 and row-major.
 */

import { CONTROLLERS, PAPER, RMSPROP, SMALLEST_BLOCK } from "./facts.js";
import { count, parameterShapes, requireConfig, traceShapes } from "./shapes.js";

/** @import { OptimiserSettings } from "./python.d.ts" */
/** @import { Config } from "./shapes.js" */

/**
 * Exports of the module; see web.cpp. Numbers are sizes, or addresses in the module's memory.
 * @typedef {object} Exports
 * @property {WebAssembly.Memory} memory
 * @property {() => void} _initialize
 * @property {(bytes: number) => number} malloc
 * @property {(address: number) => void} free
 * @property {(...sizes: (number | boolean)[]) => number} create
 * @property {(network: number) => void} destroy
 * @property {(network: number, i: number) => number} parameter_data
 * @property {(network: number, i: number) => number} parameter_count
 * @property {(network: number, steps: number, sequences: number, ...arrays: number[]) => void} trace
 * @property {(network: number, i: number) => number} traced_data
 * @property {(network: number, symbols: boolean, steps: number, sequences: number, ...arrays: number[]) => number} differentiate
 * @property {(rate: number, every: number, after: number, sequences: number) => number} rate_after
 * @property {(network: number, limit: number) => void} clip_backward
 * @property {(network: number) => number} optimiser_settings
 * @property {(network: number) => number} update
 */

/**
 * Sequences, (steps, sequences, channels), with their lengths if they differ.
 * @typedef {object} Inputs
 * @property {number} steps
 * @property {number} sequences
 * @property {ArrayLike<number>} inputs
 * @property {ArrayLike<number>} [lengths]
 */

/**
 * Sequences with targets, which are bits, or one symbol per step.
 * @typedef {Inputs & { targets: ArrayLike<number>, mask: ArrayLike<number>, symbols?: boolean }} Problems
 */

/**
 * Settings of Graves' RMSProp, as in Python's OptimiserSettings, with the same defaults.
 * @typedef {Partial<OptimiserSettings>} Optimiser
 */

/** @typedef {{ shape: number[], values: Float32Array }} Tensor */

export { PAPER };

/**
 * Load the engine from the bytes of engine.wasm, or from their address.
 * @param {URL | string | BufferSource} source
 * @returns {Promise<Engine>}
 */
export async function loadEngine(source) {
  const isAddress = source instanceof URL || typeof source === "string";
  const bytes = isAddress ? await (await fetch(source)).arrayBuffer() : source;
  const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: NO_FILES });
  const exports = /** @type {Exports} */ (/** @type {unknown} */ (instance.exports));
  exports._initialize();
  return new Engine(exports);
}

/** File functions that the C library imports. They always fail; the kernels use no files. */
const NO_FILES = new Proxy({}, { get: () => () => 8 /* no such file */ });

export class Engine {
  #exports;

  /** @param {Exports} exports */
  constructor(exports) {
    this.#exports = exports;
  }

  /**
   * A network whose parameters are all zero; `load` sets them.
   * @param {Config} config
   * @returns {Network}
   */
  network(config) {
    return new Network(this.#exports, config);
  }
}

export class Network {
  #exports;
  #address;
  #seen = 0;

  /**
   * @param {Exports} exports
   * @param {Config} config
   */
  constructor(exports, config) {
    requireConfig(config);
    this.#exports = exports;
    this.config = config;
    /** Every parameter's shape by name, in the order of Python's `state_dict`. */
    this.shapes = parameterShapes(config);
    this.#address = withArguments(exports, [Int32Array.from(config.shifts)], ([shifts]) =>
      exports.create(...sizesOf(config), shifts, config.shifts.length, config.shift_mode === "scalar"),
    );
  }

  /** Free the memory; the network cannot be used afterwards. */
  free() {
    this.#exports.destroy(this.#address);
    this.#address = 0;
  }

  /**
   * A copy of every parameter, by name.
   * @returns {Record<string, Tensor>}
   */
  parameters() {
    const named = Object.entries(this.shapes);
    return Object.fromEntries(
      named.map(([name, shape], i) => [name, { shape, values: this.#parameter(i).slice() }]),
    );
  }

  /**
   * Set all parameters.
   * @param {Record<string, { values: ArrayLike<number> }>} tensors by name
   */
  load(tensors) {
    Object.entries(this.shapes).forEach(([name, shape], i) => {
      const values = tensors[name]?.values;
      requireCount(name, values, shape);
      this.#parameter(i).set(values);
    });
  }

  /**
   * Run sequences from the learned start; return the logits and the trace of every head, with the
   * names of Python's Trace.
   * @param {Inputs} batch
   * @returns {Record<string, Tensor>}
   */
  trace(batch) {
    const { steps, sequences } = batch;
    this.#withBatch(batch, {}, (lengths, inputs) =>
      this.#exports.trace(this.#address, steps, sequences, lengths, inputs),
    );
    const shapes = Object.entries(traceShapes(this.config));
    return Object.fromEntries(
      shapes.map(([name, rest], i) => {
        const shape = [steps, sequences, ...rest];
        const at = this.#exports.traced_data(this.#address, i - 1); // outputs have number -1
        return [name, { shape, values: this.#floats(at, count(shape)).slice() }];
      }),
    );
  }

  /**
   * Do one training step. The loss is the mean cross-entropy per sequence, in nats.
   * @param {Problems} batch
   * @param {Optimiser} [settings]
   * @returns {number} the mean cost of these sequences before the step, in bits
   */
  train(batch, settings = {}) {
    const optimiser = { ...PAPER, ...settings };
    const { steps, sequences, symbols = false } = batch;
    // As in Python, schedules advance once per block.
    const block = sequences * Math.ceil(SMALLEST_BLOCK / sequences);
    const begun = this.#seen - (this.#seen % block);
    this.#clipBackward(optimiser, sequences, begun);
    const channels = { targets: this.config.output_size, mask: 1 };
    const nats = this.#withBatch(batch, channels, (...arrays) =>
      this.#exports.differentiate(this.#address, symbols, steps, sequences, ...arrays),
    );
    if (!Number.isFinite(nats)) throw new RangeError(`The loss is ${nats}.`);
    this.#update(optimiser, begun);
    this.#seen += sequences;
    return nats / Math.LN2;
  }

  /**
   * @param {Required<Optimiser>} optimiser
   * @param {number} begun sequences before this block
   */
  #update(optimiser, begun) {
    const exports = this.#exports;
    const { learning_rate, halve_every, halve_after } = optimiser;
    const rate = exports.rate_after(learning_rate, halve_every, halve_after, begun);
    const others = RMSPROP.map((name) => optimiser[name] ?? Infinity);
    const at = exports.optimiser_settings(this.#address);
    new Float64Array(exports.memory.buffer, at, 1 + others.length).set([rate, ...others]);
    if (!exports.update(this.#address))
      throw new RangeError("A gradient is not finite; the parameters are unchanged.");
  }

  /**
   * Set the bound for backward gradients. It is divided by the batch size, as the loss is a mean.
   * @param {Required<Optimiser>} optimiser
   * @param {number} sequences in a batch
   * @param {number} begun
   */
  #clipBackward({ backward_clip, backward_clip_until }, sequences, begun) {
    const clips = backward_clip !== null && begun < (backward_clip_until ?? Infinity);
    this.#exports.clip_backward(this.#address, clips ? backward_clip / sequences : Infinity);
  }

  /**
   * Call with the addresses of the batch's arrays: lengths, inputs, and the arrays in `channels`.
   * @template Result
   * @param {Inputs | Problems} batch
   * @param {Record<string, number>} channels
   * @param {(...addresses: number[]) => Result} call
   * @returns {Result}
   */
  #withBatch(batch, channels, call) {
    const { steps, sequences, lengths } = batch;
    const wanted = { inputs: this.config.input_size, ...channels };
    const arrays = Object.entries(wanted).map(([name, size]) => {
      const part = /** @type {"inputs" | "targets" | "mask"} */ (name);
      const values = /** @type {Problems} */ (batch)[part];
      requireCount(name, values, [steps, sequences, size]);
      return Float32Array.from(values);
    });
    const ends = lengths ? Array.from(lengths) : Array(sequences).fill(steps);
    requireLengths(ends, steps, sequences);
    const all = [BigInt64Array.from(ends.map(BigInt)), ...arrays];
    return withArguments(this.#exports, all, (addresses) => call(...addresses));
  }

  /** @param {number} i */
  #parameter(i) {
    const { parameter_data, parameter_count } = this.#exports;
    return this.#floats(parameter_data(this.#address, i), parameter_count(this.#address, i));
  }

  /**
   * A view that is valid until the next call: the module's memory may move when it grows.
   * @param {number} address
   * @param {number} length
   */
  #floats(address, length) {
    return new Float32Array(this.#exports.memory.buffer, address, length);
  }
}

/**
 * Copy arrays into the module for the duration of a call.
 * @template Result
 * @param {Exports} exports
 * @param {(Float32Array | Int32Array | BigInt64Array)[]} arrays
 * @param {(addresses: number[]) => Result} call
 * @returns {Result}
 */
function withArguments(exports, arrays, call) {
  const addresses = arrays.map((array) => exports.malloc(Math.max(array.byteLength, 1)));
  try {
    if (addresses.includes(0)) throw new RangeError("The batch does not fit into memory.");
    arrays.forEach((array, i) => {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      new Uint8Array(exports.memory.buffer).set(bytes, addresses[i]);
    });
    return call(addresses);
  } finally {
    addresses.forEach((address) => exports.free(address));
  }
}

/** @param {Config} c */
function sizesOf(c) {
  return [
    CONTROLLERS.indexOf(c.controller), c.input_size, c.output_size, c.controller_size,
    c.controller_layers, c.memory_locations, c.memory_width, c.read_heads, c.write_heads,
  ];
}

/**
 * @param {string} name
 * @param {ArrayLike<number> | undefined} values
 * @param {number[]} shape
 */
function requireCount(name, values, shape) {
  if (values?.length === count(shape)) return;
  const found = values === undefined ? "nothing" : `${values.length} numbers`;
  throw new RangeError(`${name} must have the shape (${shape.join(", ")}), got ${found}.`);
}

/**
 * @param {number[]} lengths
 * @param {number} steps
 * @param {number} sequences
 */
function requireLengths(lengths, steps, sequences) {
  requireCount("lengths", lengths, [sequences]);
  if (lengths.every((length) => Number.isInteger(length) && 0 <= length && length <= steps)) return;
  throw new RangeError(`lengths must be whole numbers from 0 to ${steps}, got ${lengths}.`);
}

/** Weights of networks: reading and writing safetensors files, and enlarging memories. */

import { count } from "../../engine/web/shapes.js";

/** @import { NTMConfig } from "../../engine/web/python.d.ts" */
/** @import { Tensors } from "./types.d.ts" */

/** @type {Map<unknown, { size: number, at: (view: DataView, place: number) => number }>} */
const READERS = new Map([
  ["F16", { size: 2, at: (view, place) => halfToNumber(view.getUint16(place, true)) }],
  ["BF16", { size: 2, at: (view, place) => bfloatToNumber(view.getUint16(place, true)) }],
  ["F32", { size: 4, at: (view, place) => view.getFloat32(place, true) }],
  ["F64", { size: 8, at: (view, place) => view.getFloat64(place, true) }],
]);

/**
 * Read the bytes of a file as { tensors: {name: {shape, values}}, metadata }.
 * @param {ArrayBuffer} buffer
 * @returns {{ tensors: Tensors, metadata: Record<string, string> }}
 */
export function readSafetensors(buffer) {
  const view = new DataView(buffer);
  const length = buffer.byteLength < 8 ? -1 : Number(view.getBigUint64(0, true));
  if (length < 2 || length > buffer.byteLength - 8) throw new Error("It is not a safetensors file.");
  const header = headerOf(new Uint8Array(buffer, 8, length));
  const { __metadata__: metadata, ...entries } = header;
  const named = Object.entries(entries).map(([name, entry]) =>
    [name, tensorOf(name, entry, view, 8 + length)]);
  return { tensors: Object.fromEntries(named), metadata: metadata ?? {} };
}

/**
 * @param {Uint8Array} bytes
 * @returns {Record<string, any>} whatever somebody wrote
 */
function headerOf(bytes) {
  try {
    const header = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (header && typeof header === "object" && !Array.isArray(header)) return header;
  } catch {
    // the error below covers this
  }
  throw new Error("It is not a safetensors file.");
}

/**
 * @param {string} name
 * @param {{ dtype?: string, shape?: number[], data_offsets?: number[] } | null} entry
 * @param {DataView} view @param {number} start
 */
function tensorOf(name, entry, view, start) {
  const { dtype, shape, data_offsets: offsets } = entry ?? {};
  const reader = READERS.get(dtype);
  if (!reader) throw new Error(`Its ${name} is of type ${dtype}; it must be floating-point.`);
  const [from, to] = Array.isArray(offsets) ? offsets : [NaN, NaN];
  const isSize = (/** @type {number} */ number) => Number.isInteger(number) && number >= 0;
  const whole = Array.isArray(shape) && shape.every(isSize) && isSize(from) && isSize(to) &&
    to - from === count(shape) * reader.size && start + to <= view.byteLength;
  if (!whole) throw new Error(`Its ${name} is cut off or damaged.`);
  /** @param {unknown} _ @param {number} i */
  const at = (_, i) => reader.at(view, start + from + i * reader.size);
  return { shape, values: Float32Array.from({ length: count(shape) }, at) };
}

/** @param {number} bits */
function halfToNumber(bits) {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/** @param {number} bits */
function bfloatToNumber(bits) {
  return new Float32Array(new Uint32Array([bits << 16]).buffer)[0];
}

/**
 * The bytes of a file with these tensors, as float32.
 * @param {Tensors} tensors @param {Record<string, string>} metadata
 */
export function writeSafetensors(tensors, metadata) {
  let end = 0;
  const entries = Object.entries(tensors).map(([name, { shape, values }]) => {
    const offsets = [end, (end += 4 * values.length)];
    return { name, values, entry: { dtype: "F32", shape, data_offsets: offsets } };
  });
  const named = Object.fromEntries(entries.map(({ name, entry }) => [name, entry]));
  const header = JSON.stringify({ __metadata__: metadata, ...named });
  const text = new TextEncoder().encode(header);
  const padded = Math.ceil(text.length / 8) * 8;
  const bytes = new Uint8Array(8 + padded + end).fill(32, 8, 8 + padded);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(padded), true);
  bytes.set(text, 8);
  const floats = new Float32Array(bytes.buffer, 8 + padded);
  for (const { values, entry } of entries) floats.set(values, entry.data_offsets[0] / 4);
  return bytes;
}

/**
 * The same network with more memory, like Python's StartState.extended.
 * @param {Tensors} tensors @param {NTMConfig} config @param {number} locations
 * @returns {Tensors}
 */
export function enlarged(tensors, config, locations) {
  const added = locations - config.memory_locations;
  if (added === 0) return tensors;
  const width = config.memory_width;
  const memory = tensors["start.memory"].values;
  const mean = Array.from({ length: width }, (_, column) => {
    let sum = 0;
    for (let i = column; i < memory.length; i += width) sum += memory[i];
    return sum / config.memory_locations;
  });
  const rows = Array.from({ length: added }, () => mean).flat();
  /** @type {Tensors} */
  const larger = {
    ...tensors, "start.memory": { shape: [locations, width], values: joined(memory, rows) },
  };
  for (const name of ["start.read_logits", "start.write_logits"]) {
    const { shape: [heads], values } = tensors[name];
    const logits = longerLogits(values, config.memory_locations, added);
    larger[name] = { shape: [heads, locations], values: logits };
  }
  return larger;
}

/**
 * Logits for more locations: all new ones together weigh as much as the least likely old one.
 * @param {Float32Array} logits @param {number} locations @param {number} added
 */
function longerLogits(logits, locations, added) {
  const heads = Array.from({ length: logits.length / locations }, (_, head) => {
    const own = logits.subarray(head * locations, (head + 1) * locations);
    return joined(own, Array(added).fill(Math.min(...own) - Math.log(added)));
  });
  return heads.reduce(joined);
}

/** @param {Iterable<number>} first @param {Iterable<number>} second */
function joined(first, second) {
  return Float32Array.from([...first, ...second]);
}

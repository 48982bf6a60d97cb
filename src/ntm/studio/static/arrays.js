/**
 * The arrays of a trace document: { shape, data }, where data is the base64 of little-endian
 * float32; or, from an engine in the page, { shape, values }.
 */

/** @import { DocumentArray, EncodedArray, Values } from "./types.d.ts" */

/**
 * @param {DocumentArray} array
 * @returns {Values}
 */
export function decodeArray(array) {
  if ("values" in array) return array;
  return { shape: array.shape, values: new Float32Array(bytesFromBase64(array.data).buffer) };
}

/**
 * @param {Values} array
 * @returns {EncodedArray}
 */
export function encodeArray({ shape, values }) {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const texts = [];
  // A call can take only a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 8192) {
    texts.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
  }
  return { shape, data: btoa(texts.join("")) };
}

/** @param {string} text */
function bytesFromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/**
 * A view of the part of an array at one index of its first axis.
 * @param {Values} array @param {number} index
 */
export function partAt(array, index) {
  const size = array.values.length / array.shape[0];
  return array.values.subarray(index * size, (index + 1) * size);
}

/**
 * The value of a matrix at a row and a column.
 * @param {Values} matrix @param {number} row @param {number} column
 */
export function valueIn(matrix, row, column) {
  return matrix.values[row * matrix.shape[1] + column];
}

/**
 * The index of the greatest value; the first of equal ones.
 * @param {ArrayLike<number>} values
 */
export function peakOf(values) {
  let peak = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[peak]) peak = i;
  return peak;
}

/**
 * The greatest finite magnitude, but at least `least`.
 * @param {Iterable<number>} values
 */
export function greatestMagnitude(values, least = 0) {
  let greatest = least;
  for (const value of values) {
    const magnitude = Math.abs(value);
    if (magnitude > greatest && magnitude < Infinity) greatest = magnitude;
  }
  return greatest;
}

/**
 * A number as text: four significant digits, no trailing zeros, no exponent for tiny numbers.
 * @param {number} value
 */
export function formatNumber(value) {
  if (!Number.isFinite(value)) return "not a number";
  if (Math.abs(value) < 5e-5) return "0";
  return String(Number(Math.abs(value) < 0.1 ? value.toFixed(4) : value.toPrecision(4)));
}

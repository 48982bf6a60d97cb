/** Problems in the server's format: their sizes, and texts for the address. */

/** @import { Network, Problem, Route } from "./types.d.ts" */
/** @import { FormPart, ProblemForm } from "./python.d.ts" */
/**
 * Conversion of a value of a problem to a text for an address, and back. Invalid texts are null.
 * @typedef {{ write: (value: any) => string, read: (text: string) => any }} Texts
 */

/**
 * The parts that have one entry for each step along an axis.
 * @param {Pick<ProblemForm, "parts">} form @param {string} axis
 */
export function listsAlong({ parts }, axis) {
  return parts.filter((part) => part.axis === axis && part.kind !== "choice");
}

/**
 * The size of a problem along an axis. An axis without a list is a number of the problem.
 * @param {Problem} problem @param {string} axis @param {Pick<ProblemForm, "parts">} form
 * @returns {number}
 */
export function sizeOf(problem, axis, form) {
  const [list] = listsAlong(form, axis);
  return list ? problem[list.name].length : problem[axis];
}

/**
 * The names of all values of a problem: its parts, and the axes without a list.
 * @param {ProblemForm} form
 */
function namesOf(form) {
  const numbers = Object.keys(form.sizes).filter((axis) => !listsAlong(form, axis).length);
  return [...form.parts.map(({ name }) => name), ...numbers];
}

/**
 * Whether the problems of a form are typed.
 * @param {Pick<ProblemForm, "parts">} form
 */
export function isTyped({ parts }) {
  return parts.length > 0 && parts.every(({ kind }) => kind === "text");
}

/**
 * Whether a drawing for one network also fits another.
 * @param {Network} network @param {Network} other
 */
export function isSameForm(network, other) {
  const partsOf = (/** @type {Network} */ { problem }) => JSON.stringify(problem.parts);
  // Networks of different files of examples know different symbols.
  if (isTyped(network.problem)) return network.id === other.id;
  return network.task === other.task && partsOf(network) === partsOf(other);
}

/** @type {Texts} */
const TEXT = { write: String, read: String };
/** @type {Texts} */
const NUMBER = { write: String, read: wholeFromText };
/** Hundredths. @type {Texts} */
const NUMBERS = {
  write: (numbers) => numbers.map((/** @type {number} */ number) => Math.round(number * 100)).join("."),
  read: (text) => text.split(".").map((part) => (/^-?\d{1,3}$/.test(part) ? Number(part) / 100 : NaN)),
};

/**
 * Bits are hexadecimal digits: of a whole row, of vectors, or of groups of vectors.
 * @type {((size: number) => Texts)[]}
 */
const BITS = [
  () => ({
    write: (bits) => `${bits.length}.${toHex(bits)}`,
    read: (text) => {
      const [, count, digits] = /^(\d{1,6})\.([0-9a-f]+)$/.exec(text) ?? [];
      return count ? fromHex(digits, Number(count)) : null;
    },
  }),
  (size) => ({ write: vectorsToText, read: (text) => vectorsFromText(text, size) }),
  (size) => ({
    write: (groups) => groups.map(vectorsToText).join("-"),
    read: (text) => whole(text.split("-").map((group) => vectorsFromText(group, size))),
  }),
];

/**
 * @param {ProblemForm} form @param {string} name
 * @returns {Texts}
 */
function textsOf({ parts }, name) {
  const part = parts.find((one) => one.name === name);
  if (part?.kind === "text") return TEXT;
  if (!part || part.kind === "choice") return NUMBER;
  return part.kind === "numbers" ? NUMBERS : BITS[part.shape.length](part.shape.at(-1) ?? 1);
}

/**
 * @param {Problem} problem @param {ProblemForm} form
 * @returns {Record<string, string>}
 */
export function problemToTexts(problem, form) {
  const texts = namesOf(form).map((name) => [name, textsOf(form, name).write(problem[name])]);
  return Object.fromEntries(texts);
}

/**
 * The problem that these texts describe, or null if they describe none of this form.
 * @param {Partial<Route>} texts @param {ProblemForm} form
 * @returns {Problem | null}
 */
export function problemFromTexts(texts, form) {
  /** @type {Problem} */
  const problem = {};
  for (const name of namesOf(form)) {
    const text = texts[name];
    problem[name] = text === undefined ? null : textsOf(form, name).read(text);
    if (problem[name] === null) return null;
  }
  return isOfForm(problem, form) ? problem : null;
}

/**
 * A message for texts that describe no problem of this form; empty if they do, or without texts.
 * @param {Partial<Route>} texts @param {ProblemForm} form
 */
export function complaintAbout(texts, form) {
  const some = namesOf(form).some((name) => texts[name]);
  if (!some || problemFromTexts(texts, form)) return "";
  return "The drawing in this address does not fit this network; another is shown.";
}

/** @param {Problem} problem @param {ProblemForm} form */
function isOfForm(problem, form) {
  const isFitting = (/** @type {FormPart} */ part) =>
    isPart(problem[part.name], part, sizeOf(problem, part.axis, form));
  return form.parts.every(isFitting) && Object.entries(form.sizes).every(([axis, { min, max }]) => {
    const size = sizeOf(problem, axis, form);
    return size >= min && size <= max;
  });
}

/** @param {any} value @param {FormPart} part @param {number} size */
function isPart(value, { kind, shape }, size) {
  if (kind === "text") return true;
  if (kind === "choice") return value <= size - 2;
  if (value.length !== size) return false;
  if (kind === "numbers") return value.every((/** @type {number} */ number) => Math.abs(number) <= 1);
  return shape.length < 2 || value.every((/** @type {unknown[]} */ group) => group.length === shape[0]);
}

/** @param {string} text */
function wholeFromText(text) {
  return /^\d{1,6}$/.test(text) ? Number(text) : NaN;
}

/** @param {number[][]} vectors */
function vectorsToText(vectors) {
  return vectors.map(toHex).join(".");
}

/**
 * Vectors of this many bits, or null.
 * @param {string} text @param {number} bits
 * @returns {number[][] | null}
 */
function vectorsFromText(text, bits) {
  return whole(text.split(".").map((part) => fromHex(part, bits)));
}

/**
 * A list, or null if any part is null.
 * @template Part
 * @param {(Part | null)[]} parts
 */
function whole(parts) {
  const there = parts.filter((part) => part !== null);
  return there.length === parts.length ? there : null;
}

/** @param {number[]} bits */
function toHex(bits) {
  const digits = [];
  for (let at = 0; at < bits.length; at += 4) {
    const [a, b = 0, c = 0, d = 0] = bits.slice(at, at + 4);
    digits.push((8 * a + 4 * b + 2 * c + d).toString(16));
  }
  return digits.join("");
}

/**
 * This many bits, or null if the number of digits does not fit.
 * @param {string} text @param {number} count
 */
function fromHex(text, count) {
  if (!/^[0-9a-f]+$/.test(text) || text.length !== Math.ceil(count / 4)) return null;
  const bits = [...text].flatMap((digit) => {
    const value = parseInt(digit, 16);
    return [8, 4, 2, 1].map((place) => (value & place ? 1 : 0));
  });
  return bits.slice(0, count);
}

/** Problems in the server's format: editing, undo, and texts for the address. */

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
function listsAlong({ parts }, axis) {
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

/**
 * A drawing that the user edits. Changing its size loses nothing: parts that a shorter problem
 * leaves out come back when the problem is made longer again.
 */
export class Sketch {
  /** @type {Map<string, unknown[]>} */
  #left = new Map(); // parts that were cut off, by the name of their list
  /** @type {string[]} */
  #past = [];
  /** @type {string[]} */
  #future = [];
  /** @type {string | undefined} */
  #last;

  /**
   * `form` has the parts of a problem; see the server's listing of networks. `memory` is the number of
   * memory locations, null for the trained number.
   * @param {Problem} problem @param {ProblemForm} form @param {number | null} [memory]
   */
  constructor(problem, form, memory = null) {
    this.form = form;
    this.problem = problem;
    this.memory = memory;
    this.replace(problem, memory);
    this.#past = [];
  }

  /**
   * Make the problem longer or shorter; new parts are random.
   * @param {string} axis @param {number} size
   */
  resize(axis, size) {
    const { problem, form } = this;
    const lists = listsAlong(form, axis);
    if (!lists.length) problem[axis] = size;
    for (const part of lists) {
      this.#fit(part.name, problem[part.name], size, (list) => anyEntry(part, list, form.context));
    }
    for (const { name, kind, axis: own } of form.parts) {
      if (kind === "choice" && own === axis) problem[name] = Math.min(problem[name], size - 2);
    }
  }

  /** Set all bits to zero, and all texts to nothing. */
  clear() {
    this.settle();
    for (const { name, kind } of this.form.parts) {
      if (kind === "bits") this.problem[name] = zeros(this.problem[name]);
      if (kind === "text") this.problem[name] = "";
    }
    this.#left.clear();
    this.settle();
  }

  /**
   * Replace the problem.
   * @param {Problem} problem @param {number | null} [memory]
   */
  replace(problem, memory = this.memory) {
    this.settle();
    this.problem = problem;
    this.memory = memory;
    // Round to the precision of the drawing.
    for (const { name, kind } of this.form.parts) {
      if (kind === "numbers") problem[name] = problem[name].map(hundredth);
    }
    this.#left.clear();
    this.settle();
  }

  /** End a step of editing; undo returns to this state. */
  settle() {
    const now = this.#now;
    if (now === this.#last) return;
    if (this.#last) this.#past.push(this.#last);
    this.#last = now;
    this.#future = [];
  }

  get #now() {
    return JSON.stringify([this.problem, this.memory]);
  }

  get canUndo() {
    return this.#past.length > 0 || this.#now !== this.#last;
  }

  get canRedo() {
    return this.#future.length > 0;
  }

  undo() {
    this.settle();
    this.#travel(this.#past, this.#future);
  }

  redo() {
    this.settle();
    this.#travel(this.#future, this.#past);
  }

  /** @param {string[]} from @param {string[]} to */
  #travel(from, to) {
    const next = from.pop();
    if (next === undefined) return;
    to.push(this.#last ?? this.#now);
    this.#last = next;
    [this.problem, this.memory] = JSON.parse(next);
    this.#left.clear();
  }

  /**
   * @template Part
   * @param {string} name @param {Part[]} list @param {number} size @param {(list: Part[]) => Part} makeOne
   */
  #fit(name, list, size, makeOne) {
    const left = /** @type {Part[]} */ (this.#left.get(name) ?? []);
    this.#left.set(name, left);
    left.unshift(...list.splice(size));
    list.push(...left.splice(0, size - list.length));
    while (list.length < size) list.push(makeOne(list));
  }
}

/**
 * A random entry of a list: a number, or bits of the shape of an entry.
 * @param {FormPart} part @param {any[]} list @param {number} context
 */
function anyEntry({ kind, shape }, list, context) {
  if (kind === "numbers") return hundredth(Math.random() * 2 - 1);
  return shape.length ? randomBits(shape) : likelyBit(list, context);
}

/**
 * The same lists with zeros.
 * @param {any} values
 * @returns {any}
 */
function zeros(values) {
  return Array.isArray(values) ? values.map(zeros) : 0;
}

/**
 * The next bit, drawn as the source of the earlier bits would draw it. Each context has its own
 * chance with the arcsine law as prior, so a one follows with the chance (ones + 1/2) / (all + 1).
 * @param {number[]} bits @param {number} context
 */
function likelyBit(bits, context) {
  const key = bits.slice(bits.length - context).join("");
  let [ones, all] = [0, 0];
  for (let i = context; i < bits.length && bits.length > context; i++) {
    if (bits.slice(i - context, i).join("") !== key) continue;
    ones += bits[i];
    all += 1;
  }
  return Number(Math.random() < (ones + 0.5) / (all + 1));
}

/** @param {number} value */
function hundredth(value) {
  return Math.round(value * 100) / 100;
}

/**
 * @param {number[]} shape
 * @returns {any}
 */
function randomBits([count, ...rest]) {
  const one = () => (rest.length ? randomBits(rest) : Math.round(Math.random()));
  return Array.from({ length: count }, one);
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

/** Problems in the server's format: editing, undo, and texts for the address. */

/** @import { Network, Problem, Route } from "./types.d.ts" */
/** @import { ProblemForm } from "./python.d.ts" */
/**
 * @typedef {{ [Name in keyof Problem]-?: {
 *   write: (part: NonNullable<Problem[Name]>) => string,
 *   read: (text: string, form: ProblemForm) => NonNullable<Problem[Name]> | null } }} Texts
 */

/** @param {Problem} problem @param {string} axis */
export function sizeOf(problem, axis) {
  const { repeats = 0, items = [], vectors, bits = [] } = problem;
  if (axis === "repeats") return repeats;
  return (axis === "items" ? items : (vectors ?? bits)).length;
}

/**
 * Whether a drawing for one network also fits another.
 * @param {Network} network @param {Network} other
 */
export function isSameForm(network, other) {
  const { bits, item_length: itemLength } = network.problem;
  return network.task === other.task && bits === other.problem.bits &&
    itemLength === other.problem.item_length;
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
   * `form` has the bits per vector; see the server's listing of networks. `memory` is the number of
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
    const { problem, form: { bits, item_length: itemLength, context } } = this;
    if (axis === "repeats") problem.repeats = size;
    else if (axis === "items") {
      const anyItem = () => Array.from({ length: itemLength }, () => randomBits(bits));
      this.#fit("items", problem.items, size, anyItem);
      problem.query = Math.min(problem.query ?? 0, size - 2);
    } else {
      this.#fit("bits", problem.bits, size, (list) => likelyBit(list, context));
      this.#fit("vectors", problem.vectors, size, () => randomBits(bits));
      this.#fit("priorities", problem.priorities, size, () => hundredth(Math.random() * 2 - 1));
    }
  }

  /** Set all bits to zero. */
  clear() {
    this.settle();
    const { items, vectors, bits = [] } = this.problem;
    for (const list of items?.flat() ?? vectors ?? [bits]) list.fill(0);
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
    if (problem.priorities) problem.priorities = problem.priorities.map(hundredth);
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
   * @param {string} name @param {Part[] | undefined} list @param {number} size @param {(list: Part[]) => Part} makeOne
   */
  #fit(name, list, size, makeOne) {
    if (!list) return;
    const left = /** @type {Part[]} */ (this.#left.get(name) ?? []);
    this.#left.set(name, left);
    left.unshift(...list.splice(size));
    list.push(...left.splice(0, size - list.length));
    while (list.length < size) list.push(makeOne(list));
  }
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

/** @param {number} count */
function randomBits(count) {
  return Array.from({ length: count }, () => Math.round(Math.random()));
}

/**
 * Conversion of the parts of a problem to texts for an address, and back: bits as hexadecimal
 * digits, priorities as hundredths. Invalid texts are read as null.
 * @type {Texts}
 */
const TEXTS = {
  vectors: { write: vectorsToText, read: (text, { bits }) => vectorsFromText(text, bits) },
  repeats: { write: String, read: wholeFromText },
  items: {
    write: (items) => items.map(vectorsToText).join("-"),
    read: (text, { bits }) => whole(text.split("-").map((item) => vectorsFromText(item, bits))),
  },
  query: { write: String, read: wholeFromText },
  bits: {
    write: (bits) => `${bits.length}.${toHex(bits)}`,
    read: (text) => {
      const [, count, digits] = /^(\d{1,6})\.([0-9a-f]+)$/.exec(text) ?? [];
      return count ? fromHex(digits, Number(count)) : null;
    },
  },
  priorities: {
    write: (priorities) => priorities.map((priority) => Math.round(priority * 100)).join("."),
    read: (text) => text.split(".").map((part) => (/^-?\d{1,3}$/.test(part) ? Number(part) / 100 : NaN)),
  },
};

/**
 * @param {Problem} problem
 * @returns {Record<string, string>}
 */
export function problemToTexts(problem) {
  const parts = /** @type {(keyof Problem)[]} */ (Object.keys(problem));
  return Object.fromEntries(parts.map((name) => [name, textOf(problem, name)]));
}

/**
 * @template {keyof Problem} Name
 * @param {Problem} problem @param {Name} name
 */
function textOf(problem, name) {
  const part = problem[name];
  const { write } = /** @type {{ write: (part: unknown) => string }} */ (TEXTS[name]);
  return part === undefined ? "" : write(part);
}

/**
 * The problem that these texts describe, or null if they describe none of this form.
 * @param {Partial<Route>} texts @param {ProblemForm} form
 * @returns {Problem | null}
 */
export function problemFromTexts(texts, form) {
  /** @type {Record<string, unknown>} */
  const problem = {};
  for (const name of /** @type {(keyof Problem)[]} */ (form.fields)) {
    const text = texts[name];
    problem[name] = text ? TEXTS[name].read(text, form) : null;
    if (problem[name] === null) return null;
  }
  return isOfForm(problem, form) ? problem : null;
}

/**
 * A message for texts that describe no problem of this form; empty if they do, or without texts.
 * @param {Partial<Route>} texts @param {ProblemForm} form
 */
export function complaintAbout(texts, form) {
  const some = form.fields.some((name) => texts[name]);
  if (!some || problemFromTexts(texts, form)) return "";
  return "The drawing in this address does not fit this network; another is shown.";
}

/** @param {Problem} problem @param {ProblemForm} form */
function isOfForm(problem, { item_length: itemLength, sizes }) {
  const { items = [], vectors = [], priorities = [], query = 0 } = problem;
  if (items.some((item) => item.length !== itemLength)) return false;
  if (!(query <= Math.max(0, items.length - 2))) return false;
  if (problem.priorities && priorities.length !== vectors.length) return false;
  if (!priorities.every((priority) => Math.abs(priority) <= 1)) return false;
  return Object.entries(sizes).every(([axis, { min, max }]) => {
    const size = sizeOf(problem, axis);
    return size >= min && size <= max;
  });
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

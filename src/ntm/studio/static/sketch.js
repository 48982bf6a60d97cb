/** A problem that the user edits, with undo. */

import { listsAlong } from "./problems.js";

/** @import { Problem } from "./types.d.ts" */
/** @import { FormPart, ProblemForm } from "./python.d.ts" */

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
 * The change that a key asks for. Fields with text have their own undo.
 * @param {KeyboardEvent} event
 * @returns {"undo" | "redo" | null}
 */
export function historyKey({ ctrlKey, metaKey, shiftKey, key, target }) {
  const letter = ctrlKey || metaKey ? key.toLowerCase() : "";
  if (target instanceof Element && target.closest("input:not([type=range]), textarea")) return null;
  if (letter === "y") return "redo";
  if (letter !== "z") return null;
  return shiftKey ? "redo" : "undo";
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

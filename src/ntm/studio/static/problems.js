/** Problems as the server takes them, changed the way a person wants them changed. */

export function sizeOf(problem, axis) {
  if (axis === "repeats") return problem.repeats;
  if (axis === "items") return problem.items.length;
  return (problem.vectors ?? problem.bits).length;
}

/** Whether what was drawn for one network can be shown to another. */
export function isSameForm(network, other) {
  const { bits, item_length: itemLength } = network.problem;
  return network.task === other.task && bits === other.problem.bits &&
    itemLength === other.problem.item_length;
}

/**
 * A drawing that a person changes. Nothing they drew is lost while they change its size: what a
 * shorter problem leaves out comes back when it is made longer again.
 */
export class Sketch {
  #left = new Map(); // what was cut off, by the list it was cut from
  #past = [];
  #future = [];
  #last;

  /**
   * `form` says how many bits a vector has; see the server's listing of networks. `memory` is how
   * many locations the network is to have for it, null for as many as in training.
   */
  constructor(problem, form, memory = null) {
    this.form = form;
    this.replace(problem, memory);
    this.#past = [];
  }

  /** Make the problem longer or shorter; what nobody ever drew is random. */
  resize(axis, size) {
    const { problem, form: { bits, item_length: itemLength, context } } = this;
    if (axis === "repeats") problem.repeats = size;
    else if (axis === "items") {
      this.#fit("items", size, () => Array.from({ length: itemLength }, () => randomBits(bits)));
      problem.query = Math.min(problem.query, size - 2);
    } else if (problem.bits) this.#fit("bits", size, (list) => likelyBit(list, context));
    else {
      this.#fit("vectors", size, () => randomBits(bits));
      const anyPriority = () => hundredth(Math.random() * 2 - 1);
      if (problem.priorities) this.#fit("priorities", size, anyPriority);
    }
  }

  /** Set all bits to zero. */
  clear() {
    this.settle();
    const { items, vectors, bits } = this.problem;
    for (const list of items?.flat() ?? vectors ?? [bits]) list.fill(0);
    this.#left.clear();
    this.settle();
  }

  /** Put another problem in its place. */
  replace(problem, memory = this.memory) {
    this.settle();
    this.problem = problem;
    this.memory = memory;
    // As fine as they can be drawn.
    if (problem.priorities) problem.priorities = problem.priorities.map(hundredth);
    this.#left.clear();
    this.settle();
  }

  /** A step of editing has come to its end: this is what undo comes back to. */
  settle() {
    const now = this.#now;
    if (now === this.#last || !this.problem) return;
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

  #travel(from, to) {
    if (from.length === 0) return;
    to.push(this.#last);
    this.#last = from.pop();
    [this.problem, this.memory] = JSON.parse(this.#last);
    this.#left.clear();
  }

  #fit(name, size, makeOne) {
    const list = this.problem[name];
    const left = this.#left.get(name) ?? [];
    this.#left.set(name, left);
    while (list.length > size) left.unshift(list.pop());
    while (list.length < size) list.push(left.length ? left.shift() : makeOne(list));
  }
}

/**
 * A bit as the source of the bits before would go on: each context has a chance of its own, whose
 * prior is the arcsine law, so a one follows with the chance (ones + 1/2) / (all + 1).
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

function hundredth(value) {
  return Math.round(value * 100) / 100;
}

function randomBits(count) {
  return Array.from({ length: count }, () => Math.round(Math.random()));
}

/**
 * The parts of a problem as texts for an address, and back: bits as hexadecimal digits, priorities
 * as hundredths. What makes no sense is read as null.
 */
const TEXTS = {
  vectors: { write: vectorsToText, read: (text, { bits }) => vectorsFromText(text, bits) },
  repeats: { write: String, read: wholeFromText },
  items: {
    write: (items) => items.map(vectorsToText).join("-"),
    read: (text, { bits }) => text.split("-").map((item) => vectorsFromText(item, bits)),
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
    read: (text) => text.split(".").map((part) => (/^-?\d{1,3}$/.test(part) ? part / 100 : NaN)),
  },
};

export function problemToTexts(problem) {
  const texts = Object.entries(problem).map(([name, part]) => [name, TEXTS[name].write(part)]);
  return Object.fromEntries(texts);
}

/** The problem that such texts mean, or null where they mean none of this form. */
export function problemFromTexts(texts, form) {
  if (form.fields.some((name) => !texts[name])) return null;
  const parts = form.fields.map((name) => [name, TEXTS[name].read(texts[name], form)]);
  const problem = Object.fromEntries(parts);
  return isOfForm(problem, form) ? problem : null;
}

/** What to say of texts that are there and mean no problem of this form; nothing of others. */
export function complaintAbout(texts, form) {
  const some = form.fields.some((name) => texts[name]);
  if (!some || problemFromTexts(texts, form)) return "";
  return "The drawing in this address is not one that this network takes; another is shown.";
}

function isOfForm(problem, { item_length: itemLength, sizes }) {
  const { items = [], vectors, bits, priorities = [], query = 0 } = problem;
  if ([...items, vectors, bits].includes(null)) return false;
  if (items.some((item) => item.length !== itemLength)) return false;
  if (!(query <= Math.max(0, items.length - 2))) return false;
  if (problem.priorities && priorities.length !== vectors.length) return false;
  if (!priorities.every((priority) => Math.abs(priority) <= 1)) return false;
  return Object.entries(sizes).every(([axis, { min, max }]) => {
    const size = sizeOf(problem, axis);
    return size >= min && size <= max;
  });
}

function wholeFromText(text) {
  return /^\d{1,6}$/.test(text) ? Number(text) : NaN;
}

function vectorsToText(vectors) {
  return vectors.map(toHex).join(".");
}

/** Vectors of so many bits, or null. */
function vectorsFromText(text, bits) {
  const vectors = text.split(".").map((part) => fromHex(part, bits));
  return vectors.includes(null) ? null : vectors;
}

function toHex(bits) {
  const digits = [];
  for (let at = 0; at < bits.length; at += 4) {
    const [a, b = 0, c = 0, d = 0] = bits.slice(at, at + 4);
    digits.push((8 * a + 4 * b + 2 * c + d).toString(16));
  }
  return digits.join("");
}

/** So many bits, or null where the digits are not just enough for them. */
function fromHex(text, count) {
  if (!/^[0-9a-f]+$/.test(text) || text.length !== Math.ceil(count / 4)) return null;
  const bits = [...text].flatMap((digit) => {
    const value = parseInt(digit, 16);
    return [8, 4, 2, 1].map((place) => (value & place ? 1 : 0));
  });
  return bits.slice(0, count);
}

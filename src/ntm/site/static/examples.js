/**
 * Networks that were trained on a file of examples: their problems are typed, and encoded as by
 * Python's ntm.tasks.examples. The settings of the task hold the symbols and the layout.
 */

import { peakOf } from "../../studio/static/arrays.js";

/** @import { Labels } from "../../studio/static/types.d.ts" */
/** @import { Kind, Score } from "./encodings.js" */
/** @import { TaskFacts } from "./types.d.ts" */
/** @typedef {{ input: string, target: string }} Typed */
/**
 * @typedef {{ layout: string, input_symbols: string[], input_bits: number, target_symbols: string[],
 *   target_bits: number, longest_answer: number }} Settings
 */
/** @typedef {{ symbols: string[], bits: number }} Alphabet */

const FLAG = "\u2192";
const END = "\u21B5";
const LAYOUTS = new Set(["transduction", "tagging", "classification"]);
const MOST_STEPS = 1000;
const MOST_BITS = 10_000;

/** @type {TaskFacts} */
export const EXAMPLES_FACTS = {
  task: "examples", title: "Examples", hint: "", look_for: "", frame: null, cases: [], sequences: {},
  axes: [], smallest: {}, defaults: {}, channels: [], readable_bits: 0,
  parts: ["input", "target"].map((name) => ({ name, axes: [], kind: "text" })),
};

/** @type {Kind<Typed, Settings>} */
export const EXAMPLES = {
  sample: (task, count) => Array.from({ length: count }, () => ({ input: anyInput(task), target: "" })),
  encode(problem, task, score) {
    const inputs = encoded(unitsOf(problem.input, inputsOf(task)), inputsOf(task));
    const targets = targetOf(problem, task);
    const flag = { [score.inputSize - 1]: 1 };
    const steps = inputs.length + 1;
    const answers = targets ?? Array.from({ length: blanksOf(task, steps) }, () => ({}));
    if (task.layout === "tagging") return encodeTags(inputs, answers, score);
    for (const ones of inputs) score.hear([], ones);
    if (task.layout === "classification") return add(score, flag, answers[0] ?? {});
    score.hear([], flag);
    for (const ones of answers) add(score, {}, ones);
    if (targets) add(score, {}, { [score.outputSize - 1]: 1 });
  },
  steps: () => 1,
  stepsOf: ({ input, target }, task) => {
    const steps = unitsOf(input, inputsOf(task)).length + 1;
    return steps + (target ? [...target].length + 1 : 0);
  },
  title: ({ input }) => [...input].slice(0, 40).join(""),
  channels: labelsOf,
  outputKinds: (task) => ({
    inputs: task.input_symbols.length ? "symbols" : "bits",
    outputs: task.target_symbols.length ? "symbols" : "bits",
  }),
  isScored: ({ target }) => target !== "",
  stepsAnswered: ({ input, target }, task, logits, channels) => {
    const start = unitsOf(input, inputsOf(task)).length + 1;
    if (target || task.layout !== "transduction") return null;
    const total = logits.length / channels;
    for (let step = start; step < total; step++) {
      const row = logits.subarray(step * channels, (step + 1) * channels);
      const ends = task.target_symbols.length ? peakOf(row) === channels - 1 : row[channels - 1] > 0;
      if (ends) return step + 1;
    }
    return total;
  },
};

/** @param {Settings} task @returns {Alphabet} */
function inputsOf({ input_symbols: symbols, input_bits: bits }) {
  return { symbols, bits };
}

/**
 * Names of the channels: the symbols or bits, the flag before an answer, and the end of an answer.
 * @param {Settings} task
 * @returns {Labels}
 */
function labelsOf(task) {
  requireSettings(task);
  const named = (/** @type {string[]} */ symbols, /** @type {number} */ bits) =>
    (symbols.length ? symbols : Array.from({ length: bits }, (_, i) => `bit ${i + 1}`));
  return {
    inputs: [...named(task.input_symbols, task.input_bits), ...(task.layout === "tagging" ? [] : [FLAG])],
    outputs: [
      ...named(task.target_symbols, task.target_bits), ...(task.layout === "transduction" ? [END] : []),
    ],
  };
}

/**
 * The settings come from a visitor's file.
 * @param {Settings} task
 */
function requireSettings(task) {
  const isAlphabet = (/** @type {unknown} */ symbols, /** @type {unknown} */ bits) =>
    Array.isArray(symbols) && symbols.every((symbol) => typeof symbol === "string") &&
    Number.isInteger(bits) && Number(bits) >= 0 && Number(bits) <= MOST_BITS;
  if (!LAYOUTS.has(task.layout) || !Number.isInteger(task.longest_answer) ||
      !isAlphabet(task.input_symbols, task.input_bits) || !isAlphabet(task.target_symbols, task.target_bits)) {
    throw new Error("Its config.json does not describe a file of examples.");
  }
}

/** @param {Settings} task @param {number} steps */
function blanksOf({ layout, longest_answer: longest }, steps) {
  if (layout !== "transduction") return layout === "tagging" ? steps - 1 : 1;
  return Math.max(0, Math.min(2 * Math.max(longest, steps), MOST_STEPS - steps));
}

/**
 * The channels that are 1 at the steps of the target; null without a target.
 * @param {Typed} problem @param {Settings} task
 */
function targetOf({ target: text }, task) {
  if (!text) return null;
  const alphabet = { symbols: task.target_symbols, bits: task.target_bits };
  if (task.layout !== "classification") return encoded(unitsOf(text, alphabet), alphabet);
  return encoded([alphabet.symbols.includes(text) ? text : unitOf(parsed(text))], alphabet);
}

/** @param {Score} score @param {Record<number, number>} inputs @param {Record<number, number>} targets */
function add(score, inputs, targets) {
  const filled = (/** @type {number} */ size, /** @type {Record<number, number>} */ ones) =>
    Object.assign(new Float32Array(size), ones);
  score.step(filled(score.inputSize, inputs), filled(score.outputSize, targets), 1);
}

/** @param {Record<number, number>[]} inputs @param {Record<number, number>[]} targets @param {Score} score */
function encodeTags(inputs, targets, score) {
  if (!inputs.length) throw new Error("The input is empty.");
  if (inputs.length !== targets.length) {
    throw new Error("Tagging needs one target for every step of the input; there are " +
      `${inputs.length} steps and ${targets.length} targets.`);
  }
  inputs.forEach((ones, i) => add(score, ones, targets[i]));
}

/** @param {Settings} task */
function anyInput({ input_symbols: [symbol], input_symbols: symbols, input_bits: bits }) {
  if (isText(symbols)) return symbol;
  return JSON.stringify([symbols.length ? symbol : Array.from({ length: bits }, () => 0)]);
}

/** @param {string[]} symbols */
function isText(symbols) {
  return symbols.length > 0 && symbols.every((symbol) => [...symbol].length === 1);
}

/**
 * The symbols or bit vectors of a typed text: its characters, or the parts of a JSON list.
 * @param {string} text @param {Alphabet} alphabet
 * @returns {(string | number[])[]}
 */
function unitsOf(text, { symbols }) {
  if (isText(symbols)) return [...text];
  const value = parsed(text);
  if (typeof value === "string") return [...value];
  if (Array.isArray(value)) return value.map(unitOf);
  throw new Error(`This must be a JSON list, got ${text}.`);
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`This must be a JSON list, got ${text}.`, { cause: error });
  }
}

/** @param {unknown} value @returns {string | number[]} */
function unitOf(value) {
  if (value === 0 || value === 1) return [value];
  if (Array.isArray(value) && value.length && value.every((bit) => bit === 0 || bit === 1)) return value;
  if (value !== null && typeof value === "object") {
    throw new Error(`${JSON.stringify(value)} is neither a symbol nor a vector of 0 and 1.`);
  }
  return String(value);
}

/**
 * The channels that are 1, for every unit.
 * @param {(string | number[])[]} units @param {Alphabet} alphabet
 * @returns {Record<number, number>[]}
 */
function encoded(units, { symbols, bits }) {
  return units.map((unit) => {
    if (!symbols.length) {
      if (typeof unit !== "string" && unit.length === bits) return { ...unit };
      throw new Error(`The network knows vectors of ${bits} bits; got ${JSON.stringify(unit)}.`);
    }
    const symbol = typeof unit === "string" ? unit : unit.join("");
    const place = symbols.indexOf(symbol);
    if (place >= 0) return { [place]: 1 };
    throw new Error(`The network does not know the symbol '${symbol}'; it knows ${symbols.slice(0, 40).join(" ")}.`);
  });
}

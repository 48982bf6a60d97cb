/**
 * The tasks' problems, equal to Python's: sampled with the same random numbers, and encoded step by
 * step. The problems of a task have
 *
 *     sample(task, count, random)    random problems, in the format of drawings
 *     encode(problem, task, score)   inputs and targets of the network at each step
 *     steps(task)                    steps of the longest problem that the task samples
 *     kept(task, axis, size)         settings that change with a size, or must not change with it
 *     optimum(problem, task)         the best possible predictions, if these are guesses
 *
 * where `task` has the task's settings by their Python names. The last two are optional. Typed
 * problems (examples.js) also have
 *
 *     stepsOf(problem, task)         steps of a problem
 *     title(problem)                 words for a problem
 *     channels(task)                 names of the channels
 *     outputKinds(task)              kinds of the channels: bits or symbols
 *     isScored(problem)              whether the problem has targets
 *     stepsAnswered(problem, task, logits, channels)    steps until the answer ends; null: all
 */

/** @import { AssociativeRecallProblem, CopyProblem, NGramsProblem, PrioritySortProblem, RepeatCopyProblem } from "../../studio/static/python.d.ts" */
/** @import { Kinds, Labels } from "../../studio/static/types.d.ts" */
/** @import { Generator } from "./random.js" */
/** @import { AssociativeRecall, Copy, NGrams, PrioritySort, RepeatCopy } from "./python.d.ts" */
/** @import { Sequence } from "./types.d.ts" */
/**
 * Only the kind knows the type of its task's settings: a task finds its kind by name.
 * @template [Drawn=any]
 * @template [Settings=any]
 * @typedef {object} Kind
 * @property {(task: Settings, count: number, random: Generator) => Drawn[]} sample
 * @property {(problem: Drawn, task: Settings, score: Score) => void} encode
 * @property {(task: Settings) => number} steps
 * @property {(task: Settings, axis: string, size: number) => Partial<Settings>} [kept]
 * @property {(problem: Drawn, task: Settings) => Float32Array} [optimum]
 * @property {(problem: Drawn, task: Settings) => number} [stepsOf]
 * @property {(problem: Drawn) => string} [title]
 * @property {(task: Settings) => Labels} [channels]
 * @property {(task: Settings) => Kinds} [outputKinds]
 * @property {(problem: Drawn) => boolean} [isScored]
 * @property {(problem: Drawn, task: Settings, logits: Float32Array, channels: number) => number | null} [stepsAnswered]
 */

/** Inputs and targets, added step by step, which become a batch of one sequence. */
export class Score {
  /** @type {ArrayLike<number>[]} */
  #inputs = [];
  /** @type {ArrayLike<number>[]} */
  #targets = [];
  /** @type {number[]} */
  #mask = [];

  /** @param {number} inputSize @param {number} outputSize */
  constructor(inputSize, outputSize) {
    this.inputSize = inputSize;
    this.outputSize = outputSize;
  }

  /**
   * Add a step without an answer: bits on the first channels, and other channels by number.
   * @param {number[]} bits @param {Record<number, number>} [others]
   */
  hear(bits, others = {}) {
    this.step(filled(this.inputSize, bits, others), filled(this.outputSize), 0);
  }

  /**
   * Add a step whose answer is scored.
   * @param {number[]} bits @param {Record<number, number>} [others]
   */
  say(bits, others = {}) {
    this.step(filled(this.inputSize), filled(this.outputSize, bits, others), 1);
  }

  /** @param {ArrayLike<number>} inputs @param {ArrayLike<number>} targets @param {number} scored */
  step(inputs, targets, scored) {
    this.#inputs.push(inputs);
    this.#targets.push(targets);
    this.#mask.push(scored);
  }

  /** @returns {Sequence} */
  get batch() {
    return {
      steps: this.#mask.length,
      sequences: 1,
      inputs: oneAfterAnother(this.#inputs),
      targets: oneAfterAnother(this.#targets),
      mask: new Float32Array(this.#mask),
    };
  }
}

/** @param {ArrayLike<number>[]} rows */
function oneAfterAnother(rows) {
  const size = rows[0].length;
  const values = new Float32Array(rows.length * size);
  rows.forEach((row, i) => values.set(row, i * size));
  return values;
}

/** @param {number} size @param {number[]} [bits] @param {Record<number, number>} [others] */
function filled(size, bits = [], others = {}) {
  const values = new Float32Array(size);
  values.set(bits);
  return Object.assign(values, others);
}

/**
 * Random vectors for sequences of these lengths, drawn like Python's random_sequences.
 * @param {number[]} lengths @param {number} bits @param {Generator} random
 * @param {number} [structured] share of the sequences that look like drawings
 */
function drawnVectors(lengths, bits, random, structured = 0) {
  const fair = rowsOf(random.bits(Math.max(...lengths) * lengths.length * bits), lengths, bits);
  if (!structured) return fair;
  const chosen = random.uniform(lengths.length).map((value) => Number(value < Math.fround(structured)));
  const drawings = likeDrawings(lengths, bits, random);
  return fair.map((vectors, sequence) => (chosen[sequence] ? drawings[sequence] : vectors));
}

/**
 * Vectors with the structure of drawings, drawn like Python's like_drawings.
 * @param {number[]} lengths @param {number} bits @param {Generator} random
 */
function likeDrawings(lengths, bits, random) {
  const [count, longest] = [lengths.length, Math.max(...lengths)];
  const values = rowsOf(random.uniform(longest * count * bits), lengths, bits);
  const density = random.uniform(count);
  const repeating = rowsOf(random.uniform(longest * count), lengths, 1);
  const likely = random.uniform(count);
  const mayRepeat = random.uniform(count);
  const firsts = random.uniform(count);
  const counts = random.uniform(count);
  const hasRun = random.uniform(count);
  const full = random.uniform(count);
  return lengths.map((length, i) => {
    const repeats = mayRepeat[i] > 0.5 ? likely[i] : 0;
    const first = Math.floor(Math.fround(firsts[i] * length));
    const run = hasRun[i] > 0.5 ? Math.floor(Math.fround(Math.fround(counts[i] * length) + 1)) : 0;
    let source = 0;
    return values[i].map((_, step) => {
      if (repeating[i][step][0] >= repeats) source = step;
      if (step >= first && step < first + run) return Array(bits).fill(Number(full[i] > 0.5));
      return values[i][source].map((value) => Number(value < density[i]));
    });
  });
}

/**
 * The rows of each sequence, from values with the axes of a batch: step, sequence, bit.
 * @param {Uint8Array | Float32Array} values @param {number[]} lengths @param {number} bits
 */
function rowsOf(values, lengths, bits) {
  return lengths.map((length, sequence) =>
    Array.from({ length }, (_, step) => {
      const first = (step * lengths.length + sequence) * bits;
      return Array.from(values.subarray(first, first + bits));
    }));
}

/** @type {Kind<CopyProblem, Copy>} */
const copy = {
  sample({ bits, min_length: least, max_length: most, structured }, count, random) {
    const lengths = random.integers(least, most, count);
    return drawnVectors(lengths, bits, random, structured).map((vectors) => ({ vectors }));
  },
  encode({ vectors }, { bits, start_delimiter: starts, end_marker: marked }, score) {
    if (starts) score.hear([], { [bits + 1]: 1 });
    for (const vector of vectors) score.hear(vector);
    score.hear([], { [bits]: 1 });
    for (const vector of vectors) score.say(vector);
    if (marked) score.say([], { [bits]: 1 });
  },
  steps: (task) => Number(task.start_delimiter) + 2 * task.max_length + 1 + Number(task.end_marker),
};

/** @type {Kind<RepeatCopyProblem, RepeatCopy>} */
const repeatCopy = {
  sample(task, count, random) {
    const lengths = random.integers(task.min_length, task.max_length, count);
    const repeats = random.integers(task.min_repeats, task.max_repeats, count);
    const drawn = drawnVectors(lengths, task.bits, random, task.structured);
    return drawn.map((vectors, i) => ({ vectors, repeats: repeats[i] }));
  },
  encode({ vectors, repeats }, task, score) {
    const { bits } = task;
    const first = task.delimiter === "start";
    const number = { [bits + 1]: normalised(repeats, task) };
    if (first) score.hear([], { [bits]: 1 });
    for (const vector of vectors) score.hear(vector);
    score.hear([], first ? number : { [bits]: 1, ...number });
    for (let i = 0; i < repeats; i++) for (const vector of vectors) score.say(vector);
    score.say([], { [bits]: 1 });
  },
  steps: (task) =>
    Number(task.delimiter === "start") + task.max_length + 1 + task.max_length * task.max_repeats + 1,
  kept(task) {
    const [low, high] = repeatScale(task);
    return { scale_min_repeats: low, scale_max_repeats: high };
  },
};

/**
 * @param {RepeatCopy} task
 * @returns {[number, number]}
 */
function repeatScale(task) {
  return [task.scale_min_repeats ?? task.min_repeats, task.scale_max_repeats ?? task.max_repeats];
}

/**
 * A repeat number, scaled to mean 0 and variance 1 over the range of repeats.
 * @param {number} repeats @param {RepeatCopy} task
 */
function normalised(repeats, task) {
  const [low, high] = repeatScale(task);
  const deviation = Math.sqrt(((high - low + 1) ** 2 - 1) / 12) || 1;
  return (repeats - (low + high) / 2) / Math.fround(deviation);
}

/** @type {Kind<AssociativeRecallProblem, AssociativeRecall>} */
const recall = {
  sample(task, count, random) {
    const { bits, item_length: size } = task;
    const counts = random.integers(task.min_items, task.max_items, count);
    const drawn = drawnVectors(counts.map((items) => items * size), bits, random);
    return drawn.map((vectors, i) => {
      const items = counts[i];
      const query = Math.floor(random.double() * (items - 1));
      /** @param {unknown} _ @param {number} item */
      const itemAt = (_, item) => vectors.slice(item * size, (item + 1) * size);
      return { items: Array.from({ length: items }, itemAt), query };
    });
  },
  encode({ items, query }, { bits, close_query: closes }, score) {
    for (const item of items) {
      score.hear([], { [bits]: 1 });
      for (const vector of item) score.hear(vector);
    }
    score.hear([], { [bits + 1]: 1 });
    for (const vector of items[query]) score.hear(vector);
    if (closes) score.hear([], { [bits + 1]: 1 });
    for (const vector of items[query + 1]) score.say(vector);
  },
  steps: (task) =>
    (task.max_items + 1) * (task.item_length + 1) + Number(task.close_query) + task.item_length,
};

/** @type {Kind<NGramsProblem, NGrams>} */
const ngrams = {
  sample({ length, context }, count, random) {
    const contexts = 2 ** context;
    const angles = random.uniform(count * contexts).map((turn) => turn * Math.fround(Math.PI / 2));
    const odds = angles.map(Math.sin).map((sine) => sine * sine);
    const chances = random.uniform(length * count);
    return Array.from({ length: count }, (_, i) => {
      /** @type {number[]} */
      const bits = [];
      for (let step = 0, history = 0; step < length; step++) {
        const chance = step < context ? 0.5 : odds[i * contexts + history];
        bits.push(Number(chances[step * count + i] < chance));
        history = (2 * history + bits[step]) % contexts;
      }
      return { bits };
    });
  },
  encode({ bits }, task, score) {
    for (let i = 1; i < bits.length; i++) score.step([bits[i - 1]], [bits[i]], 1);
  },
  steps: (task) => task.length - 1,
  optimum: ({ bits }, { context }) => optimalPredictions(bits, context),
};

/**
 * The best possible prediction for each bit but the first, from the bits before it.
 * @param {number[]} bits @param {number} context
 */
function optimalPredictions(bits, context) {
  /** @type {Map<string, { ones: number, all: number }>} */
  const counts = new Map();
  const countsAt = (/** @type {number} */ end) => {
    const key = bits.slice(end - context, end).join("");
    const known = counts.get(key) ?? { ones: 0.5, all: 1 };
    counts.set(key, known);
    return known;
  };
  return Float32Array.from(bits.slice(1), (_, step) => {
    if (step >= context) {
      const seen = countsAt(step);
      seen.ones += bits[step];
      seen.all += 1;
    }
    if (step + 1 < context) return 0.5;
    const { ones, all } = countsAt(step + 1);
    return ones / all;
  });
}

/** @type {Kind<PrioritySortProblem, PrioritySort>} */
const sort = {
  sample({ bits, length }, count, random) {
    const drawn = drawnVectors(Array(count).fill(length), bits, random);
    const priorities = random.uniform(length * count).map((value) => value * 2 - 1);
    return drawn.map((vectors, i) => {
      const own = vectors.map((_, step) => priorities[step * count + i]);
      return { vectors, priorities: own };
    });
  },
  encode({ vectors, priorities }, { bits, answers }, score) {
    vectors.forEach((vector, i) => score.hear(vector, { [bits]: priorities[i] }));
    score.hear([], { [bits + 1]: 1 });
    const order = [...vectors.keys()].toSorted((a, b) => priorities[b] - priorities[a]);
    for (const i of order.slice(0, answers)) score.say(vectors[i]);
  },
  steps: (task) => task.length + 1 + task.answers,
  kept: ({ answers, length }, _, size) =>
    ({ answers: Math.max(1, roundedToEven((size * answers) / length)) }),
};

/**
 * Round like Python: halves go to the even number.
 * @param {number} value
 */
function roundedToEven(value) {
  const rounded = Math.round(value);
  return rounded - value === 0.5 && rounded % 2 ? rounded - 1 : rounded;
}

/** @type {Record<string, Kind>} */
export const KINDS = {
  copy,
  "repeat-copy": repeatCopy,
  "associative-recall": recall,
  ngrams,
  "priority-sort": sort,
};

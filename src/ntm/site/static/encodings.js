/**
 * The tasks' problems, as the package's Python has them: drawn by the same random numbers, and
 * encoded step by step. A kind of problem (see Python's `Drawing`) has
 *
 *     sample(task, count, random)    problems, as a person would draw them
 *     encode(problem, task, score)   what the network hears and should say at each step
 *     steps(task)                    of the longest problem that the task samples
 *     kept(task, axis, size)         settings that change with a size, or must not change with it
 *     optimum(problem, task)         the best possible predictions, where these are guesses
 *
 * where `task` holds the task's settings by their Python names. The last two are not for all kinds.
 */

/** What is heard and said, step by step; a batch of one sequence in the end. */
export class Score {
  #inputs = [];
  #targets = [];
  #mask = [];

  constructor(inputSize, outputSize) {
    this.inputSize = inputSize;
    this.outputSize = outputSize;
  }

  /** A step without an answer: bits on the first channels, and other channels by number. */
  hear(bits, others = {}) {
    this.step(filled(this.inputSize, bits, others), filled(this.outputSize), 0);
  }

  /** A step whose answer is scored. */
  say(bits, others = {}) {
    this.step(filled(this.inputSize), filled(this.outputSize, bits, others), 1);
  }

  step(inputs, targets, scored) {
    this.#inputs.push(inputs);
    this.#targets.push(targets);
    this.#mask.push(scored);
  }

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

function oneAfterAnother(rows) {
  const size = rows[0].length;
  const values = new Float32Array(rows.length * size);
  rows.forEach((row, i) => values.set(row, i * size));
  return values;
}

function filled(size, bits = [], others = {}) {
  const values = new Float32Array(size);
  values.set(bits);
  return Object.assign(values, others);
}

/** Random vectors for sequences of such lengths, drawn as Python's random_sequences draws. */
function drawnVectors(lengths, bits, random) {
  const drawn = random.bits(Math.max(...lengths) * lengths.length * bits);
  return lengths.map((length, sequence) =>
    Array.from({ length }, (_, step) => {
      const first = (step * lengths.length + sequence) * bits;
      return Array.from(drawn.subarray(first, first + bits));
    }));
}

const copy = {
  sample({ bits, min_length: least, max_length: most }, count, random) {
    const lengths = random.integers(least, most, count);
    return drawnVectors(lengths, bits, random).map((vectors) => ({ vectors }));
  },
  encode({ vectors }, { bits, start_delimiter: starts, end_marker: marked }, score) {
    if (starts) score.hear([], { [bits + 1]: 1 });
    for (const vector of vectors) score.hear(vector);
    score.hear([], { [bits]: 1 });
    for (const vector of vectors) score.say(vector);
    if (marked) score.say([], { [bits]: 1 });
  },
  steps: (task) => task.start_delimiter + 2 * task.max_length + 1 + task.end_marker,
};

const repeatCopy = {
  sample(task, count, random) {
    const lengths = random.integers(task.min_length, task.max_length, count);
    const repeats = random.integers(task.min_repeats, task.max_repeats, count);
    const drawn = drawnVectors(lengths, task.bits, random);
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
    (task.delimiter === "start") + task.max_length + 1 + task.max_length * task.max_repeats + 1,
  kept(task) {
    const [low, high] = repeatScale(task);
    return { scale_min_repeats: low, scale_max_repeats: high };
  },
};

function repeatScale(task) {
  return [task.scale_min_repeats ?? task.min_repeats, task.scale_max_repeats ?? task.max_repeats];
}

/** A repeat number with mean 0 and variance 1 over the range it is scaled by. */
function normalised(repeats, task) {
  const [low, high] = repeatScale(task);
  const deviation = Math.sqrt(((high - low + 1) ** 2 - 1) / 12) || 1;
  return (repeats - (low + high) / 2) / Math.fround(deviation);
}

const recall = {
  sample(task, count, random) {
    const { bits, item_length: size } = task;
    const counts = random.integers(task.min_items, task.max_items, count);
    const drawn = drawnVectors(counts.map((items) => items * size), bits, random);
    return drawn.map((vectors, i) => {
      const items = counts[i];
      const query = Math.floor(random.double() * (items - 1));
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
    (task.max_items + 1) * (task.item_length + 1) + task.close_query + task.item_length,
};

const ngrams = {
  sample({ length, context }, count, random) {
    const contexts = 2 ** context;
    const angles = random.uniform(count * contexts).map((turn) => turn * Math.fround(Math.PI / 2));
    const odds = angles.map(Math.sin).map((sine) => sine * sine);
    const chances = random.uniform(length * count);
    return Array.from({ length: count }, (_, i) => {
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

/** The best possible chance of a one after each bit but the last, from those before it. */
function optimalPredictions(bits, context) {
  const counts = new Map();
  const countsAt = (end) => {
    const key = bits.slice(end - context, end).join("");
    if (!counts.has(key)) counts.set(key, { ones: 0.5, all: 1 });
    return counts.get(key);
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

/** Python's rounding. */
function roundedToEven(value) {
  const rounded = Math.round(value);
  return rounded - value === 0.5 && rounded % 2 ? rounded - 1 : rounded;
}

export const KINDS = {
  vectors: copy,
  "repeated vectors": repeatCopy,
  items: recall,
  bits: ngrams,
  priorities: sort,
};

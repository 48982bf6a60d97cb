// Does what requests (a JSON list on standard input) ask of the site's modules, and answers in JSON.

import { readFileSync } from "node:fs";

import { initialWeights } from "../../src/ntm/site/static/initial.js";
import { Generator, blockSeed } from "../../src/ntm/site/static/random.js";
import {
  atSizes, channelsOf, encodeProblem, formOf, makeTask, optimumOf, sampleProblems,
} from "../../src/ntm/site/static/tasks.js";
import { enlarged, readSafetensors, writeSafetensors } from "../../src/ntm/site/static/weights.js";

const ANSWERS = {
  problems({ facts, settings, sizes, seed, count }) {
    const task = atSizes(makeTask(facts, settings), sizes);
    const problems = sampleProblems(task, count, new Generator(seed));
    const batches = problems.map((problem) => encodeProblem(problem, task));
    const optima = problems.map((problem) => optimumOf(problem, task));
    return { settings: task.settings, problems, batches, optima, channels: channelsOf(task) };
  },
  encoded: ({ facts, settings, problem }) => encodeProblem(problem, makeTask(facts, settings)),
  form: ({ facts, settings, limits }) => formOf(makeTask(facts, settings), limits),
  initial: ({ config, initialisation, seed }) =>
    initialWeights(config, initialisation, new Generator(seed)),
  seeds: ({ start, blocks }) => blocks.map((block) => blockSeed(start, block)),
  safetensors({ file, locations, config }) {
    const { tensors, metadata } = readSafetensors(bytesOf(file));
    if (locations) return enlarged(tensors, config, locations);
    const written = Buffer.from(writeSafetensors(tensors, metadata)).toString("base64");
    return { tensors, metadata, written };
  },
};

function bytesOf(base64) {
  return Uint8Array.from(Buffer.from(base64, "base64")).buffer;
}

function answered({ ask, ...request }) {
  try {
    return ANSWERS[ask](request);
  } catch (error) {
    return { error: error.message };
  }
}

const plain = (_, value) => (value instanceof Float32Array ? Array.from(value) : value);
const answers = JSON.parse(readFileSync(0, "utf8")).map(answered);
process.stdout.write(JSON.stringify(answers, plain));

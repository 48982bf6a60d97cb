// Does what requests (a JSON list on standard input) ask of the site's modules, and answers in JSON.

import { readFileSync } from "node:fs";

import { loadEngine } from "../../src/ntm/engine/web/engine.js";
import { traceDocument } from "../../src/ntm/site/static/documents.js";
import { configOf } from "../../src/ntm/site/static/importing.js";
import { initialWeights } from "../../src/ntm/site/static/initial.js";
import { Generator, blockSeed } from "../../src/ntm/site/static/random.js";
import { without } from "../../src/ntm/site/static/switches.js";
import {
  atSizes, channelsOf, encodeProblem, formOf, makeTask, optimumOf, sampleProblems,
} from "../../src/ntm/site/static/tasks.js";
import { Trainer } from "../../src/ntm/site/static/trainer.js";
import { enlarged, readSafetensors, writeSafetensors } from "../../src/ntm/site/static/weights.js";

const wasm = new URL("../../src/ntm/engine/web/engine.wasm", import.meta.url);
const engine = await loadEngine(readFileSync(wasm));

const ANSWERS = {
  document({ facts, settings, config, file, problem, about, parts = [] }) {
    const network = engine.network(config);
    network.load(without(readSafetensors(bytesOf(file)).tensors, config, parts));
    return traceDocument(network, problem, makeTask(facts, settings), about);
  },
  trained({ facts, settings, starts, sequences }) {
    const trainer = new Trainer(engine, makeTask(facts, settings.task), settings, starts);
    const initial = trainer.network.parameters();
    const points = trainer.run(() => trainer.sequences >= sequences);
    const [final, weights] = [trainer.network.parameters(), trainer.weights()];
    return { initial, points, final, weights, sequences: trainer.sequences };
  },
  config: ({ file }) => configOf(readSafetensors(bytesOf(file)).tensors),
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

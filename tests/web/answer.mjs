// Carries out a request (JSON on standard input) with the engine, and answers in JSON.
//
//   node answer.mjs ENGINE_JS ENGINE_WASM [from-address]

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [script, module, fromAddress] = process.argv.slice(2);
const { loadEngine, PAPER } = await import(pathToFileURL(script).href);
const request = JSON.parse(readFileSync(0, "utf8"));
const bytes = readFileSync(module);
const address = () => new URL(`data:application/wasm;base64,${bytes.toString("base64")}`);
const engine = await loadEngine(fromAddress ? address() : bytes);
const answer = { paper: PAPER };
try {
  obey(request);
} catch (error) {
  answer.error = `${error.name}: ${error.message}`;
}
process.stdout.write(JSON.stringify(answer, plain));

function obey({ config, parameters, batches, optimiser, trace }) {
  const network = engine.network(config);
  try {
    network.load(parameters);
    answer.bits = (batches ?? []).map((batch) => network.train(batch, optimiser));
    if (trace) answer.trace = network.trace(trace);
  } finally {
    answer.parameters = network.parameters();
    network.free();
  }
}

/** Turn a Float32Array, whose JSON would be an object, into an array. */
function plain(_, value) {
  return value instanceof Float32Array ? Array.from(value) : value;
}

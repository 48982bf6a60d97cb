/**
 * A network from the visitor's files: weights as safetensors and, if available, their config.json.
 * Facts that no file contains are inferred from the shapes of the weights.
 */

import { MODELS } from "../../engine/web/facts.js";
import { parameterShapes, requireConfig } from "../../engine/web/shapes.js";
import { messageOf } from "../../studio/static/dom.js";
import { channelsOf, factsOf, makeTask } from "./tasks.js";
import { readSafetensors } from "./weights.js";

/** @import { NTMConfig } from "../../engine/web/python.d.ts" */
/** @import { NetworkFacts, TaskFacts, TaskSettings, Tensors } from "./types.d.ts" */
/** @typedef {{ name: string } & TaskSettings} NamedTask */
/**
 * @typedef {{ task?: NamedTask, model?: NTMConfig, sequences?: number, bits?: number }} Known
 */

const MOST_BYTES = 200_000_000;
const MOST_LOCATIONS = 4096;

/**
 * { network, tensors }: an entry in the catalogue's format, and its weights.
 * @param {File[]} files @param {Record<string, TaskFacts>} tasks
 * @returns {Promise<{ network: NetworkFacts, tensors: Tensors }>}
 */
export async function networkFromFiles(files, tasks) {
  const weights = files.find((file) => file.name.endsWith(".safetensors"));
  if (!weights) throw new Error("Give a file of weights, whose name ends in .safetensors.");
  return inFile(weights.name, async () => {
    if (weights.size > MOST_BYTES) throw new Error("It is larger than 200 MB.");
    const { tensors, metadata } = readSafetensors(await weights.arrayBuffer());
    const known = { ...settingsIn(metadata), ...(await configIn(files)) };
    const config = known.model ?? configOf(tensors);
    requireFitting(tensors, config);
    const { name, ...settings } = known.task ?? taskOf(config, tasks);
    requireTask(name, settings, config, tasks);
    const title = weights.name.replace(/\.safetensors$/, "");
    const model = MODELS[config.controller];
    const { sequences = null, bits = null } = known;
    const network = {
      id: `file:${title}`, title, task: name, task_settings: settings, model, config, sequences, bits,
    };
    return { network, tensors };
  });
}

/**
 * Put the file's name in front of every error.
 * @template Result
 * @param {string} name @param {() => Promise<Result>} read
 */
async function inFile(name, read) {
  try {
    return await read();
  } catch (error) {
    throw new Error(`${name} cannot be opened. ${messageOf(error)}`, { cause: error });
  }
}

/**
 * The settings that the package or this page wrote into the file.
 * @param {{ ntm?: string }} metadata
 * @returns {Known}
 */
function settingsIn({ ntm = "{}" }) {
  const facts = parsed(ntm, "Its metadata is not JSON.");
  const { task, model } = facts.settings ?? {};
  const sequences = facts.trained_sequences ?? facts.sequences;
  const bits = facts.mean_bits ?? facts.validation_bits;
  return { ...(task && { task }), ...(model && { model }), sequences, bits };
}

/**
 * The settings in a config.json of a run, which has a task, or of a network that was saved alone.
 * @param {File[]} files
 * @returns {Promise<Known>}
 */
async function configIn(files) {
  const file = files.find(({ name }) => name.endsWith(".json"));
  if (!file) return {};
  const { task, model, config } = parsed(await file.text(), `${file.name} is not JSON.`);
  if (!model && !config) throw new Error(`${file.name} is not the config.json of a run or a network.`);
  return { ...(task && { task }), model: model ?? config };
}

/**
 * @param {string} text @param {string} complaint
 * @returns {any} whatever somebody wrote
 */
function parsed(text, complaint) {
  try {
    return JSON.parse(text) ?? {};
  } catch (error) {
    throw new Error(complaint, { cause: error });
  }
}

/**
 * A config with the sizes of the weights.
 * @param {Tensors} tensors
 * @returns {NTMConfig}
 */
export function configOf(tensors) {
  const shape = (/** @type {string} */ name) => {
    if (tensors[name]?.shape.length === 2) return tensors[name].shape;
    throw new Error(`It contains no Neural Turing Machine: it has no ${name}.`);
  };
  const [locations, width] = shape("start.memory");
  const [[reads], [writes]] = [shape("start.read_logits"), shape("start.write_logits")];
  const [raw, units] = shape("cell.heads.linear.weight");
  // A feedforward controller has no state; files of version 1.0 have an empty one.
  const [layers] = tensors["start.hidden"] ? shape("start.hidden") : [0];
  const [, inputs] = shape("cell.controller.layers.0.weight");
  /** @type {NTMConfig} */
  const config = {
    input_size: 0,
    output_size: shape("cell.output.weight")[0],
    controller: layers ? "lstm" : "feedforward",
    controller_size: units,
    controller_layers: layers || 1,
    memory_locations: locations, memory_width: width, read_heads: reads, write_heads: writes,
    shifts: [],
    shift_mode: "softmax",
  };
  // Rows without a shift and with one shift: the difference is the rows of one shift.
  const [none, one] = [[], [0]].map((shifts) =>
    parameterShapes({ ...config, shifts })["cell.heads.linear.weight"][0]);
  config.shifts = centredShifts((raw - none) / (one - none));
  config.input_size = inputs - parameterShapes(config)["cell.controller.layers.0.weight"][1];
  return config;
}

/**
 * This many shifts, centred at zero.
 * @param {number} count
 */
function centredShifts(count) {
  if (Number.isInteger(count) && count % 2 === 1 && count > 1) {
    return Array.from({ length: count }, (_, i) => i - (count - 1) / 2);
  }
  throw new Error("Its weights do not determine the shifts; open its config.json together with it.");
}

/** @param {Tensors} tensors @param {NTMConfig} config */
function requireFitting(tensors, config) {
  if (!(config.memory_locations <= MOST_LOCATIONS)) {
    throw new Error(`It has ${config.memory_locations} locations; the page runs up to ${MOST_LOCATIONS}.`);
  }
  requireConfig(config);
  for (const [name, wanted] of Object.entries(parameterShapes(config))) {
    const found = tensors[name]?.shape;
    if (!found) throw new Error(`It contains no Neural Turing Machine: it has no ${name}.`);
    if (found.join() !== wanted.join()) {
      throw new Error(`Its ${name} has the shape (${found.join(", ")}); its config asks for ` +
        `(${wanted.join(", ")}).`);
    }
  }
}

/**
 * The task whose default channels fit the network; no two tasks have the same.
 * @param {NTMConfig} config @param {Record<string, TaskFacts>} tasks
 * @returns {NamedTask}
 */
function taskOf({ input_size: inputs, output_size: outputs }, tasks) {
  const fitting = Object.keys(tasks).find((name) => {
    const channels = channelsOf(makeTask(tasks[name]));
    return channels.inputs.length === inputs && channels.outputs.length === outputs;
  });
  if (fitting) return { name: fitting, ...tasks[fitting].defaults };
  throw new Error(`No task has ${inputs} inputs and ${outputs} outputs by default; open the ` +
    "config.json of its run together with it.");
}

/**
 * @param {string} name @param {TaskSettings} settings @param {NTMConfig} config
 * @param {Record<string, TaskFacts>} tasks
 */
function requireTask(name, settings, config, tasks) {
  const facts = factsOf(name, tasks);
  if (!facts) throw new Error(`Its task, ${name}, cannot be drawn in this page.`);
  const { inputs, outputs } = channelsOf(makeTask(facts, settings));
  if (inputs.length !== config.input_size || outputs.length !== config.output_size) {
    throw new Error(`It has ${config.input_size} inputs and ${config.output_size} outputs; its task ` +
      `has ${inputs.length} and ${outputs.length}.`);
  }
}

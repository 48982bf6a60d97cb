/** A network that was trained in the page: its entry in the list, and its file. */

import { download } from "../../studio/static/api.js";
import { trainedId } from "./again.js";
import { writeSafetensors } from "./weights.js";

/** @import { NetworkFacts, Settings, Tensors } from "./types.d.ts" */
/** @typedef {{ task: string, model: string, seed: number, settings: Settings }} Trained */
/** @typedef {{ tensors: Tensors, sequences: number }} Result */

/**
 * The network's entry in the list of the play view.
 * @param {Trained} trained @param {Result} result @param {number | null} bits
 * @returns {NetworkFacts}
 */
export function networkOf({ task, model, seed, settings }, { sequences }, bits) {
  return {
    id: trainedId({ task, model, seed, sequences }), title: `${task}, trained here (seed ${seed})`,
    task, task_settings: settings.task, model, config: settings.model, sequences, bits,
  };
}

/**
 * Save the weights in the format of the package's files, with the settings as metadata.
 * @param {Trained} trained @param {Result} result
 */
export function saveWeights({ task: name, model, seed, settings }, { tensors, sequences }) {
  const told = {
    ...settings, task: { name, ...settings.task }, model: { name: model, ...settings.model },
    training: { ...settings.training, seed },
  };
  const facts = { settings: told, trained_sequences: sequences };
  const bytes = writeSafetensors(tensors, { ntm: JSON.stringify(facts) });
  download(new Blob([bytes]), `${[name, model, seed, sequences].join("-")}.safetensors`);
}

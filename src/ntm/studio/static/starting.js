/** The form that starts a run. It offers the task that is shown and the usual number of sequences. */

import { find, findField, furnish, make } from "./dom.js";
import { RUN_FORM } from "./facts.js";

/** @import { Guide } from "./types.d.ts" */
/** @typedef {{ task: string, model: string, seed: number, sequences: number, name?: string }} Order */

export class StartForm {
  form = find("start", HTMLFormElement);
  fields = fieldsOf(this.form);
  /** @type {string | null} */
  offered = null; // the task that was last put into the form

  /** @param {Guide} guide */
  constructor(guide) {
    this.guide = guide;
    const { task, model, seed, sequences, name } = this.fields;
    furnish(seed, RUN_FORM.seed);
    furnish(sequences, RUN_FORM.sequences);
    furnish(name, RUN_FORM.name);
    const tasks = Object.keys(guide.tasks);
    task.append(...tasks.map((value) => make("option", { value }, value)));
    const models = Object.entries(guide.models);
    model.append(...models.map(([value, { title }]) => make("option", { value }, title)));
    for (const choice of [task, model]) choice.addEventListener("change", () => this.suggest());
  }

  /** Offer the usual number of sequences for the task and model of the form. */
  suggest() {
    const { task, model, sequences } = this.fields;
    sequences.value = String(this.guide.tasks[task.value].sequences[model.value]);
  }

  /**
   * Offer a run of the task that is shown. A task that the visitor chose in the form stays.
   * @param {string} task
   */
  offer(task) {
    if (this.offered === task || !Object.hasOwn(this.guide.tasks, task)) return;
    this.offered = this.fields.task.value = task;
    this.suggest();
  }

  /** @returns {Order} */
  get order() {
    const { task, model, seed, sequences, name } = this.fields;
    return {
      task: task.value, model: model.value, seed: Number(seed.value),
      sequences: Number(sequences.value), ...(name.value && { name: name.value }),
    };
  }

  /** Prepare for the next run, which needs another seed and another name. */
  advance() {
    const { seed, name } = this.fields;
    seed.value = String(Number(seed.value) + 1);
    name.value = "";
  }
}

/** @param {HTMLFormElement} form */
function fieldsOf(form) {
  const input = (/** @type {string} */ name) => findField(form, name, HTMLInputElement);
  const select = (/** @type {string} */ name) => findField(form, name, HTMLSelectElement);
  return {
    task: select("task"), model: select("model"), seed: input("seed"),
    sequences: input("sequences"), name: input("name"),
  };
}

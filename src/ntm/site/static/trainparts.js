/** The elements of the view "Train it now". */

import { find, findAll, findField } from "../../studio/static/dom.js";

/** @typedef {ReturnType<typeof partsOfPage>} Parts */

export function partsOfPage() {
  const form = find("train-form", HTMLFormElement);
  return {
    form,
    page: find("train", HTMLElement),
    task: findField(form, "task", HTMLSelectElement),
    model: findField(form, "model", HTMLSelectElement),
    seed: findField(form, "seed", HTMLInputElement),
    ...findAll(HTMLButtonElement, ["start", "stop", "play", "save"], "train-"),
    ...findAll(HTMLElement, ["figures", "message", "news", "chart", "picture", "command", "same",
      "refusal", "curves-of", "picture-of"], "train-"),
  };
}

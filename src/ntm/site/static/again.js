/**
 * Networks that were trained in the page. The id of such a network names its training, which always
 * ends with the same weights. So a link to it works in another browser, which trains it again.
 */

import { writeRoute } from "../../studio/static/route.js";

/** @import { Route, Shown } from "../../studio/static/types.d.ts" */
/** @import { Backend } from "./backend.js" */
/** @typedef {{ task: string, model: string, seed: number, sequences: number }} Training */

/** @param {Training} training */
export function trainedId({ task, model, seed, sequences }) {
  return `trained:${[task, model, seed, sequences].join("/")}`;
}

/**
 * The training that an id names, or null.
 * @param {string} id
 */
export function trainingOf(id) {
  const [, task, model, seed, sequences] =
    id.match(/^trained:([^/]+)\/([^/]+)\/(\d{1,9})\/(\d{1,9})$/) ?? [];
  return task ? { task, model, seed, sequences } : null;
}

/**
 * The play view, which first trains the network of the address if the page does not have it.
 * @param {Shown} play @param {Backend} backend
 * @returns {Shown}
 */
export function trainingAgain(play, backend) {
  return {
    show(route) {
      const training = backend.has(route.id) ? null : trainingOf(route.id);
      if (!training) return play.show(route);
      const { task, ...rest } = training;
      location.replace(writeRoute({ view: "train", id: task, ...rest, next: location.hash }));
    },
  };
}

/** One trace as a self-contained page, made from a blank page of Python's ntm.studio.sharing. */

import { encodeArray } from "../../studio/static/arrays.js";

/** @import { TraceDocument } from "../../studio/static/types.d.ts" */

const BLANK = "data/shared.html";

/**
 * The page as a Blob; it opens at the step and head of `view`.
 * @param {TraceDocument} trace @param {{ step: number, head: number }} view
 */
export async function sharedFile(trace, view) {
  const answer = await fetch(BLANK);
  if (!answer.ok) throw new Error(`The site is incomplete: ${BLANK} is missing.`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  page.title = trace.title;
  const [title, data, viewer] = ["h1", "#trace", "#viewer"].map((part) => page.querySelector(part));
  if (title) title.textContent = trace.title;
  if (data) data.textContent = asScript(trace);
  viewer?.setAttribute("data-view", JSON.stringify(view));
  return new Blob([`<!doctype html>\n${page.documentElement.outerHTML}`], { type: "text/html" });
}

/**
 * JSON that cannot end a script element, with arrays encoded for a file.
 * @param {unknown} value
 */
function asScript(value) {
  /** @param {string} _ @param {any} part of anything */
  const plain = (_, part) =>
    part?.values instanceof Float32Array ? encodeArray(part) : part;
  return JSON.stringify(value, plain).replaceAll("<", "\\u003c");
}

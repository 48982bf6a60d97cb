/** One trace as a page of its own, like Python's ntm.studio.sharing, from a page that Python wrote. */

import { encodeArray } from "../../studio/static/arrays.js";

const BLANK = "data/shared.html";

/** The page as a Blob; it opens at the step and head of `view`. */
export async function sharedFile(trace, view) {
  const answer = await fetch(BLANK);
  if (!answer.ok) throw new Error(`The site is not whole: ${BLANK} is missing.`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  page.title = page.querySelector("h1").textContent = trace.title;
  page.getElementById("trace").textContent = asScript(trace);
  page.getElementById("viewer").dataset.view = JSON.stringify(view);
  return new Blob([`<!doctype html>\n${page.documentElement.outerHTML}`], { type: "text/html" });
}

/** JSON that ends no script tag, with arrays as a file can hold them. */
function asScript(value) {
  const plain = (_, part) =>
    part?.values instanceof Float32Array ? encodeArray(part) : part;
  return JSON.stringify(value, plain).replaceAll("<", "\\u003c");
}

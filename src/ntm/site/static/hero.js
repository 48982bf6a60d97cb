/** The first chapter: a trained network copies a sequence, and one that is six times longer. */

import { find } from "../../studio/static/dom.js";
import { readTrace } from "../../studio/static/trace.js";
import { attempt } from "./attempts.js";
import { Reel, showInUse } from "./reel.js";
import { verdictOf } from "./verdicts.js";

/** @import { Backend } from "./backend.js" */

export const NETWORK = "pretrained:copy-ff";
const LENGTHS = [20, 120];
const SEED = 2;

/** @param {HTMLElement} chapter @param {Backend} backend */
export function startHero(chapter, backend) {
  const button = find("hero-longer", HTMLButtonElement);
  const verdict = find("hero-verdict", HTMLElement);
  const lanes = ["Input", "Output", "write", "read"];
  const reel = new Reel(find("hero-tape", HTMLElement), { label: "A copy over time", lanes, plays: true });
  let length = LENGTHS[0];

  async function run() {
    const problem = backend.example(NETWORK, { length }, SEED);
    const trace = await backend.trace({ network: NETWORK, problem }).catch((error) => {
      verdict.textContent = "";
      throw error;
    });
    showInUse(reel, readTrace(trace));
    const training = length > LENGTHS[0] ? `. In training it saw at most ${LENGTHS[0]}.` : "";
    verdict.textContent = `${length} vectors: ${verdictOf(trace)}${training}`;
    button.textContent = length === LENGTHS[0] ? "Make the sequence six times longer" : "Back to 20 vectors";
  }
  button.addEventListener("click", () => {
    length = LENGTHS[Number(length === LENGTHS[0])];
    return attempt(chapter, run);
  });
  find("hero-watch", HTMLButtonElement).addEventListener("click", () => {
    find("story-watch", HTMLElement).scrollIntoView();
    find("watch-start", HTMLButtonElement).click();
  });
  return run;
}

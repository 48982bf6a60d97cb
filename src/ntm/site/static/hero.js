/** The first chapter: a trained network copies a sequence, and one that is six times longer. */

import { find } from "../../studio/static/dom.js";
import { readTrace } from "../../studio/static/trace.js";
import { Reel, showInUse } from "./reel.js";
import { verdictOf } from "./verdicts.js";

/** @import { Backend } from "./backend.js" */

export const NETWORK = "pretrained:copy-ff";
const LENGTHS = [20, 120];
const SEED = 2;
const NARROW = 600; // CSS pixels

/** @param {HTMLElement} _ @param {Backend} backend */
export async function startHero(_, backend) {
  const button = find("hero-longer", HTMLButtonElement);
  const verdict = find("hero-verdict", HTMLElement);
  // On a phone, both slanted lines fit above the fold only without the input.
  const lanes = [...(innerWidth < NARROW ? [] : ["Input"]), "Output", "write", "read"];
  const reel = new Reel(find("hero-tape", HTMLElement), { label: "A copy over time", lanes, plays: true });
  let length = LENGTHS[0];

  async function run() {
    const problem = backend.example(NETWORK, { length }, SEED);
    const trace = await backend.trace({ network: NETWORK, problem });
    showInUse(reel, readTrace(trace));
    verdict.textContent = `${length} vectors: ${verdictOf(trace)}`;
    button.textContent = length === LENGTHS[0] ? "Make it six times longer" : "Back to 20 vectors";
  }
  button.addEventListener("click", () => {
    length = LENGTHS[Number(length === LENGTHS[0])];
    return run();
  });
  find("hero-watch", HTMLButtonElement).addEventListener("click", () => {
    find("story-watch", HTMLElement).scrollIntoView();
    find("watch-start", HTMLButtonElement).click();
  });
  await run();
}

/** The fifth chapter: the same vectors given to an untrained network, a trained one, and an LSTM. */

import { capitalised, find, make } from "../../studio/static/dom.js";
import { readTrace } from "../../studio/static/trace.js";
import { NETWORK } from "./hero.js";
import { Reel, showInUse } from "./reel.js";
import { verdictOf } from "./verdicts.js";

/** @import { Backend } from "./backend.js" */

const LENGTHS = [20, 120];
const SEED = 4;
const HEADS = ["Output", "write", "read"];
const NETWORKS = [
  { id: "untrained:copy", title: "With a tape, untrained", lanes: HEADS },
  { id: NETWORK, title: "With a tape, trained on up to 20 vectors", lanes: HEADS },
  { id: "baseline:copy", title: "LSTM, trained on up to 20 vectors", lanes: ["Output"] },
];

/** @param {HTMLElement} _ @param {Backend} backend */
export function startSideBySide(_, backend) {
  const { sequences } = backend.find("baseline:copy");
  find("beside-sequences", HTMLElement).textContent = (sequences ?? 0).toLocaleString("en");
  const place = find("beside-runs", HTMLElement);
  const problems = LENGTHS.map((length) => backend.example(NETWORK, { length }, SEED));
  const columns = NETWORKS.flatMap((network) => problems.map((problem, i) => {
    const verdict = make("p", { class: "outcome" }, "Loading ...");
    const picture = make("div", { class: "viewer" });
    const title = `${network.title}: ${LENGTHS[i]} vectors`;
    const element = make("article", { class: "card" }, make("h3", {}, title), picture, verdict);
    const reel = new Reel(picture, { label: `${title}, over time`, lanes: network.lanes });
    return { id: network.id, problem, verdict, reel, element };
  }));
  place.replaceChildren(...columns.map(({ element }) => element));
  return () => Promise.all(columns.map(async ({ id, problem, verdict, reel }) => {
    const trace = await backend.trace({ network: id, problem });
    showInUse(reel, readTrace(trace));
    verdict.textContent = `${capitalised(verdictOf(trace))}.`;
  }));
}

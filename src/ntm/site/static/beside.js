/** The fifth chapter: the same vectors given to an untrained network, a trained one, and an LSTM. */

import { find, make } from "../../studio/static/dom.js";
import { readTrace } from "../../studio/static/trace.js";
import { NETWORK } from "./hero.js";
import { Reel, showInUse } from "./reel.js";
import { verdictOf } from "./verdicts.js";

/** @import { Backend } from "./backend.js" */

const LENGTHS = [20, 120];
const SEED = 4;
const HEADS = ["Output", "write", "read"];
const NETWORKS = [
  { id: "untrained:copy", title: "Untrained", lanes: HEADS },
  { id: NETWORK, title: "Trained on up to 20 vectors", lanes: HEADS },
  { id: "baseline:copy", title: "LSTM, trained on up to 20 vectors", lanes: ["Output"] },
];

/** @param {HTMLElement} _ @param {Backend} backend */
export async function startSideBySide(_, backend) {
  const { sequences } = backend.find("baseline:copy");
  find("beside-sequences", HTMLElement).textContent = (sequences ?? 0).toLocaleString("en");
  const place = find("beside-runs", HTMLElement);
  const problems = LENGTHS.map((length) => backend.example(NETWORK, { length }, SEED));
  const columns = NETWORKS.flatMap((network) => problems.map((problem, i) => {
    const verdict = make("p", { class: "outcome" }, "Loading ...");
    const picture = make("div", { class: "viewer" });
    const title = `${network.title}: ${LENGTHS[i]} vectors`;
    const element = make("article", { class: "card" }, make("h3", {}, title), picture, verdict);
    return { id: network.id, lanes: network.lanes, title, problem, verdict, picture, element };
  }));
  place.replaceChildren(...columns.map(({ element }) => element));
  await Promise.all(columns.map(async ({ id, title, lanes, problem, verdict, picture }) => {
    const reel = new Reel(picture, { label: `${title}, over time`, lanes });
    const trace = await backend.trace({ network: id, problem });
    showInUse(reel, readTrace(trace));
    verdict.textContent = `${verdictOf(trace)}.`;
  }));
}

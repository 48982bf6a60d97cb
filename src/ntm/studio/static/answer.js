/** The answer in words and as a table, for screen readers, for copying and for checking. */

import { formatNumber, partAt } from "./arrays.js";
import { make } from "./dom.js";
import { answerText, symbolTable } from "./symbols.js";
import { isWrong } from "./trace.js";

/** @import { Trace, Values } from "./types.d.ts" */

/** @param {Trace} trace */
export function makeSummary(trace) {
  const verdict = make("p", { class: "verdict" }, ...verdictOf(trace));
  return make("header", { class: "summary" }, make("h2", {}, trace.title), verdict);
}

/** @param {Trace} trace */
function verdictOf(trace) {
  const parts = [];
  const { optimal, targets } = trace;
  const areSymbols = trace.kinds.outputs === "symbols";
  const unit = areSymbols ? "symbols" : "bits";
  if (optimal && targets) {
    return [make("span", {}, costBesideOptimum(trace.costBits, optimal, targets))];
  }
  if (trace.wrongBits !== null) {
    const scored = trace.answering.size * (areSymbols ? 1 : trace.outputs.shape[1]);
    const some = trace.wrongBits > 0;
    const all = scored === 1 ? "Right" : `All ${scored} ${unit} right`;
    const count = some ? `${trace.wrongBits} of ${scored} ${unit} wrong` : all;
    parts.push(make("strong", { class: some ? "bad" : "good" }, count));
  }
  if (trace.costBits !== null) {
    parts.push(make("span", {}, `cost ${formatNumber(trace.costBits)} bits`));
  }
  if (areSymbols && trace.answering.size) {
    parts.push(make("span", { class: "said" }, "answer ", make("code", {}, answerText(trace))));
  }
  return parts;
}

/**
 * The cost next to the cost of the best possible predictor, for tasks whose answers are guesses.
 * @param {number | null} costBits @param {Values} optimal @param {Values} targets
 */
function costBesideOptimum(costBits, optimal, targets) {
  const bits = optimal.values.map((p, i) => -Math.log2(targets.values[i] > 0.5 ? p : 1 - p));
  const least = bits.reduce((sum, cost) => sum + cost, 0);
  return `cost ${formatNumber(costBits ?? NaN)} bits; the best possible predictor costs ` +
    `${formatNumber(least)} bits here`;
}

/**
 * The answer as a table that is closed at first. It is built when it is opened, because long
 * answers have thousands of cells. It stays open for the next trace, as `view.tableOpen`.
 * @param {Trace} trace @param {{ tableOpen: boolean }} view
 */
export function makeAnswerTable(trace, view) {
  const title = make("summary", {}, "The answer as a table");
  const details = make("details", { class: "answer" }, title);
  details.addEventListener("toggle", () => {
    view.tableOpen = details.open;
    if (details.open && !details.querySelector("table")) {
      const reachable = { tabindex: "0", role: "group", "aria-label": "Table of the answer" };
      details.append(make("div", { class: "scrolls", ...reachable }, answerTable(trace)));
    }
  });
  details.open = view.tableOpen;
  return details;
}

/** @param {Trace} trace */
function answerTable(trace) {
  const steps = trace.answering.size ? [...trace.answering] : [...Array(trace.steps).keys()];
  if (trace.kinds.outputs === "symbols") return symbolTable(trace, steps);
  const names = trace.labels.outputs.map((name) => make("th", { scope: "col" }, name));
  const head = make("tr", {}, make("th", { scope: "col" }, "step"), ...names);
  const rows = steps.map((step) => {
    const outputs = [...partAt(trace.outputs, step)];
    const cells = outputs.map((output, channel) => answerCell(trace, step, channel, output));
    return make("tr", {}, make("th", { scope: "row" }, String(step + 1)), ...cells);
  });
  const caption = make("caption", {}, "The probability of a one for every output; ",
    make("span", { class: "bad" }, "X"), " marks outputs on the wrong side of one half.");
  return make("table", {}, caption, make("thead", {}, head), make("tbody", {}, ...rows));
}

/** @param {Trace} trace @param {number} step @param {number} channel @param {number} output */
function answerCell(trace, step, channel, output) {
  const text = Number.isFinite(output) ? output.toFixed(4) : "not a number";
  if (!isWrong(trace, step, channel)) return make("td", {}, text);
  return make("td", { class: "bad" }, `${text} X`);
}

/** The table of runs. Each run has a row, which is updated in place. */

import { formatNumber } from "./arrays.js";
import { makeSwatch } from "./chart.js";
import { make } from "./dom.js";
import { durationInWords, secondsLeft } from "./runlist.js";

/** @import { RunListed } from "./python.d.ts" */
/** @import { RunColumn, RunOrder } from "./runlist.js" */
/** @import { Colours } from "./types.d.ts" */
/**
 * @typedef {{ show: (shown: boolean) => void, pointAt: (pointed: boolean) => void,
 *   stop: () => void, resume: () => void, remove: () => void }} RunActions
 */

/** @type {[RunColumn, string][]} */
const COLUMNS = [
  ["name", "Run"], ["state", "State"], ["sequences", "Sequences"], ["bits", "Bits"],
];

/**
 * `order` is { column, descending }; clicks call `onSort(column)` and `onShowAll(shown)`.
 * @param {RunOrder} order @param {(column: RunColumn) => void} onSort @param {(shown: boolean) => void} onShowAll
 */
export function makeRunTable(order, onSort, onShowAll) {
  const all = make("input", { type: "checkbox", checked: true, "aria-label": "Show all runs" });
  all.addEventListener("change", () => onShowAll(all.checked));
  const headings = COLUMNS.map(([column, title]) => {
    const button = make("button", { type: "button", class: "sort" }, title);
    button.addEventListener("click", () => onSort(column));
    return make("th", { scope: "col", "data-column": column }, button);
  });
  const last = make("th", { scope: "col" }, make("span", { class: "unseen" }, "Actions"));
  const head = make("tr", {}, make("th", { scope: "col" }, all), ...headings, last);
  const element = make("table", { class: "run-table" }, make("thead", {}, head), make("tbody"));

  function showOrder() {
    for (const heading of headings) {
      const sorted = heading.dataset.column === order.column;
      if (sorted) heading.setAttribute("aria-sort", order.descending ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    }
  }
  showOrder();
  return { element, showOrder, all };
}

/**
 * `colours` are the colours of the run's model; `actions` are show(shown), pointAt(pointed),
 * stop(), resume() and remove().
 * @param {RunListed} run @param {Colours | undefined} colours @param {number} marker @param {RunActions} actions
 */
export function makeRunRow(run, colours, marker, actions) {
  const row = buildRow(run.name, makeSwatch(colours, marker));
  row.box.addEventListener("change", () => actions.show(row.box.checked));
  row.stop.addEventListener("click", actions.stop);
  row.resume.addEventListener("click", actions.resume);
  row.remove.addEventListener("click", actions.remove);
  for (const event of ["pointerenter", "focusin"]) {
    row.element.addEventListener(event, () => actions.pointAt(true));
  }
  for (const event of ["pointerleave", "focusout"]) {
    row.element.addEventListener(event, () => actions.pointAt(false));
  }
  const elements = [row.element, row.below];
  /** @param {RunListed} now @param {boolean} shown */
  const update = (now, shown) => updateRow(row, now, shown);
  return { elements, marker, update };
}

/** @param {string} name @param {Element} swatch */
function buildRow(name, swatch) {
  const box = make("input", { type: "checkbox", "aria-label": `Show ${name}` });
  const link = make("a", { href: `#play/run:${name}` }, name);
  const reason = make("td", { class: "reason", colspan: COLUMNS.length + 1 });
  const state = make("span", { class: "state" });
  const progress = make("progress", { max: 1, "aria-label": `Progress of ${name}` });
  const left = make("span", { class: "left" });
  const [seen, cost] = [0, 1].map(() => make("td", { class: "number" }));
  const [stop, resume, remove] = ["Stop", "Resume", "Delete"].map((word) =>
    make("button", { type: "button", "aria-label": `${word} ${name}` }, word));
  const element = make(
    "tr", { "data-run": name },
    make("td", {}, box),
    make("th", { scope: "row" }, swatch, link),
    make("td", {}, state, progress, left), seen, cost,
    make("td", { class: "row-actions" }, stop, resume, remove),
  );
  const below = make("tr", {}, make("td"), reason);
  return { element, below, box, reason, state, progress, left, seen, cost, stop, resume, remove };
}

/** @param {ReturnType<typeof buildRow>} row @param {RunListed} run @param {boolean} shown */
function updateRow(row, run, shown) {
  const going = run.state === "running";
  const seconds = secondsLeft(run);
  const speed = run.speed === null ? "" : `${formatNumber(run.speed)}/s`;
  row.element.dataset.state = run.state;
  row.box.checked = shown;
  put(row.state, run.state);
  put(row.reason, run.reason ?? "");
  row.below.hidden = !run.reason;
  const most = run.at_most ? "at most " : ""; // while starts are on trial
  put(row.left, seconds === null ? "" : `${most}${durationInWords(seconds)} left, ${speed}`);
  row.progress.hidden = !going || !run.total;
  row.progress.value = run.total ? run.sequences / run.total : 0;
  put(row.seen, run.sequences.toLocaleString("en"));
  put(row.cost, run.bits === null ? "" : formatNumber(run.bits));
  row.stop.hidden = !run.can_stop;
  const verb = run.state === "finished" ? "Extend" : "Resume";
  put(row.resume, verb);
  row.resume.setAttribute("aria-label", `${verb} ${run.name}`);
  row.resume.hidden = going || !run.total;
  row.remove.hidden = going;
}

/**
 * Set a text only if it differs: a page of 600 rows is updated every second.
 * @param {Element} element @param {string} text
 */
function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

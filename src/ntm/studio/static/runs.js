/** The table of runs: a row per run, which is changed in place as the run goes on. */

import { formatNumber } from "./arrays.js";
import { makeSwatch } from "./chart.js";
import { make } from "./dom.js";

export function makeRunTable() {
  const titles = ["Shown", "Run", "State", "Sequences", "Bits"];
  const cells = titles.map((title) => make("th", { scope: "col" }, title));
  const last = make("th", { scope: "col" }, make("span", { class: "unseen" }, "Stop"));
  return make("table", { class: "run-table" },
    make("thead", {}, make("tr", {}, ...cells, last)), make("tbody"));
}

/** `actions` are show(shown), pointAt(pointed) and stop(). */
export function makeRunRow({ name, model }, marker, actions) {
  const box = make("input", { type: "checkbox", checked: true, "aria-label": `Show ${name}` });
  const link = make("a", { href: `#play/run:${name}`, title: "Play with this network" }, name);
  const state = make("span", { class: "state" });
  const progress = make("progress", { max: 1, "aria-label": `Progress of ${name}` });
  const [seen, cost] = [0, 1].map(() => make("td", { class: "number" }));
  const stop = make("button", { type: "button", "aria-label": `Stop ${name}` }, "Stop");
  const element = make(
    "tr", { "data-run": name },
    make("td", {}, box), make("th", { scope: "row" }, makeSwatch(model ?? "unknown", marker), link),
    make("td", {}, state, progress), seen, cost, make("td", {}, stop),
  );
  box.addEventListener("change", () => actions.show(box.checked));
  element.addEventListener("pointerenter", () => actions.pointAt(true));
  element.addEventListener("pointerleave", () => actions.pointAt(false));
  stop.addEventListener("click", () => {
    stop.disabled = true;
    actions.stop();
  });

  function update(run) {
    element.dataset.state = state.textContent = run.state;
    state.title = run.reason ?? "";
    progress.hidden = run.state !== "running" || !run.total;
    progress.value = run.total ? run.sequences / run.total : 0;
    seen.textContent = run.sequences.toLocaleString("en");
    cost.textContent = run.bits === null ? "" : formatNumber(run.bits);
    stop.hidden = !run.can_stop;
  }
  return { element, update, marker };
}

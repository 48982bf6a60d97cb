/** The fourth chapter: switches that turn off parts of the network, a memory to edit, and a problem that does not fit. */

import { find, findAll, make } from "../../studio/static/dom.js";
import { readTrace } from "../../studio/static/trace.js";
import { attempt } from "./attempts.js";
import { LESSONS } from "./lessons.js";
import { MachineView } from "./machine.js";
import { Reel, showInUse } from "./reel.js";
import { verdictOf } from "./verdicts.js";

/** @import { Sizes } from "../../studio/static/types.d.ts" */
/** @import { Backend } from "./backend.js" */
/** @import { Lesson } from "./lessons.js" */
/** @import { Cell } from "./machine.js" */
/** @import { Damage } from "./types.d.ts" */
/** @typedef {{ network: string, sizes: Sizes, what: string, canEdit?: boolean, first?: number, reason?: string }} Run */

const SEED = 2;
const FIRST_STEP = 10;
/**
 * The problems to choose from. The memory can be edited only in a network with a feedforward
 * controller; see meddling.js.
 * @type {Record<string, Run>}
 */
const RUNS = {
  copy: { network: "pretrained:copy-ff", sizes: { length: 20 }, what: "20 vectors", canEdit: true },
  long: {
    network: "pretrained:copy-ff", sizes: { length: 140 }, what: "140 vectors", canEdit: true,
    reason: "The memory has 128 locations, too few for 140 vectors: the last vectors overwrite the first, and the place " +
      "where the read head waits. The read head then loses its way, so nearly every bit is a guess.",
  },
  recall: { network: "pretrained:associative-recall-lstm", sizes: { items: 6 }, what: "The item that follows", first: 28 },
};

/** @param {HTMLElement} chapter @param {Backend} backend */
export function startBreaking(chapter, backend) {
  const breaking = new Breaking(chapter, backend);
  breaking.machine.step = FIRST_STEP;
  return async () => {
    await breaking.run();
    breaking.choose({ location: breaking.machine.place, component: 0 });
  };
}

class Breaking {
  /** @type {Required<Damage>} */
  damage = { without: [], edit: null, fix: null };
  /** Number of wrong bits of each problem without damage. @type {Record<string, number>} */
  usual = {};
  asked = 0; // runs; a late answer to an earlier one is out of date
  parts = {
    ...findAll(HTMLElement, ["verdict", "switches", "memory", "machine", "tape"], "break-"),
    ...findAll(HTMLInputElement, ["location", "component", "value"], "break-"),
    ...findAll(HTMLButtonElement, ["set", "clear", "restore"], "break-"),
    task: find("break-task", HTMLSelectElement),
  };
  reel = new Reel(this.parts.tape, { label: "The changed run over time", lanes: ["Output", "write", "read"] });
  machine = new MachineView(this.parts.machine, { label: "The memory to edit", onCell: (cell) => this.choose(cell) });

  /** @param {HTMLElement} chapter @param {Backend} backend */
  constructor(chapter, backend) {
    this.chapter = chapter;
    this.backend = backend;
    const { switches, task, set, clear, restore, value } = this.parts;
    switches.append(...LESSONS.map((lesson) => this.makeSwitch(lesson)));
    task.addEventListener("change", () => this.pose());
    set.addEventListener("click", () => this.edit(this.parts.component.valueAsNumber - 1, value.valueAsNumber));
    clear.addEventListener("click", () => this.edit(null, 0));
    restore.addEventListener("click", () => this.change({ edit: null }));
  }

  /** @param {Lesson} lesson */
  makeSwitch({ part, title }) {
    const box = make("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      const others = this.damage.without.filter((other) => other !== part);
      return this.change({ without: box.checked ? others : [...others, part] });
    });
    return make("label", { class: "check card" }, box, title);
  }

  /**
   * Fill in the fields of the cell to edit.
   * @param {Cell} cell
   */
  choose({ location, component }) {
    this.parts.location.value = String(location);
    this.parts.component.value = String(component + 1);
  }

  /**
   * Write a number into a cell of the memory after the step that is shown.
   * @param {number | null} component @param {number} value
   */
  async edit(component, value) {
    const { location } = this.parts;
    const fields = [this.parts.component, this.parts.value, location];
    if (!fields.every((field) => field.reportValidity())) return;
    const { step } = this.machine;
    await this.change({ edit: { step, location: location.valueAsNumber, component, value } });
  }

  /** Show the chosen problem, at a step where something happens. */
  async pose() {
    await this.change({ edit: null });
    this.machine.goTo(RUNS[this.parts.task.value].first ?? FIRST_STEP);
  }

  /** @param {Damage} change */
  async change(change) {
    Object.assign(this.damage, change);
    await attempt(this.chapter, () => this.run());
  }

  /** Run the damaged network, and say what happened. */
  async run() {
    const asked = (this.asked += 1);
    const task = this.parts.task.value;
    const run = RUNS[task];
    this.parts.memory.hidden = !run.canEdit;
    this.parts.restore.disabled = !this.damage.edit;
    const { network } = run;
    const problem = this.backend.example(network, run.sizes, SEED);
    this.usual[task] ??= (await this.backend.trace({ network, problem })).wrong_bits ?? 0;
    const trace = await this.backend.trace({ network, problem }, null, this.damage);
    if (asked !== this.asked) return;
    const shown = readTrace(trace);
    showInUse(this.reel, shown);
    this.machine.show(shown);
    const sentences = [`${run.what}: ${verdictOf(trace)}.`, ...this.reasons((trace.wrong_bits ?? 0) > this.usual[task], run)];
    this.parts.verdict.textContent = sentences.join(" ");
  }

  /** @param {boolean} worse whether the damage made the answer worse @param {Run} run */
  reasons(worse, { reason }) {
    const { without, edit } = this.damage;
    const off = LESSONS.filter(({ part }) => without.includes(part));
    const reasons = off.map(({ broken, spared }) => (worse ? broken : spared));
    if (edit) {
      const what = edit.component === null ? "was cleared" : `got the number ${edit.value} in component ${edit.component + 1}`;
      const outcome = worse
        ? "the vector that was stored there is damaged"
        : "the answer is as good as before, because this number was not needed, or was overwritten later";
      reasons.push(`Location ${edit.location} ${what} after step ${edit.step + 1}: ${outcome}.`);
    }
    return reason ? [...reasons, reason] : reasons;
  }
}

/** The fourth chapter: switches that turn off parts of the network, a memory to edit, and a problem that does not fit. */

import { partAt, peakOf } from "../../studio/static/arrays.js";
import { find, findAll, make } from "../../studio/static/dom.js";
import { IN_USE, locationsOf, readTrace, stretchInUse } from "../../studio/static/trace.js";
import { attempt } from "./attempts.js";
import { LESSONS, titleOf } from "./lessons.js";
import { MachineView } from "./machine.js";
import { Reel } from "./reel.js";
import { verdictOf } from "./verdicts.js";

/** @import { Sizes, Stretch, Trace, TraceDocument } from "../../studio/static/types.d.ts" */
/** @import { Backend } from "./backend.js" */
/** @import { Lesson } from "./lessons.js" */
/** @import { Cell } from "./machine.js" */
/** @import { Damage, Edit } from "./types.d.ts" */
/** @typedef {{ network: string, sizes: Sizes, what: string, canEdit?: boolean, first?: number, reason?: string, guess?: string }} Run */

const SEED = 2;
const FIRST_STEP = 10;
const MARGIN = 4; // locations
const VECTOR = 8; // bits
const GUESSED = 0.4; // share of wrong bits of a network that guesses
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
      "where the read head waits.",
    guess: "The read head then loses its way, so nearly every bit is a guess.",
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
  /** Wrong bits and locations of each problem without damage. @type {Record<string, { wrong: number, stretch: Stretch }>} */
  usual = {};
  asked = 0; // runs; a late answer to an earlier one is out of date
  parts = {
    ...findAll(HTMLElement, ["verdict", "switches", "memory", "machine", "tape", "shown"], "break-"),
    ...findAll(HTMLInputElement, ["location", "component", "value"], "break-"),
    ...findAll(HTMLButtonElement, ["set", "clear", "restore"], "break-"),
    task: find("break-task", HTMLSelectElement),
  };
  reel = new Reel(this.parts.tape, { label: "The changed run over time", lanes: ["Input", "Output", "write", "read"] });
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
  makeSwitch({ part }) {
    const box = make("input", { type: "checkbox", checked: true });
    box.addEventListener("change", () => {
      const others = this.damage.without.filter((other) => other !== part);
      return this.change({ without: box.checked ? others : [...others, part] });
    });
    return make("label", { class: "check card" }, box, titleOf(part));
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
    const usual = (this.usual[task] ??= usualOf(await this.backend.trace({ network, problem })));
    const trace = await this.backend.trace({ network, problem }, null, this.damage);
    if (asked !== this.asked) return;
    this.show(readTrace(trace), usual.stretch);
    const wrong = trace.wrong_bits ?? 0;
    const guesses = wrong > GUESSED * trace.answer_steps.length * trace.labels.outputs.length;
    // A part that is missing explains a worse answer better than the size of the memory.
    const { reason = "", guess = "" } = wrong > usual.wrong && this.damage.without.length ? { reason: "" } : run;
    // The undamaged network may be wrong too.
    const same = reason && `the answer is ${guesses ? "no worse" : "better"}`;
    const sentences = [`${run.what}: ${verdictOf(trace)}.`, ...this.effects(wrong - usual.wrong, same), reason, guesses ? guess : ""];
    this.parts.verdict.textContent = sentences.filter(Boolean).join(" ");
  }

  /**
   * Show a run at the locations that the undamaged network uses, so that all runs have the same axes.
   * Show all locations if a head of the damaged network is elsewhere.
   * @param {Trace} trace @param {Stretch} usual
   */
  show(trace, usual) {
    const total = locationsOf(trace);
    const stays = staysWithin(usual, trace);
    const stretch = stays ? usual : { start: 0, count: total };
    this.reel.show(trace, stretch);
    this.machine.show(trace, stretch);
    const places = placesIn(stretch, total);
    this.parts.shown.textContent = stays ? `Shown: ${places}.` : `A head leaves its usual locations. Shown: ${places}.`;
  }

  /**
   * The effects of the damage in words.
   * @param {number} more wrong bits than without damage
   * @param {string} same outcome of other damage, empty if the undamaged network is right
   */
  effects(more, same) {
    const { without, edit } = this.damage;
    const off = LESSONS.filter(({ part }) => without.includes(part));
    const effects = off.map(({ off: how, broken, spared }) => {
      if (more > 0) return `${how}, ${broken}`;
      return same ? `${how}, ${same}.` : spared;
    });
    return edit ? [...effects, effectOf(edit, more)] : effects;
  }
}

/** @param {Edit} edit @param {number} more wrong bits than without damage */
function effectOf({ step, location, component, value }, more) {
  const what = component === null ? "was cleared" : `got the number ${value} in component ${component + 1}`;
  const outcome = more > 0
    ? "the network needed what was stored there."
    : "the answer is as good as before, because this number was not needed, or was overwritten later.";
  const spread = " The controller steers the heads by what it reads, so other vectors are wrong too.";
  return `Location ${location} ${what} after step ${step + 1}: ${outcome}${more > VECTOR ? spread : ""}`;
}

/** @param {TraceDocument} trace of the undamaged network */
function usualOf(trace) {
  return { wrong: trace.wrong_bits ?? 0, stretch: widened(readTrace(trace)) };
}

/**
 * The locations in use and a few more on both sides, because a damaged head may go a little further.
 * @param {Trace} trace
 * @returns {Stretch}
 */
function widened(trace) {
  const total = locationsOf(trace);
  const { start, count } = stretchInUse(trace);
  if (count + 2 * MARGIN >= total) return { start: 0, count: total };
  return { start: (start - MARGIN + total) % total, count: count + 2 * MARGIN };
}

/**
 * Whether every head is in a stretch at every step. A head that is spread thinly is nowhere.
 * @param {Stretch} stretch @param {Trace} trace
 */
function staysWithin({ start, count }, trace) {
  const total = locationsOf(trace);
  return trace.heads.every(({ weightings }) => [...Array(trace.steps).keys()].every((step) => {
    const weighting = partAt(weightings, step);
    const peak = peakOf(weighting);
    return weighting[peak] < IN_USE || (peak - start + total) % total < count;
  }));
}

/**
 * A stretch in words. It may continue at the other end of the memory.
 * @param {Stretch} stretch @param {number} total locations
 */
function placesIn({ start, count }, total) {
  if (count === total) return `all ${total} locations`;
  const last = start + count - 1;
  const wrapped = last < total ? `${start} to ${last}` : `${start} to ${total - 1} and 0 to ${last - total}`;
  return `locations ${wrapped}`;
}

/** The third chapter: the machine at one step, and the four stages of addressing one at a time. */

import { find, findAll, makeChoice } from "../../studio/static/dom.js";
import { makeEquation } from "../../studio/static/equations.js";
import { formatNumber, partAt } from "../../studio/static/arrays.js";
import { readTrace, stretchInUse } from "../../studio/static/trace.js";
import { attempt } from "./attempts.js";
import { NETWORK } from "./hero.js";
import { LINKS, fullTitle } from "./links.js";
import { MachineView } from "./machine.js";
import { verdictOf } from "./verdicts.js";

/** @import { Stretch, TraceDocument } from "../../studio/static/types.d.ts" */
/** @import { Backend } from "./backend.js" */
/** @import { Link } from "./links.js" */
/** @import { Fix } from "./types.d.ts" */

const LENGTH = 8;
const SEED = 3;
const FIRST_STEP = 4;
const BLURRED = 0.95; // weight of the location where a blurred head is

/** @param {HTMLElement} chapter @param {Backend} backend */
export function startWorking(chapter, backend) {
  const working = new Working(chapter, backend);
  working.choose(0);
  working.machine.step = FIRST_STEP;
  return () => working.run();
}

class Working {
  number = 0; // of the link that is shown
  /** @type {Fix | null} */
  fix = null;
  /** @type {Stretch | undefined} */
  stretch = undefined; // the locations of the first run, which all runs show
  asked = 0; // runs; a late answer to an earlier one is out of date
  parts = {
    ...findAll(HTMLElement, ["choice", "title", "text", "equation", "control", "value", "machine", "verdict"], "links-"),
    slider: find("links-slider", HTMLInputElement),
    ...findAll(HTMLButtonElement, ["reset", "next"], "links-"),
  };
  machine = new MachineView(this.parts.machine, { label: "The memory of the lesson", chain: true, onMove: () => this.release() });

  /** @param {HTMLElement} chapter @param {Backend} backend */
  constructor(chapter, backend) {
    this.chapter = chapter;
    this.backend = backend;
    const { choice, slider, reset, next } = this.parts;
    /** @type {[string, string][]} */
    const choices = LINKS.map(({ title }, i) => [String(i), `${i + 1}. ${title}`]);
    choice.append(makeChoice("Stage", "links-choice", choices, "0", (value) => this.choose(Number(value))));
    slider.addEventListener("input", () => this.change(slider.valueAsNumber));
    reset.addEventListener("click", () => this.release());
    next.addEventListener("click", () => this.goOn());
  }

  get link() {
    return LINKS[this.number];
  }

  /** Show the next link, and the first one after the last. */
  goOn() {
    const radios = this.parts.choice.querySelectorAll("input");
    radios[(this.number + 1) % LINKS.length].click();
  }

  /** @param {number} number */
  choose(number) {
    this.number = number;
    const { title, text, equation, control, slider, machine, next } = this.parts;
    const { least, most, by } = this.link;
    title.textContent = `${number + 1}. ${fullTitle(this.link)}`;
    text.textContent = this.link.text;
    equation.replaceChildren(makeEquation(this.link.equation));
    control.textContent = this.link.control;
    next.textContent = number + 1 < LINKS.length ? "Next stage" : "Back to stage 1";
    Object.assign(slider, { min: String(least), max: String(most), step: String(by) });
    machine.dataset.link = String(number + 1);
    this.machine.layout(); // bars that were hidden have no width yet
    this.showValue();
    if (this.fix) this.release();
  }

  /** @param {number} value */
  async change(value) {
    this.fix = { part: this.link.part, step: this.machine.step, value };
    await attempt(this.chapter, () => this.run());
  }

  /** Give the control back to the network. */
  async release() {
    this.fix = null;
    await attempt(this.chapter, () => this.run());
  }

  async run() {
    const asked = (this.asked += 1);
    const problem = this.backend.example(NETWORK, { length: LENGTH }, SEED);
    const trace = await this.backend.trace({ network: NETWORK, problem }, null, { fix: this.fix });
    if (asked !== this.asked) return;
    const shown = readTrace(trace);
    this.machine.show(shown, (this.stretch ??= stretchInUse(shown)));
    this.showValue();
    this.parts.verdict.textContent = this.sentence(trace);
  }

  /** @param {TraceDocument} trace */
  sentence(trace) {
    const at = `at step ${this.machine.step + 1}`;
    if (!this.fix) return `The network itself sets this value ${at}.`;
    const place = `the write head ends at location ${this.machine.place}`;
    const told = `You set this value ${at}: ${place}. The copy of ${LENGTH} vectors: ${verdictOf(trace)}.`;
    return trace.wrong_bits ? told : `${told}${this.excuse}`;
  }

  /** Why a change does no harm. */
  get excuse() {
    if (this.link.part === "sharpening") {
      return this.isBlurred ? " One blurred step does little harm. The next chapter turns sharpening off at every step." : "";
    }
    if (this.link.part !== "content" || this.gate > 0.5) return "";
    return ` The gate (stage 2) lets only ${Math.round(100 * this.gate)} % of the search through at this step.`;
  }

  /** Whether the write head is blurred at this step. */
  get isBlurred() {
    const { head, step, place } = this.machine;
    return Boolean(head && partAt(head.weightings, step)[place] < BLURRED);
  }

  /** The gate of the write head at this step. */
  get gate() {
    const { head, step } = this.machine;
    return head ? head.arrays.gates.values[step] : 1;
  }

  showValue() {
    const { head, step } = this.machine;
    if (!head) return;
    const value = this.link.read(head, step);
    this.parts.value.textContent = formatNumber(value);
    if (!this.fix) this.parts.slider.value = String(value);
    this.parts.reset.disabled = !this.fix;
  }
}

/** The machine at one step of a run: the tape and, if wanted, the chain of addressing; and a slider. */

import { peakOf, partAt } from "../../studio/static/arrays.js";
import { makeChain } from "../../studio/static/chain.js";
import { onThemeChange } from "../../studio/static/colours.js";
import { make } from "../../studio/static/dom.js";
import { rankedHeads } from "../../studio/static/heads.js";
import { makeTape } from "../../studio/static/tape.js";
import { makeTip } from "../../studio/static/tip.js";

/** @import { Head, Part, Stage, Stretch, Trace } from "../../studio/static/types.d.ts" */
/** @typedef {{ location: number, component: number }} Cell */

export class MachineView {
  /** @type {Trace | null} */
  trace = null;
  /** @type {Part[]} */
  #parts = [];
  step = 0;
  /** @type {Stretch} */
  #stretch = { start: 0, count: 1 }; // the locations to show
  #tip = makeTip();
  #slider = make("input", { type: "range", min: 0, max: 0, "aria-label": "Step" });
  #readout = make("output", { class: "note" });
  #body = make("div");

  /**
   * `label`: name for screen readers; `chain`: whether to show the chain of the write head; `onMove`: called when the visitor goes to
   * another step; `onCell`: called with the memory cell that the visitor presses.
   * @param {HTMLElement} place
   * @param {{ label: string, chain?: boolean, onMove?: () => void, onCell?: (cell: Cell) => void }} options
   */
  constructor(place, { label, chain = false, onMove = () => {}, onCell = () => {} }) {
    this.label = label;
    this.chain = chain;
    this.onCell = onCell;
    this.#slider.addEventListener("input", () => {
      this.goTo(Number(this.#slider.value));
      onMove();
    });
    const line = make("label", { class: "field inline time" }, make("span", {}, "Step"),
      this.#slider, this.#readout);
    place.replaceChildren(line, make("div", { class: "scrolls" }, this.#body), ...this.#tip.elements);
    new ResizeObserver(() => this.layout()).observe(place);
    onThemeChange(() => this.layout());
  }

  /** The write head that the chain explains. */
  get head() {
    return this.#headOf("write");
  }

  /** @type {Stage["headOf"]} */
  #headOf = (kind) => this.trace ? rankedHeads(this.trace, kind)[0] : undefined;

  /** @param {Trace} trace @param {Stretch} stretch locations to show */
  show(trace, stretch) {
    const { memory } = trace;
    const [write] = rankedHeads(trace, "write");
    if (!memory || !write) return;
    this.trace = trace;
    this.#stretch = stretch;
    this.#slider.max = String(trace.steps - 1);
    const stage = this.#stageOf(write);
    const tape = makeTape({ ...trace, memory }, stage);
    tape.element.setAttribute("aria-label", this.label);
    this.#parts = this.chain ? [tape, makeChain(trace, stage)] : [tape];
    this.#body.replaceChildren(...this.#parts.map(({ element }) => element));
    tape.element.querySelector(".strip canvas")?.addEventListener("click", (event) =>
      this.onCell(this.#cellAt(/** @type {MouseEvent} */ (event))));
    this.layout();
  }

  /**
   * @param {Head} write
   * @returns {Stage}
   */
  #stageOf(write) {
    return {
      tip: this.#tip,
      goTo: (step) => this.goTo(step),
      headOf: this.#headOf,
      step: () => this.step,
      chosenHead: () => write,
      stretch: () => this.#stretch,
      greatest: () => 1, // a fixed scale, so that two runs can be compared
    };
  }

  /** @param {MouseEvent} event */
  #cellAt({ offsetX, offsetY, target }) {
    const { clientWidth, clientHeight } = /** @type {HTMLElement} */ (target);
    const trace = /** @type {Trace} */ (this.trace);
    const [, locations, width] = trace.memory?.shape ?? [1, 1, 1];
    const { start, count } = this.#stretch;
    const column = Math.min(count - 1, Math.floor((offsetX / clientWidth) * count));
    const component = Math.min(width - 1, Math.floor((offsetY / clientHeight) * width));
    return { location: (start + column) % locations, component };
  }

  /** The location where the write head is at this step. */
  get place() {
    return this.head ? peakOf(partAt(this.head.weightings, this.step)) : 0;
  }

  layout() {
    if (!this.#body.offsetWidth) return;
    const [tape, ...chain] = this.#parts;
    tape?.layout();
    this.#alignWith(tape?.element.querySelector(".strip"));
    for (const part of chain) part.layout();
    this.goTo(this.step);
  }

  /**
   * Let the bars of the chain stand below the locations of the tape.
   * @param {Element | null | undefined} strip
   */
  #alignWith(strip) {
    if (!strip) return;
    const { left, width } = strip.getBoundingClientRect();
    const { style } = this.#body;
    style.setProperty("--strip-left", `${left - this.#body.getBoundingClientRect().left}px`);
    style.setProperty("--strip-width", `${width}px`);
  }

  /** @param {number} step */
  goTo(step) {
    if (!this.trace) return;
    this.step = Math.max(0, Math.min(this.trace.steps - 1, step));
    this.#slider.value = String(this.step);
    this.#readout.textContent = `${this.step + 1} of ${this.trace.steps}`;
    for (const part of this.#parts) part.show(this.step);
  }
}

/** A timeline of one run, which later runs of the same sizes replace in place. It can play by itself. */

import { onThemeChange } from "../../studio/static/colours.js";
import { rankedHeads } from "../../studio/static/heads.js";
import { makeTimeline } from "../../studio/static/timeline.js";
import { makeTip } from "../../studio/static/tip.js";
import { locationsOf, stretchInUse } from "../../studio/static/trace.js";

/** @import { Stretch, TimelineStage, Trace } from "../../studio/static/types.d.ts" */

const SECONDS = 8; // for one pass of the cursor
const REST = 1.5; // seconds at the end
const NARROW = 600; // CSS pixels
const LONGEST_FRAME = 50; // milliseconds; after a longer pause the cursor skips nothing

/** Whether the visitor asked for less motion. */
const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Whether the page shows only the tape, in a frame of another page. */
const isEmbedded = () => document.body.classList.contains("embed");

export class Reel {
  /** @type {ReturnType<typeof makeTimeline> | null} */
  #timeline = null;
  /** @type {Trace | null} */
  #trace = null;
  #sizes = ""; // of the timeline
  #step = 0;
  #played = 0; // milliseconds since the cursor started
  #last = 0; // time of the last frame
  #playing = false;
  #tip = makeTip();

  /**
   * `label`: name for screen readers; `plays`: whether the cursor moves by itself.
   * @param {HTMLElement} place @param {{ label: string, lanes: string[], plays?: boolean }} options
   */
  constructor(place, { label, lanes, plays = false }) {
    this.place = place;
    this.label = label;
    this.lanes = lanes;
    this.plays = plays;
    place.after(...this.#tip.elements);
    new ResizeObserver(() => this.layout()).observe(place);
    onThemeChange(() => this.layout());
  }

  /**
   * Show a run. Rebuilding the timeline takes longer than a frame, so it is updated if possible.
   * @param {Trace} trace @param {Stretch} [stretch] locations to show (default: all)
   */
  show(trace, stretch = { start: 0, count: locationsOf(trace) }) {
    this.#trace = trace;
    const { inputs, outputs } = trace.labels;
    const sizes = JSON.stringify([trace.steps, stretch, inputs, outputs, trace.heads.length]);
    if (sizes === this.#sizes) this.#timeline?.update(trace);
    else this.#rebuild(trace, stretch);
    this.#sizes = sizes;
    if (this.plays && !this.#playing) this.#play(trace);
  }

  /** @param {Trace} trace @param {Stretch} stretch */
  #rebuild(trace, stretch) {
    /** @type {TimelineStage} */
    const stage = {
      tip: this.#tip,
      goTo: (step) => {
        this.#playing = false;
        this.#move(step);
      },
      step: () => this.#step,
      headOf: (kind) => rankedHeads(this.#trace ?? trace, kind)[0],
      stretch: () => stretch,
      greatest: () => 1,
      lanes: this.lanes,
      get compact() {
        return innerWidth < NARROW || isEmbedded() ? "tight" : "roomy";
      },
    };
    this.#timeline = makeTimeline(trace, stage);
    this.#timeline.element.setAttribute("aria-label", this.label);
    this.place.replaceChildren(this.#timeline.element);
    this.layout();
  }

  layout() {
    if (!this.place.offsetWidth) return;
    this.#timeline?.layout();
    this.#timeline?.show(this.#step);
  }

  /** @param {number} step */
  #move(step) {
    this.#step = step;
    this.#timeline?.show(step);
  }

  /** @param {Trace} trace */
  #play(trace) {
    if (isStill()) return this.#move(trace.steps - 1);
    this.#playing = true;
    this.#last = performance.now();
    requestAnimationFrame((now) => this.#advance(now));
  }

  /** @param {number} now */
  #advance(now) {
    if (!this.#playing || !this.#trace) return;
    const last = this.#trace.steps - 1;
    this.#played += Math.max(0, Math.min(now - this.#last, LONGEST_FRAME));
    this.#last = now;
    const seconds = this.#played / 1000;
    if (seconds > SECONDS + REST) this.#played = 0;
    const step = Math.max(0, Math.min(Math.floor((seconds / SECONDS) * this.#trace.steps), last));
    if (step !== this.#step && this.place.offsetWidth) this.#move(step);
    requestAnimationFrame((later) => this.#advance(later));
  }
}

/**
 * A run at the locations that it uses.
 * @param {Reel} reel @param {Trace} trace
 */
export function showInUse(reel, trace) {
  reel.show(trace, stretchInUse(trace));
}

/** The second chapter: a network learns to copy, and every stage of its training can be revisited. */

import { drawChart } from "../../studio/static/chart.js";
import { ANY_FRAME, describePoint, frameOfBoth } from "../../studio/static/curves.js";
import { find, findAll, messageOf } from "../../studio/static/dom.js";
import { KINDS, rankedHeads, visitedBy } from "../../studio/static/heads.js";
import { makeTip } from "../../studio/static/tip.js";
import { readTrace, stretchInUse } from "../../studio/static/trace.js";
import { startMachine } from "./backend.js";
import { exampleOf } from "./example.js";
import { Reel } from "./reel.js";
import { REPORT_EVERY } from "./trainer.js";
import { verdictOf } from "./verdicts.js";

/** @import { Frame, Point, Stretch, Trace, TraceDocument } from "../../studio/static/types.d.ts" */
/** @import { Backend } from "./backend.js" */
/** @import { Catalogue, Progress } from "./types.d.ts" */
/** @typedef {{ sequences: number, picture: TraceDocument }} Snapshot */

const [TASK, MODEL] = ["copy", "ntm-ff"];
const SEQUENCES = 4_000;
const PICTURE_EVERY = 40; // sequences
const SLOW = 120; // milliseconds per picture in slow motion

/** @param {HTMLElement} chapter @param {Backend} backend */
export function startWatching(chapter, backend) {
  const watching = new Watching(chapter, backend.catalogue);
  watching.prepare();
  const problem = exampleOf(backend.catalogue.tasks[TASK], backend.catalogue.training[TASK][MODEL].task);
  return async () => watching.showUntrained(await backend.trace({ network: `untrained:${TASK}`, problem }));
}

class Watching {
  /** @type {Snapshot[]} */
  snapshots = [];
  /** @type {Point[]} */
  points = [];
  busy = false;
  follows = true; // whether the picture follows the training
  /** @type {Stretch | undefined} */
  stretch = undefined; // the locations to show; all of them at first
  seed = 1;
  tip = makeTip();
  parts = {
    ...findAll(HTMLElement, ["chart", "picture", "stage"], "watch-"),
    start: find("watch-start", HTMLButtonElement),
    ...findAll(HTMLInputElement, ["time", "slow"], "watch-"),
  };
  reel = new Reel(this.parts.picture, { label: "Learning, over time", lanes: ["Output", "write", "read"] });

  /** @param {HTMLElement} chapter @param {Catalogue} catalogue */
  constructor(chapter, catalogue) {
    this.catalogue = catalogue;
    this.message = /** @type {HTMLElement} */ (chapter.querySelector(".message"));
    this.machine = startMachine((progress) => this.take(progress));
    chapter.append(...this.tip.elements);
  }

  get wait() {
    return this.parts.slow.checked ? SLOW : 0;
  }

  prepare() {
    const { start, time, slow, chart } = this.parts;
    start.addEventListener("click", () => this.begin());
    slow.addEventListener("change", () => this.busy && this.machine("pace", { wait: this.wait }));
    time.addEventListener("input", () => {
      this.follows = Number(time.value) === this.snapshots.length - 1;
      this.show(Number(time.value));
    });
    new ResizeObserver(() => this.show(Number(time.value))).observe(chart);
  }

  /** @param {TraceDocument} picture */
  showUntrained(picture) {
    if (this.busy || this.snapshots.length) return;
    this.reel.show(readTrace(picture));
    this.parts.stage.textContent = `Before training: ${verdictOf(picture)}`;
    this.drawCurve(0);
  }

  async begin() {
    const { tasks, training, streams } = this.catalogue;
    if (this.busy) return;
    const settings = training[TASK][MODEL];
    const seed = ((this.seed - 1) % Object.keys(streams.training).length) + 1;
    this.seed = seed + 1;
    [this.snapshots, this.points] = [[], []];
    this.stretch = undefined;
    this.busy = this.follows = true;
    this.message.textContent = "";
    this.parts.start.disabled = true;
    const request = {
      facts: tasks[TASK], settings, problem: exampleOf(tasks[TASK], settings.task),
      starts: { training: streams.training[seed], weights: streams.weights[seed] },
      most: SEQUENCES, pictureEvery: PICTURE_EVERY, wait: this.wait,
    };
    await this.machine("train", request).catch((error) => this.end(messageOf(error)));
  }

  /** @param {Progress} progress */
  take({ points, picture, sequences, done, trouble }) {
    this.points.push(...points);
    if (picture) this.snapshots.push({ sequences, picture });
    const last = this.snapshots.length - 1;
    this.parts.time.max = String(Math.max(last, 0));
    this.parts.time.disabled = last < 0;
    // Enlarge the locations in use as soon as the network has found its place.
    if (picture?.wrong_bits === 0) this.stretch ??= stretchInUse(readTrace(picture));
    if (this.follows && last >= 0) this.show(last);
    if (trouble) this.end(`Training failed: ${trouble} Train again.`);
    else if (done) this.end("");
  }

  /** @param {string} trouble */
  end(trouble) {
    this.busy = false;
    this.message.textContent = trouble;
    this.parts.start.disabled = false;
    this.parts.start.textContent = "Train another network";
  }

  /**
   * Show one moment of the training: the cost so far, and the network's run.
   * @param {number} number
   */
  show(number) {
    const snapshot = this.snapshots[number];
    if (!snapshot || !this.parts.chart.clientWidth) return;
    const { picture, sequences } = snapshot;
    this.parts.time.value = String(number);
    const trace = readTrace(picture);
    this.reel.show(trace, this.stretch);
    const count = sequences.toLocaleString("en");
    const text = `After ${count} sequences: ${verdictOf(picture)}. ${linesOf(trace)}`;
    this.parts.stage.textContent = text;
    this.parts.time.setAttribute("aria-valuetext", text);
    this.drawCurve(sequences);
  }

  /** @param {number} until */
  drawCurve(until) {
    const { models, tasks } = this.catalogue;
    const { colours } = models[MODEL];
    const line = { name: "this network", model: MODEL, colours, marker: 0 };
    const seen = this.points.filter(([sequences]) => sequences <= until);
    const lines = [
      { ...line, name: "later", points: this.points, paper: true },
      { ...line, points: seen, strong: true },
    ];
    const usual = { ...(tasks[TASK].frame ?? ANY_FRAME), sequences: SEQUENCES };
    /** @type {Frame} */
    const frame = frameOfBoth(this.points, [], usual, REPORT_EVERY);
    drawChart(this.parts.chart, lines, frame, this.tip, describePoint);
  }
}

/**
 * The lines that the heads draw, in words: a head that walks visits a location per vector.
 * @param {Trace} trace
 */
function linesOf(trace) {
  const walking = KINDS.filter((kind) => {
    const [head] = rankedHeads(trace, kind);
    return visitedBy(head, trace) >= 0.8 * trace.answering.size;
  });
  if (walking.length === 0) return "No line yet: the heads do not walk.";
  if (walking.length === 1) return `One line: only the ${walking[0]} head walks.`;
  return "Two lines: both heads walk.";
}

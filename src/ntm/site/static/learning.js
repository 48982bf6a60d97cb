/** The view "Train it now": a worker trains a network, and the page shows its curve and memory. */

import { download } from "../../studio/static/api.js";
import { formatNumber } from "../../studio/static/arrays.js";
import { drawChart, makeLegend } from "../../studio/static/chart.js";
import { onThemeChange } from "../../studio/static/colours.js";
import { ANY_FRAME, describePoint, frameOfBoth, legendOf, paperLines } from "../../studio/static/curves.js";
import { find, findAll, findField, make, messageOf } from "../../studio/static/dom.js";
import { headsOf } from "../../studio/static/heads.js";
import { makeTimeline } from "../../studio/static/timeline.js";
import { makeTip } from "../../studio/static/tip.js";
import { locationsOf, readTrace } from "../../studio/static/trace.js";
import { startMachine } from "./backend.js";
import { exampleOf } from "./example.js";
import { REPORT_EVERY, trainedModel } from "./trainer.js";
import { writeSafetensors } from "./weights.js";

/** @import { LegendEntry } from "../../studio/static/chart.js" */
/** @import { Line, Point, Route, Shown, TimelineStage, Trace } from "../../studio/static/types.d.ts" */
/** @import { Backend } from "./backend.js" */
/** @import { Catalogue, NetworkFacts, Progress, Settings, Tensors } from "./types.d.ts" */
/** @typedef {{ task: string, model: string, seed: number }} Choice */
/** @typedef {Choice & { settings: Settings }} Trained */
/** @typedef {ReturnType<typeof partsOfPage>} Parts */

const SOLVED = 0.1; // bits, in this many reports in a row, because a curve has spikes
const SOLVED_REPORTS = 5;
const CHART_EVERY = 150; // milliseconds
// Made once: making a format takes longer than drawing a lane, and every frame uses it.
const COUNTS = new Intl.NumberFormat("en");

/**
 * @param {Catalogue} guide @param {Backend} backend
 * @returns {Shown}
 */
export function startLearning(guide, backend) {
  const learning = new Learning(guide, backend);
  return { show: (route) => learning.show(route) };
}

function partsOfPage() {
  const form = find("train-form", HTMLFormElement);
  return {
    form,
    page: find("train", HTMLElement),
    task: findField(form, "task", HTMLSelectElement),
    model: findField(form, "model", HTMLSelectElement),
    seed: findField(form, "seed", HTMLInputElement),
    ...findAll(HTMLButtonElement, ["start", "stop", "play", "save"], "train-"),
    ...findAll(HTMLElement, ["figures", "message", "news", "chart", "legend", "picture", "command",
      "same", "refusal", "reading", "curves-of", "picture-of"], "train-"),
  };
}

class Learning {
  /** @type {Point[]} */
  points = [];
  /** @type {Trained | null} */
  trained = null; // { task, model, seed, settings } of the last training
  /** @type {Omit<Progress, "points" | "picture"> | null} */
  progress = null; // { sequences, seconds, done }
  /** @type {{ sequences: number, seconds: number } | null} */
  solved = null; // { sequences, seconds } when the cost was first below SOLVED
  /** @type {Record<string, Record<string, Point[]>> | null} */
  papers = null;
  /** @type {ReturnType<typeof makeTimeline> | null} */
  timeline = null;
  /** @type {string | null} */
  pictured = null; // task and model of the timeline
  legend = ""; // texts of the legend
  drawnAt = 0;
  tip = makeTip();
  parts = partsOfPage();
  /** @type {Trace | null} */
  trace = null;
  /** @type {{ tensors: Tensors, sequences: number } | null} */
  result = null;

  /** @param {Catalogue} guide @param {Backend} backend */
  constructor(guide, backend) {
    this.guide = guide;
    this.backend = backend;
    this.machine = startMachine((progress) => this.take(progress));
    this.parts.page.append(...this.tip.elements);
    this.prepareForm(this.parts);
    new ResizeObserver(() => this.redraw()).observe(this.parts.chart);
    onThemeChange(() => this.redraw());
  }

  /** @param {Parts} parts */
  prepareForm({ task, model, seed }) {
    const { tasks, models, training, streams } = this.guide;
    /** @param {string} value @param {{ title: string }} shown */
    const option = (value, { title }) => make("option", { value }, title);
    task.append(...Object.keys(training).map((name) => option(name, tasks[name])));
    const trainable = Object.keys(Object.values(training)[0]);
    model.append(...trainable.map((name) => option(name, models[name])));
    seed.max = String(Math.max(...Object.keys(streams.training).map(Number)));
    /** @param {HTMLElement} part @param {string} event @param {() => Promise<void> | void} action */
    const on = (part, event, action) => part.addEventListener(event, (happened) => {
      happened.preventDefault();
      this.attempt(action());
    });
    on(this.parts.form, "submit", () => this.begin());
    for (const choice of [task, model, seed]) on(choice, "input", () => this.prepare());
    on(this.parts.stop, "click", () => this.stop());
    on(this.parts.play, "click", () => this.play());
    on(this.parts.save, "click", () => this.save());
  }

  /** @param {Promise<unknown> | void} promise */
  async attempt(promise) {
    try {
      await promise;
      this.parts.message.textContent = "";
    } catch (error) {
      this.parts.message.textContent = messageOf(error);
    }
  }

  /**
   * The address may name a task.
   * @param {Route} route
   */
  async show({ id }) {
    const isKnown = Object.hasOwn(this.guide.training, id);
    if (isKnown && !this.isBusy) this.parts.task.value = id;
    await this.attempt(this.progress ? this.redraw() : this.prepare());
    if (id && !isKnown) this.parts.message.textContent = `There is no task ${id} here.`;
  }

  get isBusy() {
    return Boolean(this.progress && !this.progress.done);
  }

  /** @returns {Choice} */
  get choice() {
    const { task, model, seed } = this.parts;
    return { task: task.value, model: model.value, seed: seed.valueAsNumber }; // "01" is 1, "" is NaN
  }

  /**
   * A message for a seed that cannot be used: the page knows the random streams of some seeds only.
   * @param {number} seed
   */
  refusalOf(seed) {
    const { min, max } = this.parts.seed;
    const isKnown = Object.hasOwn(this.guide.streams.training, seed);
    return isKnown ? "" : `Give a whole number from ${min} to ${max} as the seed.`;
  }

  /** Show the chosen training: its command, the paper's curves, and the untrained network. */
  async prepare() {
    this.showCommand();
    if (!this.papers) {
      const answer = await fetch("data/curves.json");
      this.papers = answer.ok ? await answer.json() : {};
    }
    if (!this.isBusy) this.redraw();
    if (!this.progress) await this.showStart();
  }

  /** Show the command. The page trains one start; the command by default would try several. */
  showCommand() {
    const { task, model, seed } = this.choice;
    const { command, same, refusal } = this.parts;
    command.textContent = `ntm train ${task} --model ${model} --seed ${seed} --starts 1`;
    refusal.textContent = this.refusalOf(seed);
    same.hidden = refusal.textContent !== "";
  }

  /** Show the picture before training, so that training only has to update it. */
  async showStart() {
    const { choice } = this;
    const { tasks, training, streams } = this.guide;
    const settings = training[choice.task][choice.model];
    const stream = streams.weights[choice.seed];
    if (!stream) return; // the visitor is still typing the seed
    const network = {
      id: `start:${Object.values(choice).join("-")}`, config: trainedModel(settings), stream,
      initialisation: settings.initialisation, task_settings: settings.task,
    };
    const facts = tasks[choice.task];
    const problem = exampleOf(facts, settings.task);
    const started = await this.machine("trace", { network, facts, problem, about: {} });
    const isLate = this.progress || `${Object.values(this.choice)}` !== `${Object.values(choice)}`;
    if (!isLate) this.showPicture(readTrace(started), choice);
  }

  async begin() {
    const { task: name, model, seed } = this.choice;
    const refusal = this.refusalOf(seed);
    if (refusal) throw new Error(refusal);
    if (this.isBusy) await this.stop();
    const { tasks, training, streams } = this.guide;
    const settings = training[name][model];
    this.trained = { task: name, model, seed, settings };
    this.points = [];
    this.solved = null;
    this.progress = { sequences: 0, seconds: 0, done: false };
    this.showButtons();
    this.say("Training has started");
    const request = {
      facts: tasks[name], settings, problem: exampleOf(tasks[name], settings.task),
      starts: { training: streams.training[seed], weights: streams.weights[seed] },
      most: settings.training.sequences,
    };
    await this.machine("train", request).catch((error) => this.giveUp(error));
  }

  /**
   * Disable the buttons after an error: without an engine there is nothing to stop or play with.
   * @param {unknown} error
   * @returns {never}
   */
  giveUp(error) {
    this.trained = this.progress = null;
    this.showButtons();
    throw error;
  }

  /**
   * Take a report of the worker, about sixty times per second.
   * @param {Progress} progress
   */
  take({ points, picture, ...progress }) {
    if (!this.isBusy) return;
    this.progress = progress;
    this.points.push(...points);
    const last = this.points.slice(-SOLVED_REPORTS);
    const isSolved = last.length === SOLVED_REPORTS && last.every(([, bits]) => bits < SOLVED);
    if (isSolved && !this.solved) {
      this.solved = { sequences: last[last.length - 1][0], seconds: progress.seconds };
      this.say(this.figures.slice(-1).flat().join(" "));
    }
    this.showFigures();
    if (picture && this.trained) this.showPicture(readTrace(picture), this.trained);
    if (progress.done || performance.now() - this.drawnAt > CHART_EVERY) this.drawChart();
    if (progress.done) this.attempt(this.finish());
  }

  /** Stop. If the engine is still loading, training will start and stop at once. */
  async stop() {
    this.parts.stop.disabled = true;
    await this.finish();
  }

  /** Fetch the weights, and announce the result. */
  async finish() {
    const { trained } = this;
    const result = await this.machine("stop", {});
    if (trained !== this.trained) return; // another training has started
    this.result = result;
    if (this.progress) this.progress.done = true;
    this.showButtons();
    this.drawChart();
    this.say(`Training has stopped. ${this.figures.map((one) => one.join(": ")).join(", ")}`);
  }

  /**
   * Announce a text to screen readers.
   * @param {string} text
   */
  say(text) {
    this.parts.news.textContent = `${text}.`;
  }

  showButtons() {
    const busy = this.isBusy;
    this.parts.start.textContent = busy ? "Start again" : "Train";
    this.parts.stop.disabled = !busy;
    this.parts.play.disabled = this.parts.save.disabled = busy || this.progress === null;
  }

  get figures() {
    const { sequences, seconds } = this.progress ?? { sequences: 0, seconds: 0 };
    const bits = this.points.at(-1)?.[1];
    const speed = seconds > 0 ? Math.round(sequences / seconds) : 0;
    const solved = this.solved &&
      `${this.solved.seconds.toFixed(1)} s, ${COUNTS.format(this.solved.sequences)} sequences`;
    return [
      ["Sequences", COUNTS.format(sequences)],
      ["Bits per sequence", bits === undefined ? "-" : formatNumber(bits)],
      ["Seconds", seconds.toFixed(1)],
      ["Sequences per second", COUNTS.format(speed)],
      [`Below ${SOLVED} bits after`, solved ?? "-"],
    ];
  }

  /** Update the figures in place: rebuilding them sixty times per second is slow. */
  showFigures() {
    const { figures: list } = this.parts;
    if (!list.children.length) {
      list.append(...this.figures.map(([name]) => make("div", {}, make("dt", {}, name), make("dd"))));
    }
    this.figures.forEach(([, value], i) => {
      const place = list.children[i].lastChild;
      if (place && place.textContent !== value) place.textContent = value;
    });
  }

  /**
   * Update the picture in place if the sizes are equal: rebuilding it takes longer than a frame.
   * @param {Trace} trace @param {Choice} choice
   */
  showPicture(trace, { task, model, seed }) {
    this.trace = trace;
    this.showWhose("picture-of", task, seed);
    const sizes = `${task} ${model}`;
    if (this.pictured === sizes) return this.timeline?.update(trace);
    this.pictured = sizes;
    const timeline = (this.timeline = makeTimeline(trace, this.stageOf(trace)));
    this.parts.picture.replaceChildren(timeline.element);
    timeline.layout();
  }

  /**
   * A stage with the heads and locations of a trace, also for later traces of the same sizes.
   * @param {Trace} first
   * @returns {TimelineStage}
   */
  stageOf(first) {
    return {
      tip: this.tip,
      goTo: () => {},
      step: () => 0,
      headOf: (kind) => headsOf(this.trace ?? first, kind)[0],
      stretch: () => ({ start: 0, count: locationsOf(first) }),
      greatest: () => 1,
      lanes: ["Input", "Target", "Output", "Optimum", "write", "read"],
      compact: true,
    };
  }

  redraw() {
    if (this.parts.page.hidden) return;
    this.drawChart();
    this.timeline?.layout();
  }

  /**
   * Name task and seed in a heading, because the form may have changed since.
   * @param {"curves-of" | "picture-of"} part @param {string} task @param {number} seed
   */
  showWhose(part, task, seed) {
    const place = this.parts[part];
    const text = this.refusalOf(seed) ? `: ${task}` : `: ${task}, seed ${seed}`;
    if (place.textContent !== text) place.textContent = text;
  }

  drawChart() {
    this.drawnAt = performance.now();
    const { models, tasks } = this.guide;
    const { task, model, seed } = this.trained ?? this.choice;
    const paper = paperLines(this.papers?.[task], models);
    this.showWhose("curves-of", task, seed);
    this.showReading(paper, tasks[task].readable_bits);
    const run = {
      name: "this page's network", model, colours: models[model].colours, points: this.points,
      marker: 0, strong: true,
    };
    const usual = tasks[task].frame ?? ANY_FRAME;
    const frame = frameOfBoth(this.points, paper, usual, REPORT_EVERY);
    drawChart(this.parts.chart, [...paper, run], frame, this.tip, describePoint);
    this.showLegend(legendOf(paper, [run], models));
  }

  /**
   * Explain the flat ends of the paper's curves: smaller costs cannot be read off the figure.
   * @param {Line[]} paper @param {number} readable
   */
  showReading(paper, readable) {
    const isReached = paper.some(({ points }) => points.some(([, bits]) => bits <= readable));
    const least = `costs below ${formatNumber(readable)} bits look like 0`;
    this.parts.reading.textContent =
      isReached ? `The paper's curves are read off its printed figure, where ${least}.` : "";
  }

  /**
   * Update the legend only if it changes, that is with the task or the model.
   * @param {LegendEntry[]} entries
   */
  showLegend(entries) {
    const texts = entries.map(([, text]) => text).join();
    if (this.legend === texts) return;
    this.legend = texts;
    this.parts.legend.replaceChildren(makeLegend(entries));
  }

  /** The last training and its weights. */
  get outcome() {
    const { trained, result } = this;
    if (trained && result) return { trained, result };
    throw new Error("Train a network first.");
  }

  /**
   * The network's entry in the list of the play view.
   * @returns {NetworkFacts}
   */
  get network() {
    const { trained: { task, model, seed, settings }, result } = this.outcome;
    const title = `${task}, trained here (seed ${seed})`;
    return {
      id: `trained:${task}-${model}-${seed}`, title, task, task_settings: settings.task, model,
      config: settings.model, sequences: result.sequences,
      bits: this.points.at(-1)?.[1] ?? null,
    };
  }

  async play() {
    await this.backend.add(this.network, this.outcome.result.tensors);
    location.hash = `#play/${this.network.id}`;
  }

  /** Save the weights in the format of the package's files, with the settings as metadata. */
  save() {
    const { trained: { task: name, model, settings, seed }, result } = this.outcome;
    const told = {
      ...settings, task: { name, ...settings.task }, model: { name: model, ...settings.model },
      training: { ...settings.training, seed },
    };
    const facts = { settings: told, trained_sequences: result.sequences };
    const bytes = writeSafetensors(result.tensors, { ntm: JSON.stringify(facts) });
    download(new Blob([bytes]), `${this.network.id.replace("trained:", "")}.safetensors`);
  }
}

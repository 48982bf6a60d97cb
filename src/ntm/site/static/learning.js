/** The view "Train it now": a worker trains a network, and the page shows its curve and memory. */

import { onThemeChange } from "../../studio/static/colours.js";
import { make, messageOf } from "../../studio/static/dom.js";
import { wholeNumber, writeRoute } from "../../studio/static/route.js";
import { readTrace } from "../../studio/static/trace.js";
import { startMachine } from "./backend.js";
import { CostChart } from "./costs.js";
import { exampleOf } from "./example.js";
import { figuresOf, hasPassed, showFigures, yardstickOf } from "./figures.js";
import { Reel } from "./reel.js";
import { networkOf, saveWeights } from "./trained.js";
import { partsOfPage } from "./trainparts.js";
import { trainedModel } from "./trainer.js";

/** @import { Point, Route, Shown, Trace } from "../../studio/static/types.d.ts" */
/** @import { Backend } from "./backend.js" */
/** @import { Result, Trained } from "./trained.js" */
/** @import { Parts } from "./trainparts.js" */
/** @import { Catalogue, Progress } from "./types.d.ts" */
/** @typedef {{ task: string, model: string, seed: number }} Choice */

const LANES = ["Input", "Target", "Output", "Optimum", "write", "read"];
const CHART_EVERY = 150; // milliseconds

/**
 * @param {Catalogue} guide @param {Backend} backend
 * @returns {Shown}
 */
export function startLearning(guide, backend) {
  const learning = new Learning(guide, backend);
  return { show: (route) => learning.show(route) };
}

class Learning {
  /** @type {Point[]} */
  points = [];
  /** @type {Trained | null} */
  trained = null; // { task, model, seed, settings } of the last training
  /** @type {Omit<Progress, "points" | "picture"> | null} */
  progress = null; // { sequences, seconds, done }
  /** @type {{ sequences: number, seconds: number } | null} */
  passed = null; // when the cost was first below the yardstick
  yardstick = yardstickOf();
  most = 0; // sequences of the whole training
  afterwards = ""; // the address to open when training ends
  parts = partsOfPage();
  picture = new Reel(this.parts.picture, { label: "Over time, in training", lanes: LANES });
  /** @type {Result | null} */
  result = null;

  /** @param {Catalogue} guide @param {Backend} backend */
  constructor(guide, backend) {
    this.guide = guide;
    this.backend = backend;
    this.machine = startMachine((progress) => this.take(progress));
    this.costs = new CostChart(guide);
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
    this.parts.message.textContent = "";
    try {
      await promise;
    } catch (error) {
      this.parts.message.textContent = messageOf(error);
    }
  }

  /**
   * Show the training of an address: its task, model and seed. An address with a number of sequences
   * starts at once. At the end the page opens the address `next`, if there is one.
   * @param {Route} route
   */
  async show(route) {
    const { id, sequences, next } = route;
    const isKnown = Object.hasOwn(this.guide.training, id);
    const isFree = isKnown && !this.isBusy;
    if (isFree) this.choose(route);
    await this.attempt(this.progress ? this.redraw() : this.prepare());
    const most = wholeNumber(sequences, 1);
    if (isFree && most !== null) await this.attempt(this.begin(most, next));
    if (id && !isKnown) this.parts.message.textContent = `There is no task ${id} here.`;
  }

  /**
   * Fill in the form.
   * @param {Route} route
   */
  choose({ id: name, model: kind = "", seed: number }) {
    const { task, model, seed } = this.parts;
    task.value = name;
    if (Object.hasOwn(this.guide.training[name], kind)) model.value = kind;
    if (wholeNumber(number, 1)) seed.value = String(number);
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
    if (!this.parts.page.hidden) history.replaceState(null, "", this.address);
    await this.costs.prepare();
    if (!this.isBusy) this.redraw();
    if (!this.progress) await this.showStart();
  }

  /** The address of the chosen training. */
  get address() {
    const { task, model, seed } = this.choice;
    return writeRoute({ view: "train", id: task, model, seed: this.refusalOf(seed) ? null : seed });
  }

  /** Show the command with --starts 1: the page trains one start, but by default the command tries several. */
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

  /**
   * Start a training.
   * @param {number | null} [most] number of sequences; by default all of the task's settings
   * @param {string} [next] address to open at the end
   */
  async begin(most = null, next = "") {
    const { task: name, model, seed } = this.choice;
    const refusal = this.refusalOf(seed);
    if (refusal) throw new Error(refusal);
    if (this.isBusy) await this.stop();
    const { tasks, training, streams } = this.guide;
    const settings = training[name][model];
    this.trained = { task: name, model, seed, settings };
    this.points = [];
    this.passed = null;
    this.yardstick = yardstickOf(this.costs.papers?.[name]?.[model]);
    this.most = Math.min(most ?? Infinity, settings.training.sequences);
    this.afterwards = next;
    this.progress = { sequences: 0, seconds: 0, done: false };
    this.showButtons();
    this.say("Training has started");
    const request = {
      facts: tasks[name], settings, problem: exampleOf(tasks[name], settings.task),
      starts: { training: streams.training[seed], weights: streams.weights[seed] },
      most: this.most,
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
    if (progress.trouble) return this.attempt(this.diverged(progress.trouble));
    if (!this.passed && hasPassed(this.points, this.yardstick)) {
      this.passed = { sequences: this.points[this.points.length - 1][0], seconds: progress.seconds };
      this.say(this.figures.slice(-1).flat().join(" "));
    }
    showFigures(this.parts.figures, this.figures);
    if (picture && this.trained) this.showPicture(readTrace(picture), this.trained);
    if (progress.done || performance.now() - this.costs.drawnAt > CHART_EVERY) this.drawChart();
    if (progress.done) this.attempt(this.finish());
  }

  /**
   * Say that training failed. The network is of no use, so it cannot be played with.
   * @param {string} trouble
   */
  async diverged(trouble) {
    const { sequences } = this.progress ?? { sequences: 0 };
    const seen = `after ${sequences.toLocaleString("en")} sequences`;
    this.say("Training has failed");
    this.giveUp(new Error(`Training failed ${seen}: ${trouble} Train again with another seed.`));
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
    if (this.afterwards && result.sequences === this.most) await this.play(this.afterwards);
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
    const now = this.progress ?? { sequences: 0, seconds: 0 };
    return figuresOf(now, this.points, this.most, this.yardstick, this.passed);
  }

  /** @param {Trace} trace @param {Choice} choice */
  showPicture(trace, { task, seed }) {
    this.showWhose("picture-of", task, seed);
    this.picture.show(trace);
  }

  redraw() {
    if (this.parts.page.hidden) return;
    this.drawChart();
    this.picture.layout();
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
    const { task, model, seed } = this.trained ?? this.choice;
    this.showWhose("curves-of", task, seed);
    this.costs.draw(task, model, this.points);
  }

  /** The last training and its weights. */
  get outcome() {
    const { trained, result } = this;
    if (trained && result) return { trained, result };
    throw new Error("Train a network first.");
  }

  get network() {
    const { trained, result } = this.outcome;
    return networkOf(trained, result, this.points.at(-1)?.[1] ?? null);
  }

  /** @param {string} [address] of the play view */
  async play(address = writeRoute({ view: "play", id: this.network.id })) {
    await this.backend.add(this.network, this.outcome.result.tensors);
    location.hash = address;
  }

  save() {
    const { trained, result } = this.outcome;
    saveWeights(trained, result);
  }
}

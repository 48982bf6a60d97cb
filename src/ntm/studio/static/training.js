/** The training view: the runs of the folder, their curves as they grow, and new runs. */

import { getJson, postJson } from "./api.js";
import { formatNumber } from "./arrays.js";
import { drawChart, makeLegend } from "./chart.js";
import { make, makeChoice } from "./dom.js";
import { makeRunRow, makeRunTable } from "./runs.js";
import { makeTip } from "./tip.js";

const POLL_EVERY = 1000;
const MODELS = { "ntm-ff": "NTM, feedforward", "ntm-lstm": "NTM, LSTM controller", lstm: "LSTM" };

/** The axes of the paper's figures 3, 7, 10, 13 and 18. */
const PAPER_FRAMES = {
  copy: { sequences: 1e6, bits: [0, 10] },
  "repeat-copy": { sequences: 5e5, bits: [0, 200] },
  "associative-recall": { sequences: 1e6, bits: [0, 20] },
  ngrams: { sequences: 1e6, bits: [130, 160] },
  "priority-sort": { sequences: 1e6, bits: [0, 140] },
};

export function startTraining() {
  const training = new Training();
  training.poll();
  return { show: () => training.draw() };
}

class Training {
  task = null;
  runs = [];
  rows = new Map(); // of the table, by the names of their runs
  curves = new Map(); // { points, generation } by the names of runs
  papers = new Map(); // the paper's curves by task
  hidden = new Set(); // names of runs that are not drawn
  pointedAt = null;
  lost = false; // whether the server did not answer when it was last asked
  axes = "fit";
  scale = "linear";
  tip = makeTip();

  constructor() {
    const find = (id) => document.getElementById(id);
    this.view = find("training");
    this.taskChoice = find("curves-task");
    this.title = find("curves-title");
    this.chart = find("chart");
    this.legend = find("legend");
    this.message = find("training-message");
    this.empty = find("no-runs");
    this.table = makeRunTable();
    find("runs").append(this.table);
    this.view.append(...this.tip.elements);
    find("curves-controls").append(
      this.chooser("Axes", "axes", [["fit", "the runs'"], ["paper", "the paper's"]]),
      this.chooser("Scale", "scale", [["linear", "linear"], ["log", "logarithmic"]]),
    );
    this.taskChoice.addEventListener("change", () => {
      this.task = this.taskChoice.value;
      this.attempt(this.update());
    });
    this.prepareForm(find("start"));
    new ResizeObserver(() => this.draw()).observe(this.chart);
  }

  chooser(legend, key, choices) {
    return makeChoice(legend, key, choices, this[key], (value) => {
      this[key] = value;
      this.draw();
    });
  }

  async attempt(promise) {
    try {
      await promise;
    } catch (error) {
      this.say(error.message);
    }
  }

  say(text) {
    this.message.textContent = text;
  }

  /** Ask again a second after each answer, and not while nobody looks. */
  async poll() {
    if (!this.view.hidden && !document.hidden) {
      try {
        await this.update();
        if (this.lost) this.say("");
        this.lost = false;
      } catch (error) {
        this.lost = true;
        this.say(error.message);
      }
    }
    setTimeout(() => this.poll(), POLL_EVERY);
  }

  async update() {
    this.runs = await getJson("runs");
    this.showTasks();
    this.showRuns();
    await this.fetchCurves();
    this.draw();
  }

  get runsOfTask() {
    return this.runs.filter((run) => run.task === this.task || run.task === null);
  }

  get runsShown() {
    return this.runsOfTask.filter(({ name, task }) => task && !this.hidden.has(name));
  }

  /** At first the task of a run that goes on, or of any run. */
  showTasks() {
    const going = this.runs.find((run) => run.state === "running");
    this.task ??= (going ?? this.runs.find((run) => run.task))?.task ?? "copy";
    const tasks = new Set([...Object.keys(PAPER_FRAMES), ...this.runs.map((run) => run.task)]);
    tasks.delete(null);
    for (const task of tasks) {
      const option = this.taskChoice.querySelector(`[value="${CSS.escape(task)}"]`) ??
        this.taskChoice.appendChild(make("option", { value: task }));
      option.textContent = `${task} (${this.runs.filter((run) => run.task === task).length})`;
    }
    this.taskChoice.value = this.task;
  }

  /** Rows are kept and changed in place, so that the focus stays where it is. */
  showRuns() {
    const runs = this.runsOfTask;
    const rows = runs.map((run) => {
      if (!this.rows.has(run.name)) this.rows.set(run.name, this.makeRow(run));
      const row = this.rows.get(run.name);
      row.update(run);
      return row.element;
    });
    const body = this.table.tBodies[0];
    const same = rows.length === body.rows.length && rows.every((row, i) => row === body.rows[i]);
    if (!same) body.replaceChildren(...rows);
    this.table.hidden = runs.length === 0;
    this.empty.hidden = runs.length > 0;
  }

  makeRow(run) {
    const siblings = this.runsOfTask.filter(({ model }) => model === run.model);
    return makeRunRow(run, siblings.indexOf(run), {
      show: (shown) => {
        this.hidden[shown ? "delete" : "add"](run.name);
        this.attempt(this.update());
      },
      pointAt: (pointed) => {
        this.pointedAt = pointed ? run.name : null;
        this.draw();
      },
      stop: () => this.attempt(this.stop(run.name)),
    });
  }

  async stop(name) {
    await postJson(`runs/${encodeURIComponent(name)}/stop`, {});
    this.say(`${name} is asked to stop; it ends with a checkpoint.`);
  }

  /** What is new of the curves that are shown, and the paper's, once. */
  async fetchCurves() {
    const { task } = this;
    if (task in PAPER_FRAMES && !this.papers.has(task)) {
      this.papers.set(task, await getJson(`paper/${task}`));
    }
    const behind = this.runsShown.filter(({ name, sequences }) => sequences !== this.reached(name));
    await Promise.all(behind.map(({ name }) => this.fetchCurve(name)));
  }

  reached(name) {
    return this.curves.get(name)?.points.at(-1)?.[0] ?? 0;
  }

  async fetchCurve(name) {
    const path = `runs/${encodeURIComponent(name)}/curve`;
    const known = this.curves.get(name);
    let { points, generation } = await getJson(`${path}?after=${this.reached(name)}`);
    if (known?.generation === generation) points = [...known.points, ...points];
    else if (known) ({ points, generation } = await getJson(path)); // the run began anew
    this.curves.set(name, { points, generation });
  }

  draw() {
    if (this.view.hidden || !this.task) return;
    const paper = Object.entries(this.papers.get(this.task) ?? {}).map(([model, points]) => ({
      name: `the paper's ${MODELS[model] ?? model}`, model, points, paper: true,
    }));
    const runs = this.runsShown.map(({ name, model }) => ({
      name, model,
      points: this.curves.get(name)?.points ?? [],
      marker: this.rows.get(name).marker,
      strong: this.pointedAt === name,
    }));
    this.title.textContent = `Learning curves: ${this.task}`;
    drawChart(this.chart, [...paper, ...runs], this.frameFor(runs), this.tip, describePoint);
    this.legend.replaceChildren(makeLegend(legendOf(paper, runs)));
  }

  /** The paper's axes, or those of what the shown runs cover. */
  frameFor(runs) {
    const usual = PAPER_FRAMES[this.task] ?? PAPER_FRAMES.copy;
    const log = this.scale === "log";
    const points = runs.flatMap((run) => run.points);
    if (this.axes === "paper" || points.length === 0) return { ...usual, log };
    // Short runs get room for the paper's curves, which begin to fall later.
    const room = usual.sequences / 20;
    const sequences = points.reduce((most, point) => Math.max(most, point[0]), room);
    const least = points.reduce((low, point) => Math.min(low, point[1]), usual.bits[0]);
    const greatest = points.reduce((high, point) => Math.max(high, point[1]), least + 1);
    return { sequences, bits: [Math.max(0, least), 1.02 * greatest], log };
  }

  prepareForm(form) {
    const { task, model } = form.elements;
    task.append(...Object.keys(PAPER_FRAMES).map((value) => make("option", { value }, value)));
    const models = Object.entries(MODELS);
    model.append(...models.map(([value, label]) => make("option", { value }, label)));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.attempt(this.start(form.elements));
    });
  }

  async start({ task, model, seed, sequences, name }) {
    const order = { task: task.value, model: model.value };
    for (const number of [seed, sequences]) order[number.name] = Number(number.value);
    if (name.value) order.name = name.value;
    const started = await postJson("runs", order);
    this.say(`${started.name} has started; its curve appears with its first report.`);
    this.task = order.task;
    seed.value = order.seed + 1;
    name.value = "";
    await this.update();
  }
}

function describePoint(line, [sequences, bits]) {
  return `${line.name}: ${formatNumber(bits)} bits at ${sequences.toLocaleString("en")} sequences`;
}

function legendOf(paper, runs) {
  const models = Object.keys(MODELS).filter((model) => runs.some((run) => run.model === model));
  const ours = models.map((model) => [model, MODELS[model], false]);
  return [...ours, ...paper.map(({ model, name }) => [model, name, true])];
}

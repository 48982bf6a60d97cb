/** The training view: the runs of the folder, their curves as they grow, and new runs. */

import { getJson, postJson } from "./api.js";
import { drawChart, makeLegend } from "./chart.js";
import { describePoint, frameAround, legendOf, paperLines } from "./curves.js";
import { make, makeChoice } from "./dom.js";
import { writeRoute } from "./route.js";
import { filterRuns, sortRuns } from "./runlist.js";
import { makeRunRow, makeRunTable } from "./runs.js";
import { makeTip } from "./tip.js";

const POLL_EVERY = 1000;
const STATES = ["running", "stopped", "finished", "failed", "unreadable"];

export function startTraining(guide) {
  const training = new Training(guide);
  training.poll();
  return { show: (route) => training.show(route) };
}

class Training {
  task = null;
  runs = [];
  asked = 0; // how often the runs were asked for; late answers are out of date
  rows = new Map(); // of the table, by the names of their runs
  curves = new Map(); // { points, generation } by the names of runs
  papers = new Map(); // the paper's curves by task
  hidden = new Set(); // names of runs that are not drawn
  wanted = { text: "", state: "" };
  order = { column: "name", descending: false };
  pointedAt = null;
  isLost = false; // whether the last time that the runs were asked for, no answer came
  axes = "fit";
  scale = "linear";
  tip = makeTip();

  constructor(guide) {
    this.guide = guide;
    const find = (id) => document.getElementById(id);
    this.view = find("training");
    this.taskChoice = find("curves-task");
    this.title = find("curves-title");
    this.chart = find("chart");
    this.legend = find("legend");
    this.message = find("training-message");
    this.trouble = find("training-trouble");
    this.empty = find("no-runs");
    this.rest = find("more-runs");
    this.table = makeRunTable(this.order, (column) => this.sortBy(column),
      (shown) => this.showAll(shown));
    find("runs").append(this.table.element);
    this.view.append(...this.tip.elements);
    find("curves-controls").append(
      this.chooser("Axes", "axes", [["fit", "the runs'"], ["paper", "the paper's"]]),
      this.chooser("Scale", "scale", [["linear", "linear"], ["log", "logarithmic"]]),
    );
    this.prepareFilter(find("find-run"), find("state-wanted"));
    this.taskChoice.addEventListener("change", () => {
      this.task = this.taskChoice.value;
      history.pushState(null, "", writeRoute({ view: "training", id: this.task }));
      this.attempt(this.update());
    });
    this.prepareForm(find("start"));
    new ResizeObserver(() => this.draw()).observe(this.chart);
  }

  /** The address may name a task. */
  show({ id }) {
    if (id && Object.hasOwn(this.guide.tasks, id)) this.task = id;
    this.attempt(this.update());
  }

  chooser(legend, key, choices) {
    return makeChoice(legend, key, choices, this[key], (value) => {
      this[key] = value;
      this.draw();
    });
  }

  prepareFilter(text, state) {
    state.append(...STATES.map((value) => make("option", { value }, value)));
    text.addEventListener("input", () => this.filter({ text: text.value }));
    state.addEventListener("change", () => this.filter({ state: state.value }));
  }

  filter(change) {
    Object.assign(this.wanted, change);
    this.showRuns();
    this.draw();
  }

  sortBy(column) {
    const again = this.order.column === column;
    Object.assign(this.order, { column, descending: again && !this.order.descending });
    this.table.showOrder();
    this.showRuns();
  }

  showAll(shown) {
    for (const { name } of this.runsListed) this.hidden[shown ? "delete" : "add"](name);
    this.attempt(this.update());
  }

  /**
   * What goes wrong is said at the top of the list, in sight wherever one is in it. It goes away
   * when something that was tried later succeeds, not something that was under way before.
   */
  async attempt(promise) {
    const attempt = (this.attempts = (this.attempts ?? 0) + 1);
    try {
      await promise;
      if (attempt === this.attempts) this.complain("");
    } catch (error) {
      this.complain(error.message);
    }
  }

  complain(sentence) {
    this.trouble.textContent = sentence;
  }

  say(text) {
    this.message.textContent = text;
  }

  /** Curves are out of date while no answer comes, not where an order is refused. */
  lose(isLost) {
    this.isLost = isLost;
    this.chart.classList.toggle("stale", isLost);
  }

  /** Ask again a second after each answer, and not while nobody looks. */
  async poll() {
    if (!this.view.hidden && !document.hidden) {
      try {
        await this.update();
        if (this.isLost) this.complain("");
        this.lose(false);
      } catch (error) {
        this.complain(error.message);
        this.lose(true);
      }
    }
    setTimeout(() => this.poll(), POLL_EVERY);
  }

  async update() {
    const asked = (this.asked += 1);
    const { runs, whole, read } = await getJson("runs");
    if (asked !== this.asked) return; // a newer answer is on its way, or here
    this.runs = runs;
    this.rest.hidden = whole && read;
    this.rest.textContent = read
      ? "The folder is too large to be listed whole; here are " +
        `${runs.length.toLocaleString("en")} runs. Move some to another folder to see the others.`
      : "The folder is large and still being read; more runs will follow.";
    this.showTasks();
    this.remember();
    this.showRuns();
    await this.fetchCurves(asked);
    if (asked === this.asked) this.draw();
  }

  /** Keep the address true: it may name no task, or none that there is, or a run was started. */
  remember() {
    const address = writeRoute({ view: "training", id: this.task });
    if (!this.view.hidden && location.hash !== address) history.replaceState(null, "", address);
  }

  get runsOfTask() {
    return this.runs.filter((run) => run.task === this.task || run.task === null);
  }

  /** The runs of the table, in its order. */
  get runsListed() {
    return sortRuns(filterRuns(this.runsOfTask, this.wanted), this.order);
  }

  get runsShown() {
    return this.runsListed.filter(({ name, task }) => task && !this.hidden.has(name));
  }

  /** At first the task of a run that goes on, or of any run. */
  showTasks() {
    const going = this.runs.find((run) => run.state === "running");
    const known = Object.keys(this.guide.tasks);
    this.task ??= (going ?? this.runs.find((run) => run.task))?.task ?? known[0];
    const tasks = new Set([...known, ...this.runs.map((run) => run.task)]);
    tasks.delete(null);
    if (this.taskChoice.length !== tasks.size) {
      this.taskChoice.replaceChildren(...[...tasks].map((value) => make("option", { value })));
    }
    for (const option of this.taskChoice.options) {
      const count = this.runs.filter((run) => run.task === option.value).length;
      option.textContent = `${option.value} (${count})`;
    }
    this.taskChoice.value = this.task;
  }

  /** Rows are kept and changed in place, so that the focus stays where it is. */
  showRuns() {
    const runs = this.runsListed;
    const rows = runs.flatMap((run) => {
      if (!this.rows.has(run.name)) this.rows.set(run.name, this.makeRow(run));
      const row = this.rows.get(run.name);
      row.update(run, !this.hidden.has(run.name));
      return row.elements;
    });
    const body = this.table.element.tBodies[0];
    const same = rows.length === body.rows.length && rows.every((row, i) => row === body.rows[i]);
    if (!same) body.replaceChildren(...rows);
    const shown = this.runsShown.length;
    this.table.all.checked = shown > 0;
    const drawable = runs.filter((run) => run.task).length;
    this.table.all.indeterminate = shown > 0 && shown < drawable;
    this.table.element.hidden = runs.length === 0;
    this.empty.hidden = runs.length > 0;
    const some = this.runsOfTask.length > 0;
    this.empty.textContent = some ? "No run like that." : "No run of this task yet.";
  }

  makeRow(run) {
    const siblings = this.runsOfTask.filter(({ model }) => model === run.model);
    const { colours } = this.guide.models[run.model] ?? {};
    return makeRunRow(run, colours, siblings.indexOf(run), {
      show: (on) => {
        this.hidden[on ? "delete" : "add"](run.name);
        this.attempt(this.update());
      },
      pointAt: (pointed) => {
        this.pointedAt = pointed ? run.name : null;
        this.draw();
      },
      stop: () => this.command(run.name, "stop", "is asked to stop; it ends with a checkpoint"),
      resume: () => this.resume(run.name),
      remove: () => {
        const question = `Delete the folder of ${run.name}, its weights and its curve?`;
        if (confirm(question)) this.command(run.name, "delete", "is deleted");
      },
    });
  }

  /** A run that has seen all its sequences goes on if it is given more. */
  resume(name) {
    const { state, total } = this.runs.find((run) => run.name === name);
    const question = `${name} has seen all of its sequences. Train it on how many altogether?`;
    const more = state === "finished" ? prompt(question, 2 * total) : "";
    const order = more ? { sequences: Number(more) } : {};
    if (more !== null) this.command(name, "resume", "goes on from its checkpoint", order);
  }

  /** Have the server do something with a run, and say so. */
  command(name, action, outcome, order = {}) {
    const ordered = async () => {
      const answer = await postJson(`runs/${encodeURIComponent(name)}/${action}`, order);
      if (action === "delete") this.rows.delete(name);
      this.say(`${name} ${answer.was_there === false ? "was gone already" : outcome}.`);
      await this.update();
    };
    return this.attempt(ordered());
  }

  /** What is new of the curves that are shown, and the paper's, once. */
  async fetchCurves(asked) {
    const { task } = this;
    if (Object.hasOwn(this.guide.tasks, task) && !this.papers.has(task)) {
      this.papers.set(task, await getJson(`paper/${task}`));
    }
    const behind = this.runsShown.filter(({ name, sequences }) => sequences !== this.reached(name));
    if (behind.length === 0) return;
    const news = await this.askForCurves(behind.map(({ name }) => name));
    if (asked !== this.asked) return;
    const anew = Object.keys(news).filter((name) => !this.take(name, news[name]));
    if (anew.length === 0) return;
    for (const name of anew) this.curves.delete(name); // these runs began anew
    for (const [name, curve] of Object.entries(await this.askForCurves(anew))) this.take(name, curve);
  }

  askForCurves(names) {
    const after = Object.fromEntries(names.map((name) => [name, this.reached(name)]));
    return postJson("curves", { after });
  }

  /** Add what is new to a curve; false where it is another curve than the one that is known. */
  take(name, { points, generation }) {
    const known = this.curves.get(name);
    if (known && known.generation !== generation) return false;
    this.curves.set(name, { points: [...(known?.points ?? []), ...points], generation });
    return true;
  }

  reached(name) {
    return this.curves.get(name)?.points.at(-1)?.[0] ?? 0;
  }

  draw() {
    if (this.view.hidden || !this.task) return;
    const { models } = this.guide;
    const paper = paperLines(this.papers.get(this.task), models);
    const runs = this.runsShown.map(({ name, model }) => ({
      name, model, colours: models[model]?.colours,
      points: this.curves.get(name)?.points ?? [],
      marker: this.rows.get(name).marker,
      strong: this.pointedAt === name,
    }));
    this.title.textContent = `Learning curves: ${this.task}`;
    drawChart(this.chart, [...paper, ...runs], this.frameFor(runs), this.tip, describePoint);
    this.legend.replaceChildren(makeLegend(legendOf(paper, runs, models)));
  }

  /** The paper's axes, or those of what the shown runs cover. */
  frameFor(runs) {
    const { tasks } = this.guide;
    const usual = tasks[this.task]?.frame ?? Object.values(tasks)[0].frame;
    const log = this.scale === "log";
    const points = runs.flatMap((run) => run.points);
    if (this.axes === "paper" || points.length === 0) return { ...usual, log };
    return { ...frameAround(points, usual), log };
  }

  prepareForm(form) {
    const { task, model } = form.elements;
    const tasks = Object.keys(this.guide.tasks);
    task.append(...tasks.map((value) => make("option", { value }, value)));
    const models = Object.entries(this.guide.models);
    model.append(...models.map(([value, { title }]) => make("option", { value }, title)));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.attempt(this.start(form.elements));
    });
    // What was refused is about to be another order.
    form.addEventListener("input", () => this.isLost || this.complain(""));
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

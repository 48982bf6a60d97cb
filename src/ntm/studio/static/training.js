/** The training view: the runs of the folder, their curves as they grow, and new runs. */

import { getJson, postJson } from "./api.js";
import { drawChart, makeLegend } from "./chart.js";
import { ANY_FRAME, describePoint, frameAround, legendOf, paperLines } from "./curves.js";
import { find, make, makeChoice, messageOf } from "./dom.js";
import { Curves } from "./fetching.js";
import { RUN_STATES } from "./facts.js";
import { writeRoute } from "./route.js";
import { filterRuns, sortRuns } from "./runlist.js";
import { makeRunRow, makeRunTable } from "./runs.js";
import { StartForm } from "./starting.js";
import { makeTip } from "./tip.js";

/** @import { Deleted, RunListed, RunName, RunsAnswer } from "./python.d.ts" */
/** @import { RunColumn, RunOrder } from "./runlist.js" */
/** @import { Frame, Guide, Line, Route, Shown } from "./types.d.ts" */

const POLL_EVERY = 1000;
const PATIENCE = 4000; // milliseconds without an answer

/**
 * @param {Guide} guide
 * @returns {Shown}
 */
export function startTraining(guide) {
  const training = new Training(guide);
  training.poll();
  return { show: (route) => training.show(route) };
}

class Training {
  /** @type {string | null} */
  task = null;
  /** @type {RunListed[]} */
  runs = [];
  attempts = 0;
  asked = 0; // number of requests for the runs; late answers are out of date
  /** @type {Map<string, ReturnType<typeof makeRunRow>>} */
  rows = new Map(); // rows of the table by name of run
  curves = new Curves();
  /** @type {Set<string>} */
  hidden = new Set(); // names of runs that are not drawn
  wanted = { text: "", state: "" };
  /** @type {RunOrder} */
  order = { column: "name", descending: false };
  /** @type {string | null} */
  pointedAt = null;
  isLost = false; // whether the last request for the runs got no answer
  axes = "fit";
  scale = "log"; // a cost falls by several powers of ten
  tip = makeTip();

  /** @param {Guide} guide */
  constructor(guide) {
    this.guide = guide;
    const part = (/** @type {string} */ id) => find(id, HTMLElement);
    this.view = part("training");
    this.taskChoice = find("curves-task", HTMLSelectElement);
    this.title = part("curves-title");
    this.chart = part("chart");
    this.legend = part("legend");
    this.message = part("training-message");
    this.trouble = part("training-trouble");
    this.empty = part("no-runs");
    this.rest = part("more-runs");
    this.table = makeRunTable(this.order, (column) => this.sortBy(column), (shown) => this.showAll(shown));
    part("runs").append(this.table.element);
    this.view.append(...this.tip.elements);
    part("curves-controls").append(
      this.chooser("Axes", "axes", [["fit", "fit the runs"], ["paper", "as in the paper"]]),
      this.chooser("Scale", "scale", [["linear", "linear"], ["log", "logarithmic"]]),
    );
    this.prepareFilter(find("find-run", HTMLInputElement), find("state-wanted", HTMLSelectElement));
    this.taskChoice.addEventListener("change", () => {
      this.task = this.taskChoice.value;
      history.pushState(null, "", writeRoute({ view: "training", id: this.taskChoice.value }));
      this.attempt(this.update());
    });
    this.form = new StartForm(guide);
    this.form.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.attempt(this.start());
    });
    // An edit makes an earlier refusal obsolete.
    this.form.form.addEventListener("input", () => this.isLost || this.complain(""));
    new ResizeObserver(() => this.draw()).observe(this.chart);
  }

  /**
   * The address may name a task.
   * @param {Route} route
   */
  show({ id }) {
    if (id && Object.hasOwn(this.guide.tasks, id)) this.task = id;
    this.attempt(this.update());
  }

  /** @param {string} legend @param {"axes" | "scale"} key @param {[string, string][]} choices */
  chooser(legend, key, choices) {
    return makeChoice(legend, key, choices, this[key], (value) => {
      this[key] = value;
      this.draw();
    });
  }

  /** @param {HTMLInputElement} text @param {HTMLSelectElement} state */
  prepareFilter(text, state) {
    state.append(...RUN_STATES.map((value) => make("option", { value }, value)));
    text.addEventListener("input", () => this.filter({ text: text.value }));
    state.addEventListener("change", () => this.filter({ state: state.value }));
  }

  /** @param {{ text?: string, state?: string }} change */
  filter(change) {
    Object.assign(this.wanted, change);
    this.showRuns();
    this.draw();
  }

  /** @param {RunColumn} column */
  sortBy(column) {
    const again = this.order.column === column;
    Object.assign(this.order, { column, descending: again && !this.order.descending });
    this.table.showOrder();
    this.showRuns();
  }

  /** @param {boolean} shown */
  showAll(shown) {
    for (const { name } of this.runsListed) this.hidden[shown ? "delete" : "add"](name);
    this.attempt(this.update());
  }

  /**
   * Show an error at the top of the list, where it stays visible while the list scrolls. The error
   * disappears when a later action succeeds; an earlier action does not clear it.
   * @param {Promise<unknown>} promise
   */
  async attempt(promise) {
    const attempt = (this.attempts += 1);
    try {
      await promise;
      if (attempt === this.attempts) this.complain("");
    } catch (error) {
      this.complain(messageOf(error));
    }
  }

  /** @param {string} sentence */
  complain(sentence) {
    this.trouble.textContent = sentence;
  }

  /**
   * Mark the curves as out of date while the server does not answer. A refusal does not count.
   * @param {boolean} isLost
   */
  lose(isLost) {
    this.isLost = isLost;
    this.chart.classList.toggle("stale", isLost);
  }

  /** Ask again a second after each answer, but not while the view is hidden. */
  async poll() {
    if (!this.view.hidden && !document.hidden) await this.updateOrComplain();
    setTimeout(() => this.poll(), POLL_EVERY);
  }

  async updateOrComplain() {
    const lose = (/** @type {string} */ sentence) => {
      this.complain(sentence);
      this.lose(true);
    };
    const late = setTimeout(lose, PATIENCE, "The studio has not answered for a while; is it busy?");
    try {
      await this.update();
      if (this.isLost) this.complain("");
      this.lose(false);
    } catch (error) {
      lose(messageOf(error));
    }
    clearTimeout(late);
  }

  async update() {
    const asked = (this.asked += 1);
    /** @type {RunsAnswer} */
    const { runs, whole, read } = await getJson("runs");
    if (asked !== this.asked) return; // there is a newer request
    this.runs = runs;
    this.rest.hidden = whole && read;
    const count = runs.length.toLocaleString("en");
    this.rest.textContent = read
      ? `The folder is too large to list everything; here are ${count} runs. To see the rest, move some to another folder.`
      : "The folder is large and still being read; more runs will follow.";
    this.showTasks();
    this.remember();
    this.showRuns();
    const isKnown = Object.hasOwn(this.guide.tasks, this.task ?? "");
    await this.curves.update(this.runsShown, isKnown ? this.task : null, () => asked !== this.asked);
    if (asked === this.asked) this.draw();
  }

  /** Correct the address: it may name no task or an unknown one, or a new run changes the task. */
  remember() {
    const address = writeRoute({ view: "training", id: this.task ?? "" });
    if (!this.view.hidden && location.hash !== address) history.replaceState(null, "", address);
  }

  get runsOfTask() {
    return this.runs.filter((run) => run.task === this.task || run.task === null);
  }

  /** The runs in the table's order. */
  get runsListed() {
    return sortRuns(filterRuns(this.runsOfTask, this.wanted), this.order);
  }

  get runsShown() {
    return this.runsListed.filter(({ name, task }) => task && !this.hidden.has(name));
  }

  /** Show the tasks. At first, choose the task of an active run, or of any run. */
  showTasks() {
    const going = this.runs.find((run) => run.state === "running");
    const known = Object.keys(this.guide.tasks);
    this.task ??= (going ?? this.runs.find((run) => run.task))?.task ?? known[0];
    const found = this.runs.map((run) => run.task).filter((task) => task !== null);
    const tasks = new Set([...known, ...found]);
    if (this.taskChoice.length !== tasks.size) {
      this.taskChoice.replaceChildren(...[...tasks].map((value) => make("option", { value })));
    }
    for (const option of this.taskChoice.options) {
      const count = this.runs.filter((run) => run.task === option.value).length;
      option.textContent = `${option.value} (${count})`;
    }
    this.taskChoice.value = this.task;
    this.form.offer(this.task);
  }

  /** Show the runs. Rows are changed in place, so that the focus stays where it is. */
  showRuns() {
    const runs = this.runsListed;
    const rows = runs.flatMap((run) => {
      const row = this.rows.get(run.name) ?? this.makeRow(run);
      this.rows.set(run.name, row);
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
    this.empty.textContent = some ? "No matching run." : "No run of this task yet.";
  }

  /** @param {RunListed} run */
  makeRow(run) {
    const siblings = this.runsOfTask.filter(({ model }) => model === run.model);
    const { colours } = this.guide.models[run.model ?? ""] ?? {};
    return makeRunRow(run, colours, siblings.indexOf(run), {
      show: (on) => {
        this.hidden[on ? "delete" : "add"](run.name);
        this.attempt(this.update());
      },
      pointAt: (pointed) => {
        this.pointedAt = pointed ? run.name : null;
        this.draw();
      },
      stop: () => this.command(run.name, "stop", "is stopping and will save a checkpoint"),
      resume: () => this.resume(run.name),
      remove: () => {
        const question = `Delete the folder of ${run.name}, with its weights and its curve?`;
        if (confirm(question)) this.command(run.name, "delete", "is deleted");
      },
    });
  }

  /**
   * Resume a run; ask for more sequences if the run is finished.
   * @param {string} name
   */
  resume(name) {
    const { state, total } = this.runs.find((run) => run.name === name) ?? {};
    const question = `${name} is finished. Train it up to how many sequences in total?`;
    const more = state === "finished" ? prompt(question, String(2 * (total ?? 0))) : "";
    const order = more ? { sequences: Number(more) } : {};
    if (more !== null) this.command(name, "resume", "continues from its checkpoint", order);
  }

  /**
   * Send a command for a run to the server, and show the outcome.
   * @param {string} name @param {string} action @param {string} outcome @param {{ sequences?: number }} [order]
   */
  command(name, action, outcome, order = {}) {
    const ordered = async () => {
      /** @type {Partial<Deleted>} */
      const answer = await postJson(`runs/${encodeURIComponent(name)}/${action}`, order);
      if (action === "delete") this.rows.delete(name);
      this.message.textContent = `${name} ${answer.was_there === false ? "was already deleted" : outcome}.`;
      await this.update();
    };
    return this.attempt(ordered());
  }

  draw() {
    if (this.view.hidden || !this.task) return;
    const { models } = this.guide;
    const paper = paperLines(this.curves.papers.get(this.task), models);
    const runs = this.runsShown.map(({ name, model }) => ({
      name, model, colours: models[model ?? ""]?.colours,
      points: this.curves.pointsOf(name),
      marker: this.rows.get(name)?.marker,
      strong: this.pointedAt === name,
    }));
    this.title.textContent = `Learning curves: ${this.task}`;
    drawChart(this.chart, [...paper, ...runs], this.frameFor(runs), this.tip, describePoint);
    this.legend.replaceChildren(makeLegend(legendOf(paper, runs, models)));
  }

  /**
   * The paper's axes, or axes that fit the shown runs.
   * @param {Line[]} runs
   * @returns {Frame}
   */
  frameFor(runs) {
    const { tasks } = this.guide;
    const usual = tasks[this.task ?? ""]?.frame ?? Object.values(tasks)[0].frame ?? ANY_FRAME;
    const points = this.axes === "paper" ? [] : runs.flatMap((run) => run.points);
    return { ...(points.length ? frameAround(points, usual) : usual), log: this.scale === "log" };
  }

  /** Start the run of the form. */
  async start() {
    const { order } = this.form;
    /** @type {RunName} */
    const started = await postJson("runs", order);
    this.message.textContent = `${started.name} has started; its curve appears with its first report.`;
    this.task = order.task;
    this.form.advance();
    await this.update();
  }
}

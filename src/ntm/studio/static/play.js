/** The play view: choose a network, draw a problem, and see what the network does with it. */

import { download } from "./api.js";
import { make, makeMenu } from "./dom.js";
import { mountDrawing } from "./drawing.js";
import { lessonOf } from "./lessons.js";
import { Listing, SAVED } from "./listing.js";
import { defaultsOf, describeNetwork, largerMemory, memoryOf } from "./networks.js";
import { Sketch, complaintAbout, isSameForm, problemFromTexts, problemToTexts, sizeOf } from "./problems.js";
import { viewIn, wholeNumber, writeRoute } from "./route.js";
import { makeSize } from "./sizes.js";
import { makeTour } from "./tour.js";
import { mountViewer } from "./viewer.js";

const WAIT_AFTER_EDIT = 120;
const WAIT_TO_REMEMBER = 250;
/** Edits run the network by themselves as long as that takes fewer milliseconds than this. */
const FAST_ENOUGH = 1500;

/** `backend` is the studio's server or what stands in for it; see api.js. */
export function startPlay(guide, backend) {
  const play = new Play(guide, backend);
  return { show: (route) => play.attempt(play.open(route)) };
}

class Play {
  shown = ""; // the id of the network, or of the saved trace
  opening = false; // whether the address names something else already
  network = null;
  sketch = null;
  sizes = [];
  viewer = null;
  tookToRun = 0; // milliseconds
  turn = 0; // grows with every change; an answer to an earlier turn is out of date
  running = null; // the AbortController of the request that is under way
  timers = {};

  constructor(guide, backend) {
    this.guide = guide;
    this.backend = backend;
    this.parts = Object.fromEntries(
      ["play", "network", "network-note", "more-networks", "sizes", "drawing", "drawing-hint", "play-message",
        "play-lesson", "play-result", "viewer", "undo", "redo", "random", "clear", "run",
        "share", "copy-link", "save-file", "shared"]
        .map((id) => [id, document.getElementById(id)]),
    );
    this.listing = new Listing(backend, this.parts.network, this.parts["more-networks"]);
    const on = (id, event, action) =>
      this.parts[id].addEventListener(event, () => this.attempt(action()));
    on("network", "change", () => this.goTo(this.parts.network.value));
    on("random", "click", () => this.drawExample());
    on("clear", "click", () => this.edit(() => this.sketch.clear()));
    on("undo", "click", () => this.edit(() => this.sketch.undo()));
    on("redo", "click", () => this.edit(() => this.sketch.redo()));
    on("copy-link", "click", () => this.share(this.copyLink()));
    on("save-file", "click", () => this.share(this.saveFile()));
    makeMenu(this.parts.share, () => (this.parts.shared.textContent = ""));
    on("run", "click", () => this.run());
    document.addEventListener("keydown", (event) => this.onKey(event));
    const remembers = ({ target }) => target.closest('a[href^="#"]') && this.rememberNow();
    document.addEventListener("click", remembers, { capture: true }); // before the link is followed
    this.tour = makeTour(this.parts.play, {
      open: (route) => this.tourTo(route),
      onEnd: () => {
        this.remember();
        this.parts.network.focus();
      },
    });
  }

  /** Where something goes wrong, say it on the page, above the picture, which is out of date. */
  async attempt(promise) {
    const { turn } = this;
    try {
      await promise;
    } catch (error) {
      if (error.name === "AbortError" || turn !== this.turn) return;
      this.say(error.message);
      this.parts["play-lesson"].textContent = ""; // it was about the run before
      this.setStale(true);
    }
  }

  say(text) {
    this.parts["play-message"].textContent = text;
  }

  setStale(stale) {
    this.parts.viewer.classList.toggle("stale", stale);
    this.parts.viewer.setAttribute("aria-busy", String(stale));
  }

  onKey(event) {
    const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
    const isRedo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "y";
    const elsewhere = this.parts.play.hidden || event.target.closest("input:not([type=range])");
    if (!(isUndo || isRedo) || elsewhere || !this.sketch) return;
    event.preventDefault();
    const forth = isRedo || event.shiftKey;
    this.attempt(this.edit(() => (forth ? this.sketch.redo() : this.sketch.undo())));
  }

  /** Follow the choice of a network, so that the browser's way back leads here. */
  async goTo(id) {
    this.rememberNow();
    history.pushState(null, "", writeRoute({ view: "play", id }));
    await this.open({ id });
  }

  /** Show what an address says, or else what was shown before; the lists may have grown. */
  async open(route) {
    const turn = (this.turn += 1);
    this.opening = true;
    clearTimeout(this.timers.run);
    this.running?.abort();
    this.setStale(true);
    this.parts.shared.textContent = "";
    await this.listing.update(route.id);
    if (turn !== this.turn) return;
    const known = this.listing.ids;
    const wanted = [route.id, this.shown, known[0]].find((id) => known.includes(id));
    this.parts.network.value = wanted;
    if (wanted.startsWith(SAVED)) await this.openSaved(wanted);
    else await this.openNetwork(wanted, route);
    if (route.id && route.id !== wanted) this.say(this.backend.missing(route.id));
  }

  async openSaved(id) {
    const { turn } = this;
    this.settleOn(id);
    this.network = this.sketch = null;
    this.parts.play.classList.add("only-viewing");
    this.parts["network-note"].textContent = "A trace that was recorded and saved.";
    this.setStale(true);
    const trace = await this.backend.savedTrace(id.slice(SAVED.length));
    if (turn === this.turn) this.showTrace(trace);
  }

  settleOn(id) {
    this.shown = id;
    this.opening = false;
  }

  /** A drawing stays as long as the next network understands it, unless the address has one. */
  async openNetwork(id, route) {
    const network = this.listing.networks.find((one) => one.id === id);
    const before = this.network;
    const { turn } = this;
    const drawn = problemFromTexts(route, network.problem);
    const keeps = !drawn && before && this.sketch && isSameForm(before, network);
    const problem = keeps ? null : (drawn ?? (await this.example(network, defaultsOf(network))));
    if (turn !== this.turn) return;
    this.settleOn(id);
    this.network = network;
    const memory = largerMemory(network, route);
    if (problem && before && isSameForm(before, network)) this.sketch.replace(problem, memory);
    else if (problem) this.sketch = new Sketch(problem, network.problem, memory);
    else this.sketch.memory = memory;
    this.describe();
    this.redraw();
    await this.run(viewIn(route));
    if (turn !== this.turn) return;
    this.tour.show(wholeNumber(route.tour, 1));
    this.say(complaintAbout(route, network.problem));
  }

  tourTo(route) {
    this.rememberNow();
    history.pushState(null, "", writeRoute(route));
    this.attempt(this.open(route));
  }

  describe() {
    const { task, model } = this.network;
    this.parts.play.classList.remove("only-viewing");
    this.parts["network-note"].textContent = describeNetwork(this.network, this.guide.models[model]);
    this.parts["drawing-hint"].textContent = this.guide.tasks[task]?.hint ?? "";
    this.listSizes();
  }

  listSizes() {
    const { problem: form, memory_locations: locations, limits } = this.network;
    this.sizes = Object.entries(form.sizes).map(([axis, range]) =>
      makeSize(axis, range, () => sizeOf(this.sketch.problem, axis),
        (size) => this.attempt(this.edit(() => this.sketch.resize(axis, size)))));
    if (locations) {
      const range = { min: locations, max: limits.max_locations, trained: [locations, locations] };
      this.sizes.push(makeSize("memory", range, () => this.memory, (size) => this.setMemory(size)));
    }
    this.parts.sizes.replaceChildren(...this.sizes.map((size) => size.element));
  }

  /** Locations, null without any. What undo brings back may have been for a smaller network. */
  get memory() {
    return this.network && memoryOf(this.network, this.sketch);
  }

  setMemory(memory) {
    const change = () => (this.sketch.memory = largerMemory(this.network, { memory }));
    this.attempt(this.edit(change));
  }

  /** Change something of the problem, and run the network again. */
  async edit(change) {
    change();
    this.redraw();
    await this.runSoon();
  }

  example(network, sizes) {
    const seed = Math.floor(Math.random() * 2 ** 31);
    return this.backend.example(network.id, sizes, seed);
  }

  /** A random problem as large as the one that is drawn. */
  async drawExample() {
    const turn = (this.turn += 1);
    const axes = Object.keys(this.network.problem.sizes);
    const sizes = axes.map((axis) => [axis, sizeOf(this.sketch.problem, axis)]);
    const problem = await this.example(this.network, Object.fromEntries(sizes));
    if (turn !== this.turn) return; // something newer was drawn or chosen in the meantime
    this.sketch.replace(problem);
    this.redraw();
    await this.run();
  }

  redraw() {
    for (const size of this.sizes) size.show();
    const { x, y } = document.activeElement?.closest("#drawing .cell")?.dataset ?? {};
    mountDrawing(this.parts.drawing, this.sketch.problem, () => this.attempt(this.runSoon()));
    this.parts.drawing.querySelector(`.cell[data-x="${x}"][data-y="${y}"]`)?.focus();
    this.showHistory();
  }

  showHistory() {
    this.parts.undo.disabled = !this.sketch.canUndo;
    this.parts.redo.disabled = !this.sketch.canRedo;
  }

  /** Run the network after the last of several edits; only on request where that is slow. */
  async runSoon() {
    clearTimeout(this.timers.run);
    this.turn += 1;
    this.setStale(true);
    this.showHistory();
    await new Promise((resolve) => {
      this.timers.run = setTimeout(resolve, WAIT_AFTER_EDIT);
    });
    this.sketch.settle();
    this.remember();
    if (this.tookToRun > FAST_ENOUGH) this.say("The problem has changed; press Run.");
    else await this.run();
  }

  async run(view = null) {
    clearTimeout(this.timers.run);
    this.running?.abort();
    const running = (this.running = new AbortController());
    const { turn } = this;
    this.setStale(true);
    const began = performance.now();
    const trace = await this.backend.trace(this.request, running.signal);
    if (running.signal.aborted) return;
    this.tookToRun = performance.now() - began;
    this.showTrace(trace, view);
    if (turn !== this.turn) this.setStale(true);
  }

  get request() {
    const { network: { id }, sketch: { problem } } = this;
    return { network: id, problem, memory_locations: largerMemory(this.network, this.sketch) };
  }

  /** The new trace takes the place of the old one, at the same step, head and locations. */
  showTrace(trace, view = null) {
    const place = this.parts.viewer;
    // A head that an address names is one of this network's.
    const named = view?.head === undefined ? {} : { heads: null };
    const last = { ...this.viewer?.view, ...named, ...view };
    // The page must not become shorter in between, or the browser scrolls.
    place.style.minHeight = `${place.offsetHeight}px`;
    this.viewer?.destroy();
    this.viewer = mountViewer(place, trace, { view: last, onMove: () => this.remember() });
    place.style.minHeight = "";
    this.setStale(false);
    this.say("");
    this.teach(trace);
    const [title, verdict] = [".summary h2", ".verdict"].map((part) => place.querySelector(part));
    this.parts["play-result"].textContent = `${title.textContent}: ${verdict.textContent}`;
    this.remember();
  }

  /** Say why it slipped, if that is known, and offer what would help. */
  teach({ steps, wrong_bits: wrongBits, optimal: guesses }) {
    const { network, memory, sketch } = this;
    const lesson = sketch &&
      lessonOf({ problem: sketch.problem, steps, network, memory, wrongBits, guesses });
    this.parts["play-lesson"].textContent = lesson?.text ?? "";
    if (!lesson?.locations) return;
    const button = make("button", { type: "button" }, `Use ${lesson.locations} locations`);
    button.addEventListener("click", () => this.setMemory(lesson.locations));
    this.parts["play-lesson"].append(" ", button);
  }

  /** Keep the address true, so that to reload, to go back and to send it all show this again. */
  remember() {
    clearTimeout(this.timers.remember);
    this.timers.remember = setTimeout(() => this.rememberNow(), WAIT_TO_REMEMBER);
  }

  /** The same at once, before the page turns to something else. */
  rememberNow() {
    clearTimeout(this.timers.remember);
    if (this.parts.play.hidden || this.opening) return;
    const address = writeRoute({ view: "play", id: this.shown, ...this.moment });
    if (address !== location.hash) this.parts.shared.textContent = ""; // it told of another moment
    history.replaceState(null, "", address);
  }

  get moment() {
    const drawn = this.sketch ? problemToTexts(this.sketch.problem) : {};
    const memory = this.network && largerMemory(this.network, this.sketch);
    const { step = 0, head = 0 } = this.viewer?.view ?? {};
    return { ...drawn, memory, step: step + 1, head, tour: this.tour.number };
  }

  /** Say below the button how it went: the picture is as good as before. */
  async share(outcome) {
    this.parts.shared.textContent = await outcome.catch((error) => error.message);
  }

  /** The address of this moment, for somebody else. */
  async copyLink() {
    this.rememberNow();
    const { href } = location;
    try {
      await navigator.clipboard.writeText(href); // there is none where the page is not secure
    } catch (error) {
      throw new Error(`The browser does not let the page copy; the link is ${href}`,
        { cause: error });
    }
    return "The link is copied.";
  }

  async saveFile() {
    const { step, head } = this.viewer.view;
    download(await this.backend.file(this.request, { step, head }), `ntm-${this.network.task}.html`);
    return "The file opens where you are now.";
  }
}

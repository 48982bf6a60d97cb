/** The play view: choose a network, draw a problem, and see what the network does with it. */

import { findAll } from "./dom.js";
import { mountDrawing } from "./drawing.js";
import { lessonOf } from "./lessons.js";
import { Listing, SAVED } from "./listing.js";
import { defaultsOf, describeNetwork, largerMemory, memoryOf } from "./networks.js";
import { complaintAbout, isSameForm, isTyped, problemFromTexts, problemToTexts, sizeOf } from "./problems.js";
import { Result } from "./result.js";
import { viewIn, wholeNumber, writeRoute } from "./route.js";
import { makeShareMenu } from "./share.js";
import { makeSizes } from "./sizes.js";
import { Sketch, historyKey } from "./sketch.js";
import { makeTour } from "./tour.js";
import { mountTyping } from "./typing.js";

/** @import { Backend, Guide, Network, Route, Shown, Sizes, TraceDocument, TraceRequest, View } from "./types.d.ts" */

const WAIT_AFTER_EDIT = 120;
const WAIT_TO_REMEMBER = 250;
/** Edits run the network at once if the last run took fewer milliseconds than this. */
const FAST_ENOUGH = 1500;

/**
 * `backend` is the studio's server, or the site's replacement for it; see api.js.
 * @param {Guide} guide @param {Backend} backend
 * @returns {Shown}
 */
export function startPlay(guide, backend) {
  const play = new Play(guide, backend);
  return { show: (route) => play.attempt(play.open(route)) };
}

/** @typedef {ReturnType<typeof partsOfPage>} Parts */
function partsOfPage() {
  return {
    ...findAll(HTMLElement, ["play", "network-note", "more-networks", "sizes", "drawing", "drawing-hint"]),
    ...findAll(HTMLButtonElement, ["undo", "redo", "random", "clear", "run"]),
    ...findAll(HTMLSelectElement, ["network"]),
  };
}

class Play {
  shown = ""; // id of the network or saved trace that is shown
  opening = false; // whether the address already names something else
  /** @type {Network | null} */
  network = null;
  /** @type {string | undefined} */
  caption = undefined; // number of the caption that belongs to the address
  /** @type {Sketch | null} */
  sketch = null;
  /** @type {ReturnType<typeof makeSizes>} */
  sizes = [];
  tookToRun = 0; // milliseconds
  turn = 0; // grows with every change; an answer to an earlier turn is out of date
  /** @type {AbortController | null} */
  running = null; // for the current request
  /** @type {Record<string, number>} */
  timers = {};
  parts = partsOfPage();
  result = new Result({ onMove: () => this.remember(), setMemory: (size) => this.setMemory(size) });

  /** @param {Guide} guide @param {Backend} backend */
  constructor(guide, backend) {
    this.guide = guide;
    this.backend = backend;
    this.listing = new Listing(backend, this.parts.network, this.parts["more-networks"]);
    /** @param {keyof Parts} id @param {() => Promise<unknown>} action */
    const on = (id, action, event = "click") =>
      this.parts[id].addEventListener(event, () => this.attempt(action()));
    on("network", () => this.goTo(this.parts.network.value), "change");
    on("random", () => this.drawExample());
    on("clear", () => this.edit((sketch) => sketch.clear()));
    on("undo", () => this.edit((sketch) => sketch.undo()));
    on("redo", () => this.edit((sketch) => sketch.redo()));
    this.clearShared = makeShareMenu({ remember: () => this.rememberNow(), file: () => this.file() });
    on("run", () => this.run());
    document.addEventListener("keydown", (event) => this.onKey(event));
    const remembers = (/** @type {Event} */ { target }) =>
      target instanceof Element && target.closest('a[href^="#"]') && this.rememberNow();
    document.addEventListener("click", remembers, { capture: true }); // before the link is followed
    this.tour = makeTour(this.parts.play, {
      open: (route) => this.tourTo(route),
      onEnd: () => {
        this.remember();
        this.parts.network.focus();
      },
    });
  }

  /**
   * Show an error above the picture, and mark the picture as out of date.
   * @param {Promise<unknown>} promise
   */
  async attempt(promise) {
    const { turn } = this;
    try {
      await promise;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (error.name === "AbortError" || turn !== this.turn) return;
      this.result.complain(error.message);
    }
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const change = historyKey(event);
    if (!change || this.parts.play.hidden || !this.sketch) return;
    event.preventDefault();
    this.attempt(this.edit((sketch) => sketch[change]()));
  }

  /**
   * Open a network as a new entry of the browser's history, so that Back returns here.
   * @param {string} id
   */
  async goTo(id) {
    this.rememberNow();
    history.pushState(null, "", writeRoute({ view: "play", id }));
    await this.open({ id });
  }

  /**
   * Show the network of an address, or the one shown before; the lists may have grown.
   * @param {Partial<Route>} route
   */
  async open(route) {
    const turn = (this.turn += 1);
    this.opening = true;
    clearTimeout(this.timers.run);
    this.running?.abort();
    this.result.setStale(true);
    this.clearShared();
    const { id = "" } = route;
    await this.listing.update(id);
    if (turn !== this.turn) return;
    const { ids: known, networks } = this.listing;
    const wanted = [id, this.shown].find((one) => known.includes(one)) ?? known[0];
    this.parts.network.value = wanted;
    const network = networks.find((one) => one.id === wanted);
    if (network) await this.openNetwork(network, route);
    else await this.openSaved(wanted);
    if (id && id !== wanted) this.result.say(this.backend.missing(id));
  }

  /** @param {string} id */
  async openSaved(id) {
    const { turn } = this;
    this.settleOn(id);
    this.network = this.sketch = null;
    this.parts.play.classList.add("only-viewing");
    this.parts["network-note"].textContent = "A saved trace.";
    this.result.setStale(true);
    const trace = await this.backend.savedTrace(id.slice(SAVED.length));
    if (turn === this.turn) this.showTrace(trace);
  }

  /** @param {string} id */
  settleOn(id) {
    this.shown = id;
    this.opening = false;
  }

  /**
   * Open a network. The drawing stays if it fits the network, unless the address contains another.
   * @param {Network} network @param {Partial<Route>} route
   */
  async openNetwork(network, route) {
    const before = this.network;
    const { turn } = this;
    const drawn = problemFromTexts(route, network.problem);
    const fitting = before && isSameForm(before, network) ? this.sketch : null;
    const problem = drawn ?? (fitting ? null : await this.example(network, defaultsOf(network)));
    if (turn !== this.turn) return;
    this.settleOn(network.id);
    this.network = network;
    this.caption = route.moment; // of the site's gallery
    const memory = largerMemory(network, route);
    if (problem && fitting) fitting.replace(problem, memory);
    else if (problem) this.sketch = new Sketch(problem, network.problem, memory);
    else if (fitting) fitting.memory = memory;
    this.describe(network);
    this.redraw();
    await this.run(viewIn(route));
    if (turn !== this.turn) return;
    this.tour.show(wholeNumber(route.tour, 1));
    this.result.say(complaintAbout(route, network.problem));
  }

  /** @param {Route} route */
  tourTo(route) {
    this.rememberNow();
    history.pushState(null, "", writeRoute(route));
    this.attempt(this.open(route));
  }

  /** @param {Network} network */
  describe(network) {
    const { task, model } = network;
    this.parts.play.classList.remove("only-viewing");
    this.parts["network-note"].textContent = describeNetwork(network, this.guide.models[model]);
    this.parts["drawing-hint"].textContent = this.guide.tasks[task]?.hint ?? "";
    this.sizes = makeSizes(network, {
      sizeOf: (axis) => sizeOf(this.played.sketch.problem, axis, network.problem),
      resize: (axis, size) => this.attempt(this.edit((sketch) => sketch.resize(axis, size))),
      memory: () => this.memory,
      setMemory: (size) => this.setMemory(size),
    });
    this.parts.sizes.replaceChildren(...this.sizes.map((size) => size.element));
  }

  /** The network and the drawing for it. */
  get played() {
    const { network, sketch } = this;
    if (network && sketch) return { network, sketch };
    throw new Error("Choose a network to draw a problem for.");
  }

  /** Memory locations, null without a memory. Undo may restore a number for a smaller network. */
  get memory() {
    return this.network && memoryOf(this.network, this.sketch ?? {});
  }

  /** @param {number} memory */
  setMemory(memory) {
    this.attempt(this.edit((sketch, network) => {
      sketch.memory = largerMemory(network, { memory });
    }));
  }

  /**
   * Change the problem, and run the network again.
   * @param {(sketch: Sketch, network: Network) => void} change
   */
  async edit(change) {
    const { sketch, network } = this.played;
    change(sketch, network);
    this.redraw();
    await this.runSoon();
  }

  /** @param {Network} network @param {Sizes} sizes */
  example(network, sizes) {
    const seed = Math.floor(Math.random() * 2 ** 31);
    return this.backend.example(network.id, sizes, seed);
  }

  /** Draw a random problem of the present sizes. */
  async drawExample() {
    const turn = (this.turn += 1);
    const { network, sketch } = this.played;
    const axes = Object.keys(network.problem.sizes);
    const sizes = axes.map((axis) => [axis, sizeOf(sketch.problem, axis, network.problem)]);
    const problem = await this.example(network, Object.fromEntries(sizes));
    if (turn !== this.turn) return; // the user has drawn or chosen something newer
    sketch.replace(problem);
    this.redraw();
    await this.run();
  }

  redraw() {
    for (const size of this.sizes) size.show();
    const { problem, form } = this.played.sketch;
    const mount = isTyped(form) ? mountTyping : mountDrawing;
    mount(this.parts.drawing, problem, form, () => this.attempt(this.runSoon()));
    this.showHistory();
  }

  showHistory() {
    this.parts.undo.disabled = !this.sketch?.canUndo;
    this.parts.redo.disabled = !this.sketch?.canRedo;
  }

  /** Run the network after the last of several edits; a slow network waits for the Run button. */
  async runSoon() {
    clearTimeout(this.timers.run);
    this.turn += 1;
    this.result.setStale(true);
    this.showHistory();
    await new Promise((resolve) => {
      this.timers.run = setTimeout(resolve, WAIT_AFTER_EDIT);
    });
    this.sketch?.settle();
    this.remember();
    if (this.tookToRun > FAST_ENOUGH) this.result.say("The problem has changed; press Run.");
    else await this.run();
  }

  /** @param {Partial<View> | null} [view] */
  async run(view = null) {
    clearTimeout(this.timers.run);
    this.running?.abort();
    const running = (this.running = new AbortController());
    const { turn } = this;
    this.result.setStale(true);
    const began = performance.now();
    const trace = await this.backend.trace(this.request, running.signal);
    if (running.signal.aborted) return;
    this.tookToRun = performance.now() - began;
    this.showTrace(trace, view);
    if (turn !== this.turn) this.result.setStale(true);
  }

  /** @returns {TraceRequest} */
  get request() {
    const { network, sketch } = this.played;
    const { problem } = sketch;
    return { network: network.id, problem, memory_locations: largerMemory(network, sketch) };
  }

  /** @param {TraceDocument} trace @param {Partial<View> | null} [view] */
  showTrace(trace, view = null) {
    const { network, memory, sketch } = this;
    const { steps, wrong_bits: wrongBits, optimal: guesses } = trace;
    const lesson = network && sketch &&
      lessonOf({ problem: sketch.problem, steps, network, memory, wrongBits, guesses });
    this.result.show(trace, lesson, view);
    this.remember();
  }

  /** Keep the address up to date, so that reloading, going back and sharing show this again. */
  remember() {
    clearTimeout(this.timers.remember);
    this.timers.remember = setTimeout(() => this.rememberNow(), WAIT_TO_REMEMBER);
  }

  /** Update the address at once, before the page shows something else. */
  rememberNow() {
    clearTimeout(this.timers.remember);
    if (this.parts.play.hidden || this.opening) return;
    const address = writeRoute({ view: "play", id: this.shown, ...this.moment });
    if (address !== location.hash) this.clearShared(); // about the old address
    history.replaceState(null, "", address);
  }

  get moment() {
    const drawn = this.sketch ? problemToTexts(this.sketch.problem, this.sketch.form) : {};
    const memory = this.network && largerMemory(this.network, this.sketch ?? {});
    const { step, head } = this.result.place;
    return { ...drawn, memory, step: step + 1, head, tour: this.tour.number, moment: this.caption };
  }

  /** The present view as a page of its own. */
  async file() {
    const page = await this.backend.file(this.request, this.result.place);
    return { page, name: `ntm-${this.played.network.task}.html` };
  }
}

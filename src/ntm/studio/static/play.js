/** The play view: choose a network, draw a problem, and see what the network does with it. */

import { downloadPost, getJson, postJson } from "./api.js";
import { formatNumber } from "./arrays.js";
import { make } from "./dom.js";
import { mountDrawing } from "./drawing.js";
import { clearProblem, isSameForm, resizeProblem, sizeOf } from "./problems.js";
import { makeSize } from "./sizes.js";
import { mountViewer } from "./viewer.js";

const WAIT_AFTER_EDIT = 120;
/** Edits run the network by themselves as long as that takes fewer milliseconds than this. */
const FAST_ENOUGH = 1500;

const MODEL_NAMES = {
  "ntm-ff": "NTM with a feedforward controller",
  "ntm-lstm": "NTM with an LSTM controller",
  lstm: "LSTM without memory",
};
const HINTS = {
  copy: "Click or drag over cells. The network hears this, then has to say it again.",
  "repeat-copy": "Click or drag over cells. The network has to say this several times.",
  "associative-recall": "Draw items and choose the query; the answer is the item after it.",
  ngrams: "Bits, from left to right. The network has to predict each from those before it.",
  "priority-sort": "Draw vectors, and drag their priorities: the answer begins with the highest.",
};

export function startPlay() {
  const play = new Play();
  return { show: (id) => play.attempt(play.showNetwork(id)) };
}

class Play {
  networks = [];
  network = null;
  problem = null;
  memory = null; // locations
  sizes = [];
  viewer = null;
  tookToRun = 0; // milliseconds
  running = null; // the AbortController of the request that is under way
  timer = null;

  constructor() {
    const find = (id) => document.getElementById(id);
    this.choice = find("network");
    this.note = find("network-note");
    this.sizesPlace = find("sizes");
    this.drawing = find("drawing");
    this.hint = find("drawing-hint");
    this.message = find("play-message");
    this.viewerPlace = find("viewer");
    const on = (element, event, action) =>
      element.addEventListener(event, () => this.attempt(action()));
    on(this.choice, "change", () => this.chooseNetwork(this.choice.value));
    on(find("random"), "click", () => this.drawExample());
    on(find("clear"), "click", () => this.clear());
    on(find("share"), "click", () => this.share());
    on(find("run"), "click", () => this.run());
  }

  /** Where something goes wrong, say it on the page. */
  async attempt(promise) {
    try {
      await promise;
    } catch (error) {
      if (error.name !== "AbortError") this.message.textContent = error.message;
    }
  }

  /** Show the network of that id, or the one that was shown before; the list may have grown. */
  async showNetwork(id) {
    this.networks = await getJson("networks");
    this.listNetworks();
    const known = (wanted) => this.networks.some((network) => network.id === wanted);
    const wanted = [id, this.network?.id, this.networks[0]?.id].find(known);
    if (wanted === undefined) throw new Error("There is no network to play with yet: train one.");
    this.choice.value = wanted;
    if (wanted !== this.network?.id) await this.chooseNetwork(wanted);
    if (id && !known(id)) throw new Error(`There is no network ${id}, or it has no weights yet.`);
  }

  listNetworks() {
    const groups = Map.groupBy(this.networks, (network) => network.task);
    const option = ({ id, title }) => make("option", { value: id }, title);
    const group = ([label, found]) => make("optgroup", { label }, ...found.map(option));
    this.choice.replaceChildren(...[...groups].map(group));
  }

  /** A drawing stays as long as the next network understands it. */
  async chooseNetwork(id) {
    const before = this.network;
    this.network = this.networks.find((network) => network.id === id);
    this.memory = this.network.memory_locations;
    this.note.textContent = describeNetwork(this.network);
    this.hint.textContent = HINTS[this.network.task];
    const keeps = before && this.problem && isSameForm(before, this.network);
    if (!keeps) this.problem = await this.example(defaultsOf(this.network));
    this.listSizes();
    this.redraw();
    await this.run();
  }

  listSizes() {
    const { problem: form, memory_locations: locations, limits } = this.network;
    this.sizes = Object.entries(form.sizes).map(([axis, range]) =>
      makeSize(axis, range, () => sizeOf(this.problem, axis),
        (size) => this.attempt(this.resize(axis, size))));
    if (locations) {
      const range = { min: locations, max: limits.max_locations, trained: [locations, locations] };
      this.sizes.push(makeSize("memory", range, () => this.memory,
        (size) => this.attempt(this.resizeMemory(size))));
    }
    this.sizesPlace.replaceChildren(...this.sizes.map((size) => size.element));
  }

  async resize(axis, size) {
    // Bits of a random source cannot be lengthened by others; they are drawn anew.
    if (this.problem.bits) this.problem = await this.example({ length: size });
    else resizeProblem(this.problem, axis, size, this.network.problem);
    this.redraw();
    await this.runSoon();
  }

  async resizeMemory(locations) {
    this.memory = locations;
    for (const size of this.sizes) size.show();
    await this.runSoon();
  }

  async example(sizes) {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const answer = await postJson("example", { network: this.network.id, seed, ...sizes });
    return answer.problem;
  }

  /** A random problem as large as the one that is drawn. */
  async drawExample() {
    const axes = Object.keys(this.network.problem.sizes);
    const sizes = axes.map((axis) => [axis, sizeOf(this.problem, axis)]);
    this.problem = await this.example(Object.fromEntries(sizes));
    this.redraw();
    await this.run();
  }

  async clear() {
    clearProblem(this.problem);
    this.redraw();
    await this.runSoon();
  }

  redraw() {
    for (const size of this.sizes) size.show();
    mountDrawing(this.drawing, this.problem, () => this.attempt(this.runSoon()));
  }

  /** Run the network after the last of several edits; only on request where that is slow. */
  async runSoon() {
    clearTimeout(this.timer);
    if (this.tookToRun > FAST_ENOUGH) {
      this.message.textContent = "The problem has changed; press Run.";
      return;
    }
    await new Promise((resolve) => {
      this.timer = setTimeout(resolve, WAIT_AFTER_EDIT);
    });
    await this.run();
  }

  async run() {
    clearTimeout(this.timer);
    this.running?.abort();
    this.running = new AbortController();
    const began = performance.now();
    const trace = await postJson("trace", this.request, this.running.signal);
    this.tookToRun = performance.now() - began;
    this.message.textContent = "";
    this.showTrace(trace);
  }

  get request() {
    const { id, memory_locations: locations } = this.network;
    const larger = this.memory === locations ? null : this.memory;
    return { network: id, problem: this.problem, memory_locations: larger };
  }

  /** The new trace takes the place of the old one, at the same step, head and locations. */
  showTrace(trace) {
    const view = this.viewer?.view;
    // The page must not become shorter in between, or the browser scrolls.
    this.viewerPlace.style.minHeight = `${this.viewerPlace.offsetHeight}px`;
    this.viewer?.destroy();
    this.viewer = mountViewer(this.viewerPlace, trace, { view });
    this.viewerPlace.style.minHeight = "";
  }

  async share() {
    await downloadPost("share", this.request, `ntm-${this.network.task}.html`);
  }
}

function defaultsOf(network) {
  const sizes = Object.entries(network.problem.sizes);
  return Object.fromEntries(sizes.map(([axis, range]) => [axis, range.default]));
}

function describeNetwork({ model, sequences, bits, memory_locations: locations }) {
  const parts = [MODEL_NAMES[model]];
  if (locations) parts.push(`${locations} locations`);
  if (sequences === 0) parts.push("untrained");
  else if (sequences) parts.push(`trained on ${sequences.toLocaleString("en")} sequences`);
  if (bits !== null) parts.push(`${formatNumber(bits)} bits per sequence`);
  return `${parts.join(", ")}.`;
}

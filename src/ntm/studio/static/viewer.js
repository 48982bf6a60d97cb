/**
 * The viewer of one trace, which the page, shared files and notebooks use.
 *
 *     const viewer = mountViewer(element, traceDocument);
 *     viewer.goTo(12);
 */

import { greatestMagnitude } from "./arrays.js";
import { makeAnswerTable, makeSummary } from "./answer.js";
import { makeChain } from "./chain.js";
import { onThemeChange } from "./colours.js";
import { make, makeChoice } from "./dom.js";
import { KINDS, headsOf, rankedHeads, roleOf } from "./heads.js";
import { makeTape } from "./tape.js";
import { makeTimeline } from "./timeline.js";
import { makeTip } from "./tip.js";
import { locationsOf, readTrace, stretchInUse } from "./trace.js";
import { makeTransport, stepInWords } from "./transport.js";

/** @import { Part, Stage, Tip, Trace, TraceDocument, View, Viewer } from "./types.d.ts" */
/** @import { Player } from "./transport.js" */

/** Elements that use the arrow keys themselves, and elements that use the space bar. */
const HAS_OWN_ARROWS = "input, select, textarea, .grid, [role=slider], .chart";
const HAS_OWN_SPACE = `${HAS_OWN_ARROWS}, button, summary, a`;

let viewersMade = 0;

/**
 * Draw a trace document into an element. `options.view` is the `view` of another viewer: its step,
 * head, locations, open table and playing state are kept where they exist here. A different number
 * of heads means another network, so the head is not kept.
 * `options.onMove()` is called when the user goes to another step or head, not while playing.
 * @param {HTMLElement} element @param {TraceDocument} source
 * @param {{ view?: Partial<View>, onMove?: () => void }} [options]
 * @returns {Viewer}
 */
export function mountViewer(element, source, options = {}) {
  const trace = readTrace(source);
  const view = startingView(trace, options.view);
  const tip = makeTip();
  const stage = makeStage(trace, view, tip, (step) => goTo(step));
  const transport = makeTransport(trace, stage, view);
  // A trace may have been recorded without the memory itself.
  const { memory } = trace;
  const tape = memory && makeTape({ ...trace, memory }, stage);
  const chain = trace.heads.length > 0 ? makeChain(trace, stage) : null;
  const timeline = makeTimeline(trace, stage);
  const parts = [tape, chain, timeline].filter((part) => part !== null);

  /** @param {number} step */
  function goTo(step) {
    view.step = Math.max(0, Math.min(trace.steps - 1, step));
    transport.show(view.step);
    for (const part of parts) part.show(view.step);
    if (!transport.player.playing) options.onMove?.();
  }
  function layout() {
    for (const part of parts) part.layout();
    goTo(view.step);
  }
  element.classList.add("viewer");
  element.replaceChildren(
    makeSummary(trace),
    transport.element,
    ...(chain ? [machine(tape, chain, makeControls(trace, view, layout))] : []),
    ...(trace.hint ? [make("p", { class: "note look-for" }, `What to look for: ${trace.hint}`)] : []),
    timeline.element,
    makeAnswerTable(trace, view),
    ...tip.elements,
  );
  layout();
  const stopListening = listen(element, transport.player, stage, trace, layout);
  if (view.playing) transport.player.play();
  const destroy = () => {
    transport.player.pause();
    stopListening();
    element.replaceChildren();
  };
  return { goTo, view, destroy };
}

/**
 * The part of the trace that the viewer shows. This is its only state, apart from playing.
 * @param {Trace} trace @param {Partial<View>} [earlier]
 * @returns {View}
 */
function startingView(trace, earlier) {
  const count = trace.heads.length;
  const isSame = (earlier?.heads ?? count) === count;
  const view = {
    step: 0, zoomed: true, fixed: false, tableOpen: false, playing: false, speed: null,
    ...usualHeads(trace), ...earlier, ...(isSame ? {} : usualHeads(trace)), heads: count,
  };
  view.step = Math.min(view.step, trace.steps - 1);
  if (view.head >= trace.heads.length) view.head = usualHeads(trace).head;
  const chosen = trace.heads[view.head];
  if (chosen) view[chosen.kind] = chosen.index;
  for (const kind of KINDS) {
    const known = trace.heads.some((head) => head.kind === kind && head.index === view[kind]);
    if (!known) view[kind] = 0;
  }
  return view;
}

/**
 * The most active heads.
 * @param {Trace} trace
 */
function usualHeads(trace) {
  const [[write], [read]] = [rankedHeads(trace, "write"), rankedHeads(trace, "read")];
  return {
    head: Math.max(0, trace.heads.indexOf(write)), write: write?.index ?? 0, read: read?.index ?? 0,
  };
}

/**
 * The interface through which the parts use the viewer and each other.
 * @param {Trace} trace @param {View} view @param {Tip} tip @param {(step: number) => void} goTo
 * @returns {Stage}
 */
function makeStage(trace, view, tip, goTo) {
  const all = { start: 0, count: locationsOf(trace) };
  const inUse = stretchInUse(trace);
  /** @type {Stage["headOf"]} */
  const headOf = (kind) => headsOf(trace, kind).find((head) => head.index === view[kind]);
  return {
    tip,
    goTo,
    headOf,
    step: () => view.step,
    chosenHead: () => trace.heads[view.head],
    stretch: () => (view.zoomed ? inUse : all),
    // End of a scale: the greatest magnitude, or 1 for fixed scales.
    greatest: (values) => (view.fixed ? 1 : greatestMagnitude(values, 1e-6)),
  };
}

/** @param {ReturnType<typeof makeTape> | null} tape @param {Part} chain @param {HTMLElement} controls */
function machine(tape, chain, controls) {
  const title = make("h3", {}, "At this step");
  const legend = tape ? [tape.legend] : [];
  const heading = make("div", { class: "machine-heading" }, title, ...legend, controls);
  const scrolls = tape ? [make("div", { class: "scrolls" }, tape.element)] : [];
  return make("section", { class: "machine" }, heading, ...scrolls, chain.element);
}

/**
 * Controls for the head that the chain explains, and for the locations that are shown.
 * @param {Trace} trace @param {View} view @param {() => void} layout
 */
function makeControls(trace, view, layout) {
  const number = (viewersMade += 1);
  const several = trace.heads.length > 2;
  const ranked = KINDS.flatMap((kind) => rankedHeads(trace, kind));
  /** @type {[string, string, string][]} */
  const heads = ranked.map((head) => {
    const label = several ? `${head.name}: ${roleOf(head, trace)}` : head.name;
    return [String(trace.heads.indexOf(head)), label, head.kind];
  });
  const chooseHead = (/** @type {string} */ value) => {
    view.head = Number(value);
    const { kind, index } = trace.heads[view.head];
    view[kind] = index;
    layout();
  };
  const controls = make("div", { class: "controls" });
  const inUse = stretchInUse(trace).count;
  if (inUse < locationsOf(trace)) {
    /** @type {["used" | "all", string][]} */
    const choices = [["used", `in use (${inUse})`], ["all", `all ${locationsOf(trace)}`]];
    const chooseLocations = (/** @type {string} */ value) => {
      view.zoomed = value === "used";
      layout();
    };
    const chosen = view.zoomed ? "used" : "all";
    const name = `locations-${number}`;
    controls.append(makeChoice("Locations", name, choices, chosen, chooseLocations));
  }
  const chooseScale = (/** @type {string} */ value) => {
    view.fixed = value === "fixed";
    layout();
  };
  /** @type {["fitted" | "fixed", string][]} */
  const scales = [["fitted", "fitted"], ["fixed", "0 to 1"]];
  const scale = view.fixed ? "fixed" : "fitted";
  controls.append(
    makeChoice("Scales", `scales-${number}`, scales, scale, chooseScale),
    // Last, because many heads take several lines.
    makeChoice("Head", `head-${number}`, heads, String(view.head), chooseHead),
  );
  return controls;
}

/** @param {HTMLElement} element @param {Player} player @param {Stage} stage @param {Trace} trace @param {() => void} layout */
function listen(element, player, stage, trace, layout) {
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (!element.isConnected || element.offsetParent === null || event.defaultPrevented) return;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const own = event.key === " " ? HAS_OWN_SPACE : HAS_OWN_ARROWS;
    if (event.target instanceof Element && event.target.closest(own)) return;
    if (actOnKey(event.key, player, stage, trace)) event.preventDefault();
  };
  let width = element.clientWidth;
  const resized = new ResizeObserver(() => {
    if (element.clientWidth === width || element.clientWidth === 0) return;
    width = element.clientWidth;
    layout();
  });
  document.addEventListener("keydown", onKey);
  resized.observe(element);
  const stopTheme = onThemeChange(layout);
  return () => {
    document.removeEventListener("keydown", onKey);
    resized.disconnect();
    stopTheme();
  };
}

/** @param {string} key @param {Player} player @param {Stage} stage @param {Trace} trace */
function actOnKey(key, player, stage, trace) {
  const steps = new Map([
    ["ArrowLeft", stage.step() - 1],
    ["ArrowRight", stage.step() + 1],
    ["Home", 0],
    ["End", trace.steps - 1],
  ]);
  const step = steps.get(key);
  if (key === " ") player.toggle();
  else if (step !== undefined) {
    player.pause();
    stage.goTo(step);
    stage.tip.say(stepInWords(trace, stage.step()));
  } else return false;
  return true;
}

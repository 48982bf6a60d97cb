/** The gallery: moments worth seeing. The page runs the network of each moment and draws it. */

import { greatestMagnitude } from "../../studio/static/arrays.js";
import { onThemeChange } from "../../studio/static/colours.js";
import { find, make, messageOf } from "../../studio/static/dom.js";
import { rankedHeads } from "../../studio/static/heads.js";
import { problemToTexts } from "../../studio/static/problems.js";
import { writeRoute } from "../../studio/static/route.js";
import { makeTimeline } from "../../studio/static/timeline.js";
import { makeTip } from "../../studio/static/tip.js";
import { readTrace, stretchInUse } from "../../studio/static/trace.js";
import { MOMENTS } from "./moments.js";

/** @import { Problem, Shown, TimelineStage, Trace } from "../../studio/static/types.d.ts" */
/** @import { Backend } from "./backend.js" */
/** @import { Moment } from "./moments.js" */

/**
 * @param {Backend} backend
 * @returns {Shown}
 */
export function startGallery(backend) {
  const place = find("moments", HTMLElement);
  const cards = MOMENTS.map((moment) => makeCard(moment, backend));
  place.replaceChildren(...cards.map((card) => card.element));
  // A network is fetched when its card becomes visible.
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) cards.find((card) => card.element === target)?.draw();
    }
  });
  for (const { element } of cards) seen.observe(element);
  const redraw = () => {
    if (place.offsetWidth) cards.forEach((card) => card.redraw());
  };
  new ResizeObserver(redraw).observe(place);
  onThemeChange(redraw);
  return { show: () => redraw() };
}

/** @param {Moment} moment @param {Backend} backend */
function makeCard(moment, backend) {
  const { title, network, sizes, seed, step, head, sentences } = moment;
  const problem = backend.example(network, sizes, seed);
  const address = writeRoute({
    view: "play", id: network, ...problemToTexts(rounded(problem)), step: step + 1, head,
  });
  const picture = make("div", { class: "moment-picture viewer", inert: true });
  const element = make("article", { class: "card moment" },
    make("h2", {}, make("a", { href: address }, title)),
    picture,
    make("p", {}, sentences.join(" ")));
  /** @type {ReturnType<typeof makeTimeline> | null} */
  let timeline = null;
  let asked = false;

  async function draw() {
    if (asked) return;
    asked = true;
    try {
      const trace = readTrace(await backend.trace({ network, problem: rounded(problem) }));
      timeline = makeTimeline(trace, stageOf(trace, moment));
      picture.replaceChildren(timeline.element);
      redraw();
    } catch (error) {
      picture.textContent = messageOf(error);
    }
  }
  function redraw() {
    timeline?.layout();
    timeline?.show(step);
  }
  return { element, draw, redraw };
}

/**
 * A problem with priorities rounded as in an address, so that the picture agrees with the link.
 * @param {Problem} problem
 */
function rounded(problem) {
  const { priorities } = problem;
  if (!priorities) return problem;
  return { ...problem, priorities: priorities.map((one) => Math.round(one * 100) / 100) };
}

/**
 * @param {Trace} trace @param {Moment} moment
 * @returns {TimelineStage}
 */
function stageOf(trace, { head, lanes, step }) {
  const stretch = stretchInUse(trace);
  const chosen = trace.heads[head];
  /** @type {TimelineStage["headOf"]} */
  const headOf = (kind) => {
    const ranked = rankedHeads(trace, kind);
    return ranked.find((one) => one.kind === chosen.kind && one.index === chosen.index) ?? ranked[0];
  };
  return {
    tip: makeTip(),
    goTo: () => {},
    step: () => step,
    headOf,
    stretch: () => stretch,
    greatest: (values) => greatestMagnitude(values, 1e-6),
    lanes,
    compact: true,
  };
}

/** The gallery: moments worth seeing. The page runs the network of each moment and draws it. */

import { greatestMagnitude } from "../../studio/static/arrays.js";
import { onThemeChange } from "../../studio/static/colours.js";
import { find, make, messageOf } from "../../studio/static/dom.js";
import { rankedHeads } from "../../studio/static/heads.js";
import { problemToTexts } from "../../studio/static/problems.js";
import { writeRoute } from "../../studio/static/route.js";
import { Sketch } from "../../studio/static/sketch.js";
import { makeTimeline } from "../../studio/static/timeline.js";
import { makeTip } from "../../studio/static/tip.js";
import { readTrace, stretchInUse } from "../../studio/static/trace.js";
import { MOMENTS } from "./moments.js";
import { makeScatter } from "./scatter.js";

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
  const { title, network, sizes, seed, step, head, sentences, scatter } = moment;
  const form = backend.form(network);
  const { problem } = new Sketch(backend.example(network, sizes, seed), form); // rounded as in links
  const address = writeRoute({
    view: "play", id: network, ...problemToTexts(problem, form), step: step + 1, head,
    moment: MOMENTS.indexOf(moment) + 1,
  });
  const picture = make("div", { class: "moment-picture viewer", inert: true }, "Loading ...");
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
      const trace = readTrace(await backend.trace({ network, problem }));
      timeline = makeTimeline(trace, stageOf(trace, moment));
      picture.replaceChildren(timeline.element);
      if (scatter) picture.append(makeScatter(trace, problem, trace.heads[scatter.head], scatter.property));
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
    compact: "roomy",
  };
}

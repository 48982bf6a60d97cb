/** The landing story: what the machine does, how it learned it, how it works, and how it breaks. */

import { find } from "../../studio/static/dom.js";
import { attempt } from "./attempts.js";
import { startSideBySide } from "./beside.js";
import { startBeyond } from "./beyond.js";
import { startBreaking } from "./breaking.js";
import { startHero } from "./hero.js";
import { startWatching } from "./watching.js";
import { startWorking } from "./working.js";

/** @import { Shown } from "../../studio/static/types.d.ts" */
/** @import { Backend } from "./backend.js" */
/** @typedef {(chapter: HTMLElement, backend: Backend) => () => Promise<unknown>} Start */

/**
 * The chapters by the id of their section, in order. A chapter starts when it comes into view, and returns its first run.
 * @type {Record<string, Start>}
 */
const CHAPTERS = {
  hero: startHero,
  watch: startWatching,
  works: startWorking,
  break: startBreaking,
  beside: startSideBySide,
  beyond: startBeyond,
};

/**
 * @param {Backend} backend
 * @returns {Shown}
 */
export function startStory(backend) {
  /** @type {Map<Element, () => Promise<unknown>>} */
  const waiting = new Map();
  for (const [id, start] of Object.entries(CHAPTERS)) {
    const chapter = find(`story-${id}`, HTMLElement);
    waiting.set(chapter, () => {
      waiting.delete(chapter);
      return attempt(chapter, start(chapter, backend));
    });
  }
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) waiting.get(target)?.();
  }, { rootMargin: "200px" });
  for (const chapter of waiting.keys()) seen.observe(chapter);
  const goTo = stayingAt(find("story", HTMLElement));
  return { show: ({ id }) => goTo(id ? document.getElementById(`story-${id}`) : null) };
}

/**
 * A function that scrolls to a chapter. The chapters grow as they load, so the page stays at the chapter until the visitor moves.
 * @param {HTMLElement} story
 */
function stayingAt(story) {
  /** @type {Element | null} */
  let target = null;
  for (const move of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(move, () => (target = null), { passive: true });
  }
  new ResizeObserver(() => target?.scrollIntoView()).observe(story);
  return (/** @type {Element | null} */ chapter) => {
    target = chapter;
    chapter?.scrollIntoView();
  };
}

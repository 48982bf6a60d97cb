/** The landing story: what the machine does, how it learned it, how it works, and how it breaks. */

import { find, messageOf } from "../../studio/static/dom.js";
import { startSideBySide } from "./beside.js";
import { startBeyond } from "./beyond.js";
import { startBreaking } from "./breaking.js";
import { startHero } from "./hero.js";
import { startWatching } from "./watching.js";
import { startWorking } from "./working.js";

/** @import { Shown } from "../../studio/static/types.d.ts" */
/** @import { Backend } from "./backend.js" */

/** The chapters by the id of their section, in order. Each starts when it comes into view. */
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
    waiting.set(chapter, async () => {
      waiting.delete(chapter);
      await start(chapter, backend).catch((error) => tell(chapter, error));
    });
  }
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) if (isIntersecting) waiting.get(target)?.();
  }, { rootMargin: "200px" });
  for (const chapter of waiting.keys()) seen.observe(chapter);
  return { show: ({ id }) => (id ? document.getElementById(`story-${id}`)?.scrollIntoView() : null) };
}

/** @param {HTMLElement} chapter @param {unknown} error */
function tell(chapter, error) {
  const message = chapter.querySelector(".message");
  if (message) message.textContent = messageOf(error);
}

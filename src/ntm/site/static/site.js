/** The site's page: the studio's play view without a server, training, and a gallery. */

import { find, furnish } from "../../studio/static/dom.js";
import { startPlay } from "../../studio/static/play.js";
import { explain, startViews } from "../../studio/static/views.js";
import { trainingAgain } from "./again.js";
import { Backend } from "./backend.js";
import { withCaptions } from "./captions.js";
import { acceptFiles } from "./dropping.js";
import { startGallery } from "./gallery.js";
import { startLearning } from "./learning.js";
import { startStory } from "./story.js";

const PATIENCE = 5000; // milliseconds

/** Leave only the tape and its title, which becomes the first heading. */
function embed() {
  document.body.classList.add("embed");
  furnish(find("hero-title", HTMLElement), { role: "heading", "aria-level": 1 });
}

async function begin() {
  // Another page shows the tape alone: <iframe src="index.html?embed=tape">.
  if (new URLSearchParams(location.search).get("embed") === "tape") embed();
  const backend = await Backend.open();
  acceptFiles(backend);
  await startViews(backend, {
    story: () => startStory(backend),
    play: (guide) => trainingAgain(withCaptions(startPlay(guide, backend)), backend),
    train: () => startLearning(backend.catalogue, backend),
    gallery: () => startGallery(backend),
  });
  // Store the whole site for use offline, but only after the first picture.
  await Promise.race([backend.hasTraced, new Promise((done) => setTimeout(done, PATIENCE))]);
  navigator.serviceWorker?.register("offline.js").catch(() => null);
}

begin().catch(explain);

/** The site's page: the studio's play view without a server, training, and a gallery. */

import { startPlay } from "../../studio/static/play.js";
import { explain, startViews } from "../../studio/static/views.js";
import { Backend } from "./backend.js";
import { acceptFiles } from "./dropping.js";
import { startGallery } from "./gallery.js";
import { startLearning } from "./learning.js";

const PATIENCE = 5000; // milliseconds

async function begin() {
  const backend = await Backend.open();
  acceptFiles(backend);
  await startViews(backend, {
    play: startPlay,
    train: () => startLearning(backend.catalogue, backend),
    gallery: () => startGallery(backend),
  });
  // Store the whole site for use offline, but only after the first picture.
  await Promise.race([backend.hasTraced, new Promise((done) => setTimeout(done, PATIENCE))]);
  navigator.serviceWorker?.register("offline.js").catch(() => null);
}

begin().catch(explain);

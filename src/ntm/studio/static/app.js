/** The studio's page: play with networks, and watch training. */

import { studio } from "./api.js";
import { startPlay } from "./play.js";
import { startTraining } from "./training.js";
import { explain, startViews } from "./views.js";

startViews(studio, { play: startPlay, training: startTraining }).catch(explain);

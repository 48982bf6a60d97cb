/** The learning curve of a training in the page, beside the paper's curves. */

import { formatNumber } from "../../studio/static/arrays.js";
import { drawChart, makeLegend } from "../../studio/static/chart.js";
import { ANY_FRAME, describePoint, frameOfBoth, legendOf, paperLines } from "../../studio/static/curves.js";
import { find, findAll } from "../../studio/static/dom.js";
import { makeTip } from "../../studio/static/tip.js";
import { REPORT_EVERY } from "./trainer.js";

/** @import { LegendEntry } from "../../studio/static/chart.js" */
/** @import { Line, Point } from "../../studio/static/types.d.ts" */
/** @import { Catalogue } from "./types.d.ts" */

export class CostChart {
  /** @type {Record<string, Record<string, Point[]>> | null} */
  papers = null; // the paper's curves by task and model
  drawnAt = 0; // by the clock, in milliseconds
  #legend = ""; // texts of the legend
  #tip = makeTip();
  parts = findAll(HTMLElement, ["chart", "legend", "reading"], "train-");

  /** @param {Catalogue} guide */
  constructor(guide) {
    this.guide = guide;
    find("train", HTMLElement).append(...this.#tip.elements);
  }

  /** Fetch the paper's curves, once. */
  async prepare() {
    if (this.papers) return;
    const answer = await fetch("data/curves.json");
    this.papers = answer.ok ? await answer.json() : {};
  }

  /** @param {string} task @param {string} model @param {Point[]} points */
  draw(task, model, points) {
    this.drawnAt = performance.now();
    const { models, tasks } = this.guide;
    const paper = paperLines(this.papers?.[task], models);
    this.#showReading(paper, tasks[task].readable_bits);
    const run = {
      name: "this page's network", model, colours: models[model].colours, points,
      marker: 0, strong: true,
    };
    const frame = frameOfBoth(points, paper, tasks[task].frame ?? ANY_FRAME, REPORT_EVERY);
    drawChart(this.parts.chart, [...paper, run], frame, this.#tip, describePoint);
    this.#showLegend(legendOf(paper, [run], models));
  }

  /**
   * Explain the flat ends of the paper's curves: smaller costs cannot be read off the figure.
   * @param {Line[]} paper @param {number} readable
   */
  #showReading(paper, readable) {
    const isReached = paper.some(({ points }) => points.some(([, bits]) => bits <= readable));
    const least = `costs below ${formatNumber(readable)} bits look like 0`;
    this.parts.reading.textContent =
      isReached ? `The paper's curves are read off its printed figure, where ${least}.` : "";
  }

  /**
   * Update the legend only if it changes, that is with the task or the model.
   * @param {LegendEntry[]} entries
   */
  #showLegend(entries) {
    const texts = entries.map(([, text]) => text).join();
    if (this.#legend === texts) return;
    this.#legend = texts;
    this.parts.legend.replaceChildren(makeLegend(entries));
  }
}

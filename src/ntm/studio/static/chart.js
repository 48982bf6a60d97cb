/** Learning curves as SVG: cost in bits over thousands of sequences, as in the paper's figures. */

import { formatNumber } from "./arrays.js";
import { make, makeSvg } from "./dom.js";

/** @import { Colours, Frame, Line, Point, Tip } from "./types.d.ts" */
/** @import { Attributes } from "./dom.js" */
/** @typedef {{ width: number, height: number }} Box */
/** @typedef {(value: number) => number} Scale */
/** @typedef {{ x: Scale, y: Scale }} Scales */
/** @typedef {(line: Line, point: Point) => string} Describe */
/** @typedef {[colours: Colours | undefined, text: string, paper: boolean]} LegendEntry */

const MARGIN = { top: 14, right: 18, bottom: 44, left: 62 };
const LEAST_ON_LOG = 1e-3;
const MOST_SPOKEN = 5;

/** Shapes at the ends of lines, so that runs of one colour can be told apart. */
const MARKERS = [
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
  "M-4 -4h8v8h-8z",
  "M0 -5L5 4H-5z",
  "M0 -5.5L5.5 0L0 5.5L-5.5 0z",
  "M0 5L5 -4H-5z",
  "M-5 -2h3v-3h4v3h3v4h-3v3h-4v-3h-3z",
];

/** Moves of the arrow keys: to another line, along a line. */
const MOVES = new Map([
  ["ArrowLeft", [0, -1]], ["ArrowRight", [0, 1]], ["ArrowUp", [-1, 0]], ["ArrowDown", [1, 0]],
]);

/** Largest number of points per line; more points are merged. */
const MOST_POINTS = 600;

let charts = 0;

/** @param {number} number */
export function markerShape(number) {
  return MARKERS[number % MARKERS.length];
}

/**
 * Draw `lines` into `element`. A line is { name, colours, points, marker, paper, strong }; its
 * points are [sequences, bits], its colours [on light, on dark]. `frame` is { sequences, bits:
 * [low, high], log, from }: `log` makes the cost axis logarithmic; `from` makes the sequence axis
 * logarithmic and is its start. `tip` shows `describe(line, point)` for the point next to the
 * pointer.
 * @param {HTMLElement} element @param {Line[]} lines @param {Frame} frame
 * @param {Tip} tip @param {Describe} describe
 */
export function drawChart(element, lines, frame, tip, describe) {
  const width = Math.max(280, element.clientWidth);
  const height = Math.round(Math.max(260, Math.min(0.58 * width, 520)));
  const inner = {
    width: width - MARGIN.left - MARGIN.right,
    height: height - MARGIN.top - MARGIN.bottom,
  };
  const scales = scalesOf(frame, inner);
  const plot = makeSvg("g", { transform: `translate(${MARGIN.left} ${MARGIN.top})` });
  const id = `frame-${(charts += 1)}`; // a page may have several charts
  const clip = makeSvg("clipPath", { id },
    makeSvg("rect", { x: 0, y: -6, width: inner.width + 6, height: inner.height + 8 }));
  const framed = makeSvg("g", { "clip-path": `url(#${id})` });
  framed.append(...lines.map((line) => drawLine(line, scales)));
  const ends = lines.flatMap((line) => endOf(line, scales, frame));
  plot.append(...axes(frame, scales, inner), framed, ...ends);
  const svg = makeSvg("svg", {
    width, height, viewBox: `0 0 ${width} ${height}`, role: "img", class: "chart",
    tabindex: "0", "aria-label": chartInWords(lines),
  }, makeSvg("defs", {}, clip), plot);
  tellNearest(svg, lines, scales, tip, describe);
  walkAlong(svg, lines, scales, tip, describe);
  const focused = element.contains(document.activeElement);
  element.replaceChildren(svg);
  if (focused) svg.focus({ preventScroll: true });
}

/**
 * The position of a point in a frame of { width, height }, as functions of sequences and of bits.
 * @param {Frame} frame @param {Box} box
 * @returns {Scales}
 */
export function scalesOf({ sequences, bits: [low, high], log, from }, { width, height }) {
  const across = from ? logarithmic(from, sequences) : linear(0, sequences);
  const up = log ? logarithmic(decadeBelow(low), high) : linear(low, high);
  return { x: (value) => width * across(value), y: (value) => height * (1 - up(value)) };
}

/**
 * The position of a value between low (0) and high (1).
 * @param {number} low @param {number} high
 * @returns {Scale}
 */
function linear(low, high) {
  return (value) => (value - low) / (high - low);
}

/**
 * @param {number} low @param {number} high
 * @returns {Scale}
 */
function logarithmic(low, high) {
  return (value) => Math.log(Math.max(value, low) / low) / Math.log(high / low);
}

/**
 * The power of ten at which a logarithmic axis of costs starts.
 * @param {number} bits
 */
function decadeBelow(bits) {
  return 10 ** Math.floor(Math.log10(Math.max(bits, LEAST_ON_LOG)) + 1e-9);
}

/**
 * About `most` points or fewer, including the last: neighbours are merged, at their mean cost per
 * sequence. The cost of a point is the mean over the sequences since the previous point.
 * @param {Point[]} points
 * @returns {Point[]}
 */
export function thinnedPoints(points, most = MOST_POINTS) {
  const size = Math.ceil(points.length / most);
  if (size <= 1) return points;
  const counts = points.map(([sequences], i) => sequences - (i ? points[i - 1][0] : 0));
  return Array.from({ length: Math.ceil(points.length / size) }, (_, i) => {
    const [first, end] = [i * size, Math.min((i + 1) * size, points.length)];
    let [bits, counted] = [0, 0];
    for (let n = first; n < end; n++) {
      bits += counts[n] * points[n][1];
      counted += counts[n];
    }
    return [points[end - 1][0], bits / counted];
  });
}

/** @param {Line} line @param {Scales} scales */
function drawLine({ name, colours, points, paper, strong }, { x, y }) {
  const path = thinnedPoints(points).map(([sequences, bits], i) =>
    `${i ? "L" : "M"}${x(sequences).toFixed(1)} ${Math.max(-1e4, y(bits)).toFixed(1)}`).join("");
  const kind = `line${paper ? " paper" : ""}${strong ? " strong" : ""}`;
  const line = makeSvg("path", { d: path, class: kind, "data-run": paper ? null : name });
  return coloured(line, colours);
}

/** @param {Line} line @param {Scales} scales @param {Frame} frame */
function endOf({ colours, points, marker = 0, paper, strong }, { x, y }, { sequences }) {
  const last = points.at(-1);
  if (paper || !last || last[0] > sequences) return [];
  const place = `translate(${x(last[0]).toFixed(1)} ${Math.max(-4, y(last[1])).toFixed(1)})`;
  const kind = `end${strong ? " strong" : ""}`;
  const end = makeSvg("path", { d: markerShape(marker), transform: place, class: kind });
  return [coloured(end, colours)];
}

/** @param {Frame} frame @param {Scales} scales @param {Box} box */
function axes(frame, { x, y }, { width, height }) {
  const parts = [];
  /** @param {string} content @param {Attributes} attributes */
  const text = (content, attributes) => makeSvg("text", attributes, content);
  for (const tick of ticksAcross(frame, width)) {
    const at = x(tick * 1000);
    parts.push(makeSvg("line", { x1: at, x2: at, y1: height, y2: height + 5, class: "axis" }));
    parts.push(text(String(tick), { x: at, y: height + 19, "text-anchor": "middle" }));
  }
  for (const tick of ticksUp(frame, height)) {
    const at = y(tick);
    parts.push(makeSvg("line", { x1: 0, x2: width, y1: at, y2: at, class: "gridline" }));
    parts.push(text(String(tick), { x: -8, y: at + 4, "text-anchor": "end" }));
  }
  parts.push(makeSvg("line", { x1: 0, x2: width, y1: height, y2: height, class: "axis" }));
  const below = `translate(${width / 2} ${height + 38})`;
  const beside = `translate(${14 - MARGIN.left} ${height / 2}) rotate(-90)`;
  /** @param {string} words @param {string} transform */
  const title = (words, transform) => text(words, { transform, "text-anchor": "middle" });
  parts.push(title("sequences seen (thousands)", below), title("cost per sequence (bits)", beside));
  return parts;
}

/**
 * About `count` round numbers from low to high.
 * @param {number} low @param {number} high @param {number} count
 */
export function ticksOf(low, high, count) {
  const rough = (high - low) / Math.max(2, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
  const ticks = [];
  for (let i = Math.ceil(low / step); i * step <= high * (1 + 1e-9); i++) {
    ticks.push(Number((i * step).toPrecision(6)));
  }
  return ticks;
}

/**
 * Ticks of the sequence axis, in thousands.
 * @param {Frame} frame @param {number} width
 */
function ticksAcross({ sequences, from }, width) {
  if (from) return powersWithin(from / 1000, sequences / 1000);
  return ticksOf(0, sequences / 1000, width / 90);
}

/** @param {Frame} frame @param {number} height */
function ticksUp({ bits: [low, high], log }, height) {
  return log ? powersWithin(decadeBelow(low), high) : ticksOf(low, high, height / 55);
}

/**
 * The powers of ten from low to high; if there are few, also two and five times each.
 * @param {number} low @param {number} high
 */
function powersWithin(low, high) {
  const factors = high / low < 100 ? [1, 2, 5] : [1];
  const ticks = [];
  for (let power = decadeBelow(low); power <= high; power *= 10) {
    ticks.push(...factors.map((factor) => Number((factor * power).toPrecision(1))));
  }
  return ticks.filter((tick) => tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9));
}

/** @param {Line[]} lines */
function chartInWords(lines) {
  const runs = lines.filter((line) => !line.paper && line.points.length);
  const costs = runs.map(({ name, points }) => {
    const [sequences, bits] = points[points.length - 1];
    return `${name}: ${formatNumber(bits)} bits after ${sequences.toLocaleString("en")} sequences`;
  });
  const more = costs.length > MOST_SPOKEN ? `; and ${costs.length - MOST_SPOKEN} more` : "";
  const spoken = costs.slice(0, MOST_SPOKEN).join("; ") || "No run is shown";
  return `Learning curves. ${spoken}${more}. Arrow keys move along and between the lines.`;
}

/**
 * Show the value of the point nearest to the pointer, of any line.
 * @param {SVGElement} svg @param {Line[]} lines @param {Scales} scales @param {Tip} tip @param {Describe} describe
 */
function tellNearest(svg, lines, { x, y }, tip, describe) {
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const across = event.clientX - box.left - MARGIN.left;
    const down = event.clientY - box.top - MARGIN.top;
    /** @type {{ line: Line, point: Point } | null} */
    let nearest = null;
    let least = 24 ** 2;
    for (const line of lines) {
      for (const point of line.points) {
        const distance = (x(point[0]) - across) ** 2 + (y(point[1]) - down) ** 2;
        if (distance < least) [least, nearest] = [distance, { line, point }];
      }
    }
    if (nearest) tip.showAt(event.clientX, event.clientY, describe(nearest.line, nearest.point));
    else tip.hide();
  });
  svg.addEventListener("pointerleave", tip.hide);
}

/**
 * Move with the arrow keys: along a line to its next point, or to the next line.
 * @param {SVGElement} svg @param {Line[]} lines @param {Scales} scales @param {Tip} tip @param {Describe} describe
 */
function walkAlong(svg, lines, { x, y }, tip, describe) {
  const drawn = lines.filter((line) => line.points.length > 0);
  const place = keyboardPlace;
  svg.addEventListener("keydown", (event) => {
    const move = MOVES.get(event.key);
    if (!move || drawn.length === 0) return;
    event.preventDefault();
    const [across, along] = move;
    const from = drawn.findIndex(({ name }) => name === place.name);
    // If the last line is no longer there, go to the first line, or upwards to the last.
    const to = from < 0 ? Math.min(across, 0) : from + across;
    const line = drawn[(to + drawn.length) % drawn.length];
    place.name = line.name;
    const points = thinnedPoints(line.points);
    place.point = Math.max(0, Math.min(points.length - 1, place.point + along));
    const point = points[place.point];
    const box = svg.getBoundingClientRect();
    const text = describe(line, point);
    tip.showAt(box.left + MARGIN.left + x(point[0]), box.top + MARGIN.top + y(point[1]), text);
    tip.say(text);
  });
  svg.addEventListener("blur", tip.hide);
}

/**
 * The keyboard's place in the chart, which is kept when the chart is drawn again.
 * @type {{ name: string | null, point: number }}
 */
const keyboardPlace = { name: null, point: 0 };

/**
 * A line and its marker as a small picture, for lists.
 * @param {Colours | undefined} colours @param {number} marker
 */
export function makeSwatch(colours, marker) {
  return picture(
    coloured(makeSvg("path", { d: "M-13 0H13", class: "line" }), colours),
    coloured(makeSvg("path", { d: markerShape(marker), class: "end" }), colours),
  );
}

/** @param {LegendEntry[]} entries */
export function makeLegend(entries) {
  const items = entries.map(([colours, text, paper]) => {
    const line = makeSvg("path", { d: "M-13 0H13", class: paper ? "line paper" : "line" });
    return make("li", {}, picture(coloured(line, colours)), text);
  });
  return make("ul", { class: "legend" }, ...items);
}

/**
 * Give an element the colours of a model, one for each theme (default: a soft colour).
 * @param {SVGElement} element @param {Colours} [colours]
 */
function coloured(element, colours) {
  if (!colours) return element;
  element.style.setProperty("--on-light", colours[0]);
  element.style.setProperty("--on-dark", colours[1]);
  return element;
}

/** @param {...SVGElement} parts */
function picture(...parts) {
  const size = { width: 26, height: 14, viewBox: "-13 -7 26 14" };
  return makeSvg("svg", { ...size, class: "swatch", "aria-hidden": "true" }, ...parts);
}

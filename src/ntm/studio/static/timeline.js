/** The whole run as a score: one lane per quantity, all over the same time, one cursor. */

import { formatNumber, greatestMagnitude, valueIn } from "./arrays.js";
import { colourScale, withAlpha } from "./colours.js";
import { make, pixelRatio } from "./dom.js";
import { anyOf } from "./heads.js";
import { drawMap, fittingCell, makeLegendOf } from "./heatmap.js";
import { tellValues } from "./tip.js";
import { isWrong } from "./trace.js";

const LARGEST_CELL = 40;
const BIT_HEIGHT = 12;
const LONE_BIT_HEIGHT = 44;
const LANE_HEIGHT = 168;
const COMPACT_HEIGHT = 110;
const VECTOR_LANE_HEIGHT = 84;
const MARKS_HEIGHT = 9;
const UNSCORED_ALPHA = 80;
const LABEL_DISTANCE = 11;

export function makeTimeline(first, stage) {
  let trace = first;
  const lanes = make("div", { class: "lanes" });
  const cursor = make("div", { class: "cursor", "aria-hidden": "true" });
  const element = make(
    "section",
    { class: "timeline", "aria-label": "The whole run over time" },
    make("h3", {}, "Over time"),
    make("div", { class: "scrolls" }, lanes),
  );
  let cellWidth = 1;
  let tellers = [];

  function layout() {
    const wanted = lanesOf(trace, stage);
    const built = wanted.map((lane) => buildLane(lane, trace, stage, () => cellWidth));
    lanes.replaceChildren(buildPhases(trace), ...built.map((one) => one.element), cursor);
    const plot = lanes.querySelector(".plot");
    const width = fittingCell(plot.clientWidth, trace.steps, LARGEST_CELL);
    cellWidth = width / pixelRatio();
    lanes.style.setProperty("--cell", `${cellWidth}px`);
    for (const one of built) one.draw(width);
    cursor.style.left = `${plot.offsetLeft}px`;
    cursor.style.width = `${Math.max(2, cellWidth)}px`;
    tellers = built;
  }
  /** Show another trace of the same problem and the same sizes, in place. */
  function update(other) {
    trace = other;
    lanesOf(trace, stage).forEach((lane, i) => {
      tellers[i].lane = lane;
      tellers[i].draw(cellWidth * pixelRatio());
    });
  }

  function show(step) {
    cursor.style.transform = `translateX(${step * cellWidth}px)`;
    for (const one of tellers) if (one.canvas === document.activeElement) one.tell();
  }
  return { element, layout, show, update };
}

/** Which lanes are shown, for the chosen heads and locations: plain values, nothing drawn yet. */
function lanesOf(trace, stage) {
  const lanes = allLanes(trace, stage);
  return stage.lanes ? lanes.filter((lane) => stage.lanes.includes(lane.key ?? lane.title)) : lanes;
}

function allLanes(trace, stage) {
  const lanes = [bitsLane("Input", "what it hears", trace.labels.inputs, trace.inputs)];
  const names = trace.labels.outputs;
  if (trace.targets) {
    const blank = (step) => !trace.answering.has(step);
    lanes.push({ ...bitsLane("Target", "what it should say", names, trace.targets), blank });
  }
  lanes.push(outputLane(trace, names));
  if (trace.optimal) {
    lanes.push(bitsLane("Optimum", "the best possible prediction", names, trace.optimal));
  }
  for (const kind of ["write", "read"]) lanes.push(...headLanes(trace, stage, kind));
  return lanes;
}

function bitsLane(title, note, names, array) {
  const most = greatestMagnitude(array.values, 1);
  return {
    title, note, names, array,
    rows: array.shape[1],
    height: array.shape[1] === 1 ? LONE_BIT_HEIGHT : BIT_HEIGHT,
    scale: colourScale("bits", -most, most),
    from: array.values.some((value) => value < 0) ? -most : 0,
    valueAt: (row, step) => valueIn(array, step, row),
  };
}

function outputLane(trace, names) {
  const lane = bitsLane("Output", "probability of a one", names, trace.outputs);
  return {
    ...lane,
    faint: (step) => trace.answering.size > 0 && !trace.answering.has(step),
    // Where the best possible answer is a guess, a wrong guess is no mistake.
    wrong: trace.optimal ? null : (row, step) => isWrong(trace, step, row),
    remark: (row, step) => {
      if (!trace.targets || !trace.answering.has(step)) return " (not scored)";
      const verdict = isWrong(trace, step, row) ? "wrong" : "right";
      return `, target ${valueIn(trace.targets, step, row)}: ${verdict}`;
    },
  };
}

function headLanes(trace, stage, kind) {
  const head = stage.headOf(kind);
  if (!head) return [];
  const siblings = trace.heads.filter((one) => one.kind === kind);
  const title = head.name[0].toUpperCase() + head.name.slice(1);
  const moved = kind === "write" ? head.adds : trace.reads[head.index];
  const note = kind === "write" ? "where it writes" : "where it reads";
  const all = siblings.length > 1
    ? [weightingLane(`All ${siblings.length} ${kind} heads`, "where any of them is",
      { kind, weightings: anyOf(siblings) }, stage)]
    : [];
  return [
    ...all,
    { ...weightingLane(`${title} weighting`, note, head, stage), key: kind },
    vectorLane(kind === "write" ? "Add vector" : "Read vector", moved, kind, stage),
  ];
}

function weightingLane(title, note, head, stage) {
  const { start, count } = stage.stretch();
  const total = head.weightings.shape[1];
  const most = stage.greatest(head.weightings.values);
  const location = (row) => (start + row) % total;
  return {
    title, note,
    rows: count,
    // Of a few locations each is tall; of many each has two pixels, if that is not too much.
    height: stage.compact
      ? Math.min(COMPACT_HEIGHT / count, 14)
      : Math.max(Math.min(LANE_HEIGHT / count, 14), Math.min(2, 320 / count)),
    names: Array.from({ length: count }, (_, row) => location(row)),
    rowName: (row) => `location ${location(row)}`,
    scale: colourScale(head.kind, 0, most),
    from: 0,
    valueAt: (row, step) => valueIn(head.weightings, step, location(row)),
  };
}

function vectorLane(title, array, kind, stage) {
  const most = stage.greatest(array.values);
  return {
    title,
    note: kind === "write" ? "what it adds there" : "what comes back",
    rows: array.shape[1],
    height: Math.max(3, Math.min(VECTOR_LANE_HEIGHT / array.shape[1], 14)),
    names: Array.from({ length: array.shape[1] }, (_, row) => row + 1),
    rowName: (row) => `component ${row + 1}`,
    scale: colourScale("signed", -most, most),
    from: -most,
    valueAt: (row, step) => valueIn(array, step, row),
  };
}

function buildLane(lane, trace, stage, cellWidth) {
  const ratio = pixelRatio();
  const height = Math.max(1, Math.round(lane.height * ratio));
  const canvas = make("canvas", {
    tabindex: "0",
    role: "img",
    "aria-label": `${lane.title}, ${lane.note}: ${lane.rows} rows by ${trace.steps} steps. ` +
      "Arrow keys move through the cells.",
  });
  const plot = make("div", { class: "plot" }, canvas);
  const labels = rowLabels(lane, height / ratio);
  const rows = make("div", { class: "rows", "aria-hidden": "true" }, ...labels);
  const kind = lane.key ? { "data-head": lane.key } : {};
  const element = make("div", { class: "lane", ...kind }, laneHeading(lane), rows, plot);
  const tell = tellValues(canvas, stage.tip, {
    size: () => ({ rows: lane.rows, columns: trace.steps }),
    describe: (row, step) => describeCell(built.lane, row, step),
    cellSize: () => ({ width: cellWidth(), height: height / ratio }),
    columnShown: stage.step,
  });
  followPointer(canvas, trace, stage, cellWidth);
  const draw = (width) => drawLane(canvas, built.lane, trace, { width, height });
  const built = { lane, element, canvas, tell, draw };
  return built;
}

function laneHeading(lane) {
  const title = make("strong", {}, lane.title);
  const note = make("span", { class: "note" }, lane.note);
  return make("div", { class: "lane-title" }, title, note, makeLegendOf(lane.scale, lane.from));
}

/** Names of rows; of numbered rows only those at round distances, as many as there is room for. */
function rowLabels(lane, height) {
  const every = 2 ** Math.max(0, Math.ceil(Math.log2(LABEL_DISTANCE / height)));
  const labels = [];
  lane.names.forEach((name, row) => {
    if (typeof name === "number" && name % every) return;
    const label = make("span", {}, String(name));
    label.style.top = `${(row + 0.5) * height}px`;
    labels.push(label);
  });
  return labels;
}

function describeCell(lane, row, step) {
  const name = lane.rowName ? lane.rowName(row) : lane.names[row];
  const where = `${lane.title}, ${name}, step ${step + 1}`;
  if (lane.blank?.(step)) return `${where}: not scored`;
  return `${where}: ${formatNumber(lane.valueAt(row, step))}${lane.remark?.(row, step) ?? ""}`;
}

function drawLane(canvas, lane, trace, cell) {
  const colourAt = (row, step) => {
    if (lane.blank?.(step)) return 0;
    const colour = lane.scale.colourOf(lane.valueAt(row, step));
    return lane.faint?.(step) ? withAlpha(colour, UNSCORED_ALPHA) : colour;
  };
  const below = lane.wrong ? MARKS_HEIGHT : 0;
  const context = drawMap(canvas, lane.rows, trace.steps, colourAt, cell, below);
  if (lane.wrong) markWrong(context, canvas, lane, trace, cell);
}

/** A framed cross on every wrong bit, and an arrowhead below every step that has one. */
function markWrong(context, canvas, lane, trace, cell) {
  const ratio = pixelRatio();
  context.strokeStyle = context.fillStyle = getComputedStyle(canvas).getPropertyValue("--wrong");
  context.lineWidth = 1.5 * ratio;
  const bottom = lane.rows * cell.height + ratio;
  for (let step = 0; step < trace.steps; step++) {
    const wrong = [...Array(lane.rows).keys()].filter((row) => lane.wrong(row, step));
    for (const row of wrong) crossOut(context, step * cell.width, row * cell.height, cell);
    if (wrong.length) arrowhead(context, (step + 0.5) * cell.width, bottom, ratio);
  }
}

function crossOut(context, x, y, { width, height }) {
  const inset = context.lineWidth;
  context.beginPath();
  context.rect(x + inset / 2, y + inset / 2, width - inset, height - inset);
  if (width > 4 * inset) {
    context.moveTo(x + inset, y + inset);
    context.lineTo(x + width - inset, y + height - inset);
    context.moveTo(x + width - inset, y + inset);
    context.lineTo(x + inset, y + height - inset);
  }
  context.stroke();
}

function arrowhead(context, x, y, ratio) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + 4 * ratio, y + 7 * ratio);
  context.lineTo(x - 4 * ratio, y + 7 * ratio);
  context.fill();
}

/** Press and drag over a lane to move through time. */
function followPointer(canvas, trace, stage, cellWidth) {
  const follow = (event) => {
    const step = Math.floor(event.offsetX / cellWidth());
    stage.goTo(Math.max(0, Math.min(trace.steps - 1, step)));
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    follow(event);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (canvas.hasPointerCapture(event.pointerId)) follow(event);
  });
}

/** The steps at which it listens and those at which it answers, as brackets above the lanes. */
function buildPhases(trace) {
  const track = make("div", { class: "phases plot" });
  for (let from = 0; from < trace.steps; ) {
    const answering = trace.answering.has(from);
    let to = from;
    while (to < trace.steps && trace.answering.has(to) === answering) to++;
    const name = !answering ? "listens" : trace.answering.has(0) ? "predicts" : "answers";
    const phase = make("span", { class: answering ? "phase answering" : "phase" }, name);
    phase.style.setProperty("--from", from);
    phase.style.setProperty("--steps", to - from);
    phase.title = `It ${name}: steps ${from + 1} to ${to}`;
    track.append(phase);
    from = to;
  }
  return make("div", { class: "lane phase-lane" }, make("span"), make("span"), track);
}

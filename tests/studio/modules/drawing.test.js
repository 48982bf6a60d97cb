/** Scales, colours, thinning, and the arrays of a trace. */

import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.window = { devicePixelRatio: 2 };
const home = "../../../src/ntm/studio/static";
const { decodeArray, formatNumber, greatestMagnitude, partAt, peakOf, valueIn } =
  await import(`${home}/arrays.js`);
const { colourScale, withAlpha } = await import(`${home}/colours.js`);
const { scalesOf, thinnedPoints, ticksOf } = await import(`${home}/chart.js`);
const { frameOfBoth } = await import(`${home}/curves.js`);
const { fittingCell } = await import(`${home}/heatmap.js`);
const { isWrong, readTrace, stretchInUse } = await import(`${home}/trace.js`);

function encodeArray(shape, values) {
  const bytes = new Uint8Array(new Float32Array(values).buffer);
  return { shape, data: Buffer.from(bytes).toString("base64") };
}

const random = (seed) => () => {
  seed = (seed * 16_807) % 2_147_483_647;
  return seed / 2_147_483_647;
};

test("arrays are read to the bit, whatever the way from base64", () => {
  const values = [Math.PI, -0, Infinity, 1e-45, 3, -2];
  const native = Uint8Array.fromBase64;
  for (const fromBase64 of [native, undefined]) {
    Uint8Array.fromBase64 = fromBase64;
    const array = decodeArray(encodeArray([3, 2], values));
    assert.deepEqual([...array.values], values.map(Math.fround));
    assert.deepEqual([...partAt(array, 1)], [Infinity, Math.fround(1e-45)]);
    assert.equal(valueIn(array, 2, 1), -2);
  }
  if (native) Uint8Array.fromBase64 = native;
});

test("peaks and magnitudes are finite and first", () => {
  assert.equal(peakOf([1, 3, 3, 2]), 1);
  assert.equal(greatestMagnitude([1, -4, NaN, Infinity, 3]), 4);
  assert.equal(greatestMagnitude([0.1], 2), 2);
});

test("numbers for people", () => {
  const texts = [[0.00001, "0"], [0.012345, "0.0123"], [1.23456, "1.235"], [NaN, "not a number"],
    [123_456, "123500"], [-0.5, "-0.5"]];
  for (const [value, text] of texts) assert.equal(formatNumber(value), text);
});

test("a colour scale goes from one end to the other and no further", () => {
  for (const ramp of ["bits", "signed", "write", "read"]) {
    const { colourOf } = colourScale(ramp, -2, 2);
    assert.equal(colourOf(-2), colourOf(-1e9));
    assert.equal(colourOf(2), colourOf(Infinity));
    assert.notEqual(colourOf(-2), colourOf(2));
    assert.equal(colourOf(0) >>> 24, 255);
    assert.notEqual(colourOf(NaN), colourOf(0));
  }
  assert.equal(withAlpha(0xff123456, 0x80), 0x80123456);
  assert.equal(colourScale("read", 1, 1).colourOf(1) >>> 24, 255); // no range at all
});

test("cells fill the room and are never smaller than a pixel", () => {
  assert.equal(fittingCell(100, 10, 40), 20); // 200 screen pixels for ten
  assert.equal(fittingCell(100, 1000, 40), 1);
  assert.equal(fittingCell(100, 1, 40), 80);
});

test("the frame's corners are the corners", () => {
  const inner = { width: 300, height: 100 };
  for (const log of [false, true]) {
    const { x, y } = scalesOf({ sequences: 1000, bits: [0, 10], log }, inner);
    assert.deepEqual([x(0), x(1000)], [0, 300]);
    assert.ok(Math.abs(y(10)) < 1e-9);
    assert.ok(Math.abs(y(0) - 100) < 1e-9);
    assert.ok(y(5) > y(10) && y(1) > y(5));
  }
});

test("a network ten times as fast has its room beside the paper's", () => {
  const fall = (from, bits) => bits.map((cost, i) => [from * (i + 1), cost]);
  const paper = [{ points: fall(20_000, [10, 1, 0.05]) }];
  const points = fall(1000, [80, 2, 0.004]);
  const frame = frameOfBoth(points, paper, { sequences: 1_000_000, bits: [0, 10] }, 100);
  const { x, y } = scalesOf(frame, { width: 100, height: 100 });
  assert.deepEqual([x(100), x(10_000), x(1_000_000)].map(Math.round), [0, 50, 100]);
  for (const [sequences, bits] of [...points, ...paper[0].points]) {
    assert.ok(x(sequences) >= 20 && x(sequences) <= 80);
    assert.ok(y(bits) >= 0 && y(bits) <= 100);
  }
  assert.ok(Math.abs(y(0.001) - 100) < 1e-9);
});

test("costs far from zero keep their scale, and a chart of nothing has one", () => {
  const usual = { sequences: 1000, bits: [130, 160] };
  const frame = frameOfBoth([[100, 200]], [], usual, 100);
  assert.deepEqual([frame.bits, frame.log ?? false], [[130, 200], false]);
  const empty = scalesOf(frameOfBoth([], [], { sequences: 1000, bits: [0, 10] }, 100), { width: 9, height: 9 });
  assert.ok([empty.x(100), empty.y(1), empty.y(12)].every(Number.isFinite));
});

test("ticks are round, ordered and within", () => {
  const next = random(7);
  for (let i = 0; i < 200; i++) {
    const low = next() * 100;
    const high = low + 10 ** (next() * 6 - 2);
    const ticks = ticksOf(low, high, 2 + next() * 10);
    assert.ok(ticks.every((tick) => tick >= low - 1e-6 * high && tick <= high * (1 + 1e-6)));
    assert.ok(ticks.length >= 1 && ticks.length <= 14, String(ticks));
    const steps = ticks.slice(1).map((tick, j) => tick - ticks[j]);
    assert.ok(steps.every((step) => Math.abs(step - steps[0]) < 1e-5 * high));
  }
});

test("fewer points keep the end and the mean", () => {
  const next = random(3);
  for (const [count, most] of [[1, 5], [5, 5], [6, 5], [1000, 7], [1200, 600]]) {
    let seen = 0;
    const points = Array.from({ length: count }, () => [seen += 1 + Math.floor(9 * next()), next()]);
    const fewer = thinnedPoints(points, most);
    assert.ok(fewer.length <= most);
    assert.equal(fewer.at(-1)[0], seen);
    const ends = fewer.map(([end], i) => end - (fewer[i - 1]?.[0] ?? 0));
    const sum = fewer.reduce((total, [, bits], i) => total + bits * ends[i], 0);
    const all = points.reduce((total, [end, bits], i) =>
      total + bits * (end - (points[i - 1]?.[0] ?? 0)), 0);
    assert.ok(Math.abs(sum - all) < 1e-9 * seen);
  }
});

function traceOf(weights) {
  const steps = weights.length;
  const A = (...sizes) => encodeArray([steps, ...sizes], Array(steps * sizes.reduce((a, b) => a * b, 1)).fill(0));
  const weightings = encodeArray([steps, weights[0].length], weights.flat());
  const heads = [["read", 0], ["write", 0], ["write", 1]];
  return {
    format: 3, title: "t", hint: null, steps, cost_bits: 1, wrong_bits: 1, answer_steps: [1],
    labels: { inputs: ["a"], outputs: ["b"] }, inputs: A(1), optimal: null, memory: null, lanes: {},
    outputs: encodeArray([steps, 1], [0.9, 0.2, NaN].slice(0, steps)),
    targets: encodeArray([steps, 1], [0, 1, 0].slice(0, steps)), shifts: [-1, 0, 1],
    arrays: ["read", "write"].map((kind) =>
      ({ name: "weightings", kind, label: "weighting", role: "weighting", axis: "location" })),
    heads: heads.map(([kind, index]) => ({ kind, index, arrays: { weightings } })),
  };
}

test("a trace names its heads, the writing ones first, and has what the server sent of them", () => {
  const trace = readTrace(traceOf([[0.1, 0.9], [0.5, 0.5]]));
  assert.deepEqual(trace.heads.map((head) => head.name), ["write 1", "write 2", "read"]);
  assert.equal(valueIn(trace.heads[2].weightings, 0, 1), Math.fround(0.9));
  assert.throws(() => readTrace({ format: 1 }), /format 1; this viewer reads format 3/);
});

test("only scored steps can be wrong, and what is no number is", () => {
  const trace = readTrace({ ...traceOf([[1], [1], [1]]), answer_steps: [1, 2] });
  assert.deepEqual([0, 1, 2].map((step) => isWrong(trace, step, 0)), [false, true, true]);
  assert.equal(isWrong({ ...trace, targets: null }, 1, 0), false);
});

test("the stretch in use is the shortest that leaves nothing out", () => {
  const next = random(11);
  for (let i = 0; i < 300; i++) {
    const count = 5 + Math.floor(next() * 35);
    const used = new Set(Array.from({ length: 1 + Math.floor(next() * 3) }, () => Math.floor(next() * count)));
    const weights = Array.from({ length: count }, (_, at) => (used.has(at) ? 0.9 : 0.01));
    const stretch = stretchInUse(readTrace(traceOf([weights])));
    const covered = new Set(Array.from({ length: stretch.count }, (_, at) => (stretch.start + at) % count));
    assert.ok([...used].every((location) => covered.has(location)));
    const from = (start) => Math.max(...[...used].map((location) => (location - start + count) % count));
    const shortest = Math.min(...[...used].map(from)) + 3; // with one to spare on either side
    assert.equal(stretch.count, shortest <= 0.75 * count ? shortest : count);
  }
});

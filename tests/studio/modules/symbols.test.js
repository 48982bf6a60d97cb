/** Symbols in traces: which are wrong, and the ink that is readable on every colour. */

import assert from "node:assert/strict";
import { test } from "node:test";

const scheme = { matches: false };
globalThis.matchMedia = () => scheme;
const { colourScale } = await import("../../../src/ntm/studio/static/colours.js");
const { answerText, inkOn, symbolLane } = await import("../../../src/ntm/studio/static/symbols.js");
const { isWrong } = await import("../../../src/ntm/studio/static/trace.js");

const NAMES = ["a", " ", "c"];
const array = (...rows) => ({ shape: [rows.length, 3], values: new Float32Array(rows.flat()) });
const TRACE = {
  answering: new Set([1, 2, 3]),
  kinds: { inputs: "symbols", outputs: "symbols" },
  labels: { inputs: NAMES, outputs: NAMES },
  outputs: array([1, 0, 0], [0.2, 0.7, 0.1], [0.4, 0.3, 0.3], [NaN, NaN, NaN]),
  targets: array([0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]),
};

test("a symbol is wrong if another is more probable, or none is a number", () => {
  assert.deepEqual([0, 1, 2, 3].map((step) => isWrong(TRACE, step, 0)), [false, false, true, true]);
});

test("a lane shows the most probable symbol, with visible spaces, and ranks the others", () => {
  const lane = symbolLane("Output", "", NAMES, TRACE.outputs);
  assert.deepEqual([0, 1, 2].map(lane.textAt), ["a", "\u2423", "a"]);
  assert.equal(lane.tellAt(0), "a");
  assert.equal(lane.tellAt(1), "\u2423 0.7, a 0.2, c 0.1");
  assert.equal(symbolLane("Input", "", NAMES, TRACE.targets).textAt(0), "");
  assert.equal(symbolLane("Input", "", NAMES, TRACE.targets).tellAt(0), "no symbol");
  assert.equal(answerText({ ...TRACE, answering: new Set([1, 2]) }), " a");
});

for (const dark of [false, true]) {
  test(`ink is readable on every shade in the ${dark ? "dark" : "light"}`, () => {
    scheme.matches = dark;
    const { colourOf } = colourScale("bits", -1, 1);
    for (let p = 0; p <= 1; p += 1 / 64) {
      const colour = colourOf(p);
      assert.ok(contrast(channels(colour), ofHex(inkOn(colour))) >= 4.5, `${p}`);
    }
  });
}

const channels = (colour) => [0, 8, 16].map((shift) => (colour >> shift) & 255);
const ofHex = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));

/** The contrast of two colours, as in the Web Content Accessibility Guidelines. */
function contrast(one, other) {
  const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (rgb) =>
    [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => sum + share * linear(rgb[i] / 255), 0);
  const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

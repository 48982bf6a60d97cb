/** The list of runs: filter, order and remaining time. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  durationInWords, filterRuns, secondsLeft, sortRuns,
} from "../../../src/ntm/studio/static/runlist.js";

const run = (name, known = {}) => ({
  name, model: "ntm-ff", state: "stopped", sequences: 0, bits: null, speed: null, total: null, ...known,
});
const RUNS = [
  run("copy-10", { bits: 0.5, sequences: 10 }),
  run("copy-9", { bits: 2, sequences: 30, state: "running", speed: 2, total: 130 }),
  run("Sort", { model: "lstm", state: "failed" }),
  run("other", { bits: 0.5, sequences: 20, state: "running", speed: 100, total: 120 }),
];
const names = (runs) => runs.map(({ name }) => name);

test("every word must be somewhere in the name or the model", () => {
  const found = (text, state = "") => names(filterRuns(RUNS, { text, state }));
  assert.deepEqual(found(""), names(RUNS));
  assert.deepEqual(found("  COPY "), ["copy-10", "copy-9"]);
  assert.deepEqual(found("ff 9"), ["copy-9"]);
  assert.deepEqual(found("lstm"), ["Sort"]);
  assert.deepEqual(found("(["), []);
  assert.deepEqual(found("", "running"), ["copy-9", "other"]);
});

test("runs without a value come last, whichever way the order goes", () => {
  const sorted = (column, descending = false) => names(sortRuns(RUNS, { column, descending }));
  assert.deepEqual(sorted("name"), ["copy-9", "copy-10", "other", "Sort"]);
  assert.deepEqual(sorted("name", true), ["Sort", "other", "copy-10", "copy-9"]);
  assert.deepEqual(sorted("bits"), ["copy-10", "other", "copy-9", "Sort"]);
  assert.deepEqual(sorted("bits", true), ["copy-9", "other", "copy-10", "Sort"]);
  // Among running runs, the first to end comes first.
  assert.deepEqual(sorted("state"), ["Sort", "other", "copy-9", "copy-10"]);
  assert.deepEqual(sorted("sequences"), ["Sort", "copy-10", "other", "copy-9"]);
});

test("the time left follows from the speed", () => {
  assert.equal(secondsLeft(RUNS[1]), 50);
  assert.equal(secondsLeft(RUNS[0]), null);
  assert.equal(secondsLeft({ ...RUNS[1], speed: null }), null);
  assert.equal(secondsLeft({ ...RUNS[1], sequences: 500 }), 0);
});

test("durations", () => {
  const words = [[0, "0 s"], [59.4, "59 s"], [59.6, "1 min 0 s"], [125, "2 min 5 s"],
    [7500, "2 h 5 min"], [200_000, "2 d 7 h"]];
  for (const [seconds, text] of words) assert.equal(durationInWords(seconds), text);
});

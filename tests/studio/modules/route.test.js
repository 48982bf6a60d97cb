/** Addresses, good and bad. */

import assert from "node:assert/strict";
import { test } from "node:test";

import { readRoute, wholeNumber, writeRoute } from "../../../src/ntm/studio/static/route.js";

test("what is written is what is read", () => {
  for (const route of [
    { view: "play", id: "" },
    { view: "training", id: "copy" },
    { view: "play", id: "pretrained:copy-ff", vectors: "a5.03", step: "12", head: "1" },
    { view: "play", id: "run:a name/with %odd? #parts&more=1", bits: "7.b2", memory: "256" },
    { view: "play", id: "trace:t.npz", a: "&=?#%/ +" },
  ]) assert.deepEqual(readRoute(writeRoute(route)), route);
});

test("nothing that somebody types throws, and it shows the play view", () => {
  for (const hash of [
    "", "#", "#%", "#%E0%A4%A", "#constructor", "#__proto__", "#toString/valueOf", "#?", "#/",
    "#play?%", "#hasOwnProperty?x=1", "#PLAY", "# play", "##", `#${"a".repeat(1e5)}`,
  ]) assert.equal(readRoute(hash).view, "play", hash.slice(0, 30));
  assert.deepEqual(readRoute("#constructor?step=3"), { view: "play", id: "" });
});

test("an address cannot name a view twice", () => {
  assert.equal(readRoute("#training?view=play&id=x").view, "training");
});

test("what is null is left out, and a drawing too long for an address, too", () => {
  assert.equal(writeRoute({ view: "play", id: "a", memory: null, step: undefined }), "#play/a");
  assert.equal(writeRoute({ view: "play", id: "a", vectors: "f".repeat(1e5) }), "#play/a");
});

test("whole numbers", () => {
  assert.equal(wholeNumber("12", 1), 12);
  assert.equal(wholeNumber("0", 0), 0);
  for (const text of ["0", "-1", "1.5", "", "x", "1e3", "9".repeat(40), undefined]) {
    assert.equal(wholeNumber(text, 1), null);
  }
});

/** The drawing model: sizes, undo, and problems as texts. */

import assert from "node:assert/strict";
import { test } from "node:test";

import {
  isSameForm, isTyped, problemFromTexts, problemToTexts, sizeOf,
} from "../../../src/ntm/studio/static/problems.js";
import { Sketch } from "../../../src/ntm/studio/static/sketch.js";

const size = { min: 1, max: 50 };
const VECTORS = { name: "vectors", kind: "bits", axis: "length", shape: [5] };
const FORMS = {
  copy: { parts: [VECTORS], context: 0, sizes: { length: size } },
  repeat: { parts: [VECTORS], context: 0, sizes: { length: size, repeats: size } },
  recall: {
    parts: [
      { name: "items", kind: "bits", axis: "items", shape: [3, 5] },
      { name: "query", kind: "choice", axis: "items", shape: [] },
    ],
    context: 0, sizes: { items: { min: 2, max: 9 } },
  },
  ngrams: {
    parts: [{ name: "bits", kind: "bits", axis: "length", shape: [] }],
    context: 3, sizes: { length: size },
  },
  sort: {
    parts: [VECTORS, { name: "priorities", kind: "numbers", axis: "length", shape: [] }],
    context: 0, sizes: { length: size },
  },
};

function drawn(kind) {
  const vector = (seed) => Array.from({ length: 5 }, (_, i) => (seed >> i) & 1);
  const vectors = [3, 17, 30, 9].map(vector);
  return {
    copy: { vectors },
    repeat: { vectors, repeats: 7 },
    recall: { items: [1, 2, 3].map((n) => [vector(n), vector(n + 9), vector(31)]), query: 1 },
    ngrams: { bits: [1, 0, 1, 1, 0, 0, 1] },
    sort: { vectors, priorities: [0.25, -1, 0, 0.99] },
  }[kind];
}

const axisOf = (kind) => Object.keys(FORMS[kind].sizes)[0];

for (const kind of Object.keys(FORMS)) {
  test(`${kind}: typing 20 over 10, digit by digit, keeps all that was drawn`, () => {
    const sketch = new Sketch(drawn(kind), FORMS[kind]);
    const [before, axis] = [drawn(kind), axisOf(kind)];
    const length = sizeOf(before, axis, FORMS[kind]);
    for (const typed of [2, 20, 2, length]) {
      sketch.resize(axis, typed);
      assert.equal(sizeOf(sketch.problem, axis, FORMS[kind]), typed);
    }
    if (kind === "recall") sketch.problem.query = before.query; // resizing limits the query
    assert.deepEqual(sketch.problem, before);
  });

  test(`${kind}: every size is a problem of its form`, () => {
    const sketch = new Sketch(drawn(kind), FORMS[kind]);
    for (const length of [2, 9, 5]) {
      sketch.resize(axisOf(kind), length);
      const texts = problemToTexts(sketch.problem, FORMS[kind]);
      assert.deepEqual(problemFromTexts(texts, FORMS[kind]), sketch.problem);
    }
  });

  test(`${kind}: undo and redo go through all that was settled`, () => {
    const sketch = new Sketch(drawn(kind), FORMS[kind]);
    const states = [structuredClone(sketch.problem)];
    const changes = [() => sketch.clear(), () => sketch.resize(axisOf(kind), 5)];
    for (const change of changes) {
      change();
      sketch.settle();
      states.push(structuredClone(sketch.problem));
    }
    assert.equal(sketch.canRedo, false);
    for (const state of states.slice(0, -1).toReversed()) {
      assert.equal(sketch.canUndo, true);
      sketch.undo();
      assert.deepEqual(sketch.problem, state);
    }
    assert.equal(sketch.canUndo, false);
    sketch.undo();
    assert.deepEqual(sketch.problem, states[0]);
    for (const state of states.slice(1)) {
      sketch.redo();
      assert.deepEqual(sketch.problem, state);
    }
    assert.equal(sketch.canRedo, false);
  });

  test(`${kind}: texts that are torn, of another form or out of bounds are none`, () => {
    const texts = problemToTexts(drawn(kind), FORMS[kind]);
    assert.deepEqual(problemFromTexts(texts, FORMS[kind]), drawn(kind));
    for (const [name, text] of Object.entries(texts)) {
      for (const bad of ["", "?", "-", ".", `${text}.`, `${text}!`, "9".repeat(400), "NaN", "1e9"]) {
        assert.equal(problemFromTexts({ ...texts, [name]: bad }, FORMS[kind]), null, `${name}=${bad}`);
      }
    }
    const other = { ...FORMS[kind], sizes: { [axisOf(kind)]: { min: 40, max: 50 } } };
    assert.equal(problemFromTexts(texts, other), null);
    assert.equal(problemFromTexts({}, FORMS[kind]), null);
  });
}

test("an edit that was not settled yet is undone, too", () => {
  const sketch = new Sketch(drawn("copy"), FORMS.copy);
  sketch.problem.vectors[0][0] = 1 - sketch.problem.vectors[0][0];
  assert.equal(sketch.canUndo, true);
  sketch.undo();
  assert.deepEqual(sketch.problem, drawn("copy"));
});

test("an edit right before another is a step of its own", () => {
  const sketch = new Sketch(drawn("copy"), FORMS.copy);
  sketch.resize("length", 6);
  const longer = structuredClone(sketch.problem);
  sketch.clear();
  sketch.undo();
  assert.deepEqual(sketch.problem, longer);
  sketch.undo();
  assert.deepEqual(sketch.problem, drawn("copy"));
});

test("memory is a part of what is undone", () => {
  const sketch = new Sketch(drawn("copy"), FORMS.copy, 40);
  assert.equal(sketch.canUndo, false);
  sketch.memory = 80;
  sketch.replace({ vectors: [[0, 0, 0, 0, 0]] });
  assert.equal(sketch.memory, 80);
  sketch.undo();
  assert.deepEqual([sketch.problem, sketch.memory], [drawn("copy"), 80]);
  sketch.undo();
  assert.deepEqual([sketch.problem, sketch.memory], [drawn("copy"), 40]);
  sketch.redo();
  assert.equal(sketch.memory, 80);
});

test("a new edit after undo takes the place of what was undone", () => {
  const sketch = new Sketch(drawn("copy"), FORMS.copy);
  sketch.clear();
  sketch.undo();
  sketch.resize("length", 2);
  sketch.settle();
  assert.equal(sketch.canRedo, false);
});

test("what was cut off does not come back into another drawing", () => {
  const sketch = new Sketch(drawn("copy"), FORMS.copy);
  sketch.resize("length", 1);
  sketch.replace({ vectors: [[0, 0, 0, 0, 0]] });
  sketch.resize("length", 4);
  assert.notDeepEqual(sketch.problem.vectors.slice(1), drawn("copy").vectors.slice(1));
});

test("bits go on as their source would", (context) => {
  // After 1 1 1 a one came each of nine times: the chance of another is 9.5 in 10.
  const bits = Array.from({ length: 12 }, () => 1);
  const chance = context.mock.method(Math, "random");
  for (const [drawnChance, bit] of [[0.949, 1], [0.951, 0]]) {
    const sketch = new Sketch({ bits: [...bits] }, FORMS.ngrams);
    chance.mock.mockImplementation(() => drawnChance);
    sketch.resize("length", 13);
    assert.equal(sketch.problem.bits.at(-1), bit);
  }
});

test("priorities are as fine as they can be drawn, so opening a problem changes nothing", () => {
  const problem = { vectors: [[0, 0, 0, 0, 1]], priorities: [0.123456] };
  const sketch = new Sketch(problem, FORMS.sort);
  assert.deepEqual(sketch.problem.priorities, [0.12]);
  assert.equal(sketch.canUndo, false);
});

const TYPED = {
  parts: ["input", "target"].map((name) => ({ name, kind: "text", axis: "", shape: [] })),
  context: 0, sizes: {},
};

test("typed problems: texts, an unknown target, and clearing", () => {
  const problem = { input: "3 march & 1977 = \u2713", target: "" };
  const texts = problemToTexts(problem, TYPED);
  assert.deepEqual(problemFromTexts(texts, TYPED), problem);
  assert.equal(problemFromTexts({}, TYPED), null);
  assert.equal(problemFromTexts({ input: "a" }, TYPED), null);
  assert.equal(isTyped(TYPED), true);
  assert.equal(isTyped(FORMS.copy), false);
  const sketch = new Sketch({ ...problem }, TYPED);
  sketch.clear();
  assert.deepEqual(sketch.problem, { input: "", target: "" });
  sketch.undo();
  assert.deepEqual(sketch.problem, problem);
});

test("a typed input stays with its own network", () => {
  const network = (id) => ({ id, task: "examples", problem: TYPED });
  assert.equal(isSameForm(network("run:a"), network("run:a")), true);
  assert.equal(isSameForm(network("run:a"), network("run:b")), false);
});

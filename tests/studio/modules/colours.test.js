/** More weight always changes the brightness in the same direction, in both themes. */

import assert from "node:assert/strict";
import { test } from "node:test";

const scheme = { matches: false };
globalThis.matchMedia = () => scheme;
const { colourScale, headColour } = await import("../../../src/ntm/studio/static/colours.js");

function brightnessOf(colour) {
  const [red, green, blue] = [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

for (const dark of [false, true]) {
  test(`ramps of weightings in the ${dark ? "dark" : "light"}`, () => {
    scheme.matches = dark;
    for (const ramp of ["write", "read"]) {
      const { colourOf } = colourScale(ramp, 0, 32);
      const brightness = Array.from({ length: 33 }, (_, value) => brightnessOf(colourOf(value)));
      const direction = dark ? 1 : -1;
      const steps = brightness.slice(1).map((now, i) => direction * (now - brightness[i]));
      assert.ok(steps.every((step) => step > 0), ramp);
      assert.match(headColour(ramp), /^#[0-9a-f]{6}$/);
    }
  });
}

test("a scale follows the theme of the moment", () => {
  scheme.matches = false;
  const light = colourScale("read", 0, 1).colourOf(1);
  scheme.matches = true;
  assert.notEqual(colourScale("read", 0, 1).colourOf(1), light);
});

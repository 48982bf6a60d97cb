/** Heat maps on canvas: every cell is a whole number of screen pixels, so that edges stay crisp. */

import { formatNumber } from "./arrays.js";
import { make, pixelRatio } from "./dom.js";

const CELLS_WITH_LINES = 7;
let small = null; // a canvas with a pixel per cell

/** The size of a cell in screen pixels such that `count` of them fill at most `room` CSS pixels. */
export function fittingCell(room, count, largest) {
  const ratio = pixelRatio();
  const fitting = Math.floor((room * ratio) / count);
  return Math.max(1, Math.min(fitting, Math.round(largest * ratio)));
}

/**
 * Draw a map of rows x columns. `colourAt(row, column)` gives a colour as `colourScale` does, or 0
 * for an empty cell; `cell` is { width, height } in screen pixels, the height of many rows perhaps
 * less than one; `below` are CSS pixels left free under the map for marks. Returns the drawing
 * context, in screen pixels.
 */
export function drawMap(canvas, rows, columns, colourAt, cell, below = 0) {
  const ratio = pixelRatio();
  const [width, height] = [columns * cell.width, Math.round(rows * cell.height)];
  sizeCanvas(canvas, width, height + Math.round(below * ratio));
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = cell.height < 1; // else every other row would be left out
  fillSmall(rows, columns, colourAt);
  context.drawImage(small, 0, 0, columns, rows, 0, 0, width, height);
  separate(context, rows, columns, cell);
  return context;
}

/** What the colours of a scale mean, from a value on: two numbers and the ramp between them. */
export function makeLegendOf(scale, from) {
  const ramp = make("span", { class: "ramp" });
  ramp.style.backgroundImage = scale.gradient;
  // A symmetric scale of values of which none is negative uses only its upper half.
  ramp.classList.toggle("upper-half", from === 0 && scale.low < 0);
  return make("span", { class: "scale" }, formatNumber(from), ramp, formatNumber(scale.high));
}

/** Set a canvas to a size in screen pixels, shown pixel for pixel; it is empty afterwards. */
export function sizeCanvas(canvas, width, height) {
  if (canvas.width === width && canvas.height === height) {
    canvas.getContext("2d").clearRect(0, 0, width, height);
    return;
  }
  const ratio = pixelRatio();
  canvas.width = width;
  canvas.height = height;
  canvas.style.width = `${width / ratio}px`;
  canvas.style.height = `${height / ratio}px`;
}

/** One pixel per cell, in a canvas that grows with the largest map. */
function fillSmall(rows, columns, colourAt) {
  small ??= document.createElement("canvas");
  small.width = Math.max(small.width, columns);
  small.height = Math.max(small.height, rows);
  const context = small.getContext("2d");
  const image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let row = 0, at = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) pixels[at++] = colourAt(row, column);
  }
  context.putImageData(image, 0, 0);
}

/** Cut a hairline between cells that are large enough to spare it. */
function separate(context, rows, columns, cell) {
  const least = CELLS_WITH_LINES * pixelRatio();
  if (cell.width >= least) {
    for (let i = 1; i < columns; i++) context.clearRect(i * cell.width, 0, 1, rows * cell.height);
  }
  if (cell.height >= least) {
    for (let i = 1; i < rows; i++) context.clearRect(0, i * cell.height, columns * cell.width, 1);
  }
}

/** Draw one bar per value; `ghost` values, if given, are outlined behind. All in 0..1. */
export function drawBars(canvas, values, { width, height, colour, ghost, ghostColour, down }) {
  sizeCanvas(canvas, values.length * width, height);
  const context = canvas.getContext("2d");
  const gap = width >= 4 ? 1 : 0;
  const bar = (value, column, inset) => {
    const tall = Math.max(0, Math.min(1, value)) * height;
    const top = down ? 0 : height - tall;
    context.fillRect(column * width + inset, top, Math.max(1, width - gap - 2 * inset), tall);
  };
  if (ghost) {
    context.fillStyle = ghostColour;
    ghost.forEach((value, column) => bar(value, column, 0));
  }
  context.fillStyle = colour;
  const inset = ghost && width >= 6 ? Math.floor(width / 5) : 0;
  values.forEach((value, column) => bar(value, column, inset));
}

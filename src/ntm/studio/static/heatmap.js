/** Heat maps on canvas. Every cell is a whole number of screen pixels, so that edges stay crisp. */

import { formatNumber } from "./arrays.js";
import { make, pixelRatio } from "./dom.js";

/** @import { ColourScale } from "./colours.js" */
/** @typedef {{ width: number, height: number }} Cell in screen pixels */
/**
 * @typedef {{ width: number, height: number, colour: string, ghost?: Float32Array | null,
 *   ghostColour?: string, down?: boolean }} Bars
 */

const CELLS_WITH_LINES = 7;
/** @type {HTMLCanvasElement | null} a canvas with a pixel per cell */
let small = null;

/**
 * The size of a cell in screen pixels with which `count` cells fill at most `room` CSS pixels.
 * @param {number} room @param {number} count @param {number} largest
 */
export function fittingCell(room, count, largest) {
  const ratio = pixelRatio();
  const fitting = Math.floor((room * ratio) / count);
  return Math.max(1, Math.min(fitting, Math.round(largest * ratio)));
}

/**
 * Draw a map of rows x columns. `colourAt(row, column)` gives a colour of a `colourScale`, or 0 for
 * an empty cell; `cell` is { width, height } in screen pixels, where the height may be less than
 * one; `below` is a margin under the map for marks, in CSS pixels. Returns the drawing context, in
 * screen pixels.
 * @param {HTMLCanvasElement} canvas @param {number} rows @param {number} columns
 * @param {(row: number, column: number) => number} colourAt
 * @param {Cell} cell @param {number} [below]
 */
export function drawMap(canvas, rows, columns, colourAt, cell, below = 0) {
  const ratio = pixelRatio();
  const [width, height] = [columns * cell.width, Math.round(rows * cell.height)];
  sizeCanvas(canvas, width, height + Math.round(below * ratio));
  const context = contextOf(canvas);
  context.imageSmoothingEnabled = cell.height < 1; // otherwise rows would be left out
  small ??= document.createElement("canvas");
  fillSmall(small, rows, columns, colourAt);
  context.drawImage(small, 0, 0, columns, rows, 0, 0, width, height);
  separate(context, rows, columns, cell);
  return context;
}

/**
 * The legend of a scale from a value upwards: two numbers and the colour ramp between them.
 * @param {ColourScale} scale @param {number} from
 */
export function makeLegendOf(scale, from) {
  const ramp = make("span", { class: "ramp" });
  ramp.style.backgroundImage = scale.gradient;
  // Without negative values, a symmetric scale uses only its upper half.
  ramp.classList.toggle("upper-half", from === 0 && scale.low < 0);
  return make("span", { class: "scale" }, formatNumber(from), ramp, formatNumber(scale.high));
}

/** @param {HTMLCanvasElement} canvas */
function contextOf(canvas) {
  const context = canvas.getContext("2d");
  if (context) return context;
  throw new Error("This browser cannot draw on a canvas.");
}

/**
 * Set the size of a canvas in screen pixels, shown pixel for pixel, and clear the canvas.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height
 */
export function sizeCanvas(canvas, width, height) {
  if (canvas.width === width && canvas.height === height) {
    contextOf(canvas).clearRect(0, 0, width, height);
    return;
  }
  const ratio = pixelRatio();
  canvas.width = width;
  canvas.height = height;
  canvas.style.width = `${width / ratio}px`;
  canvas.style.height = `${height / ratio}px`;
}

/**
 * Draw one pixel per cell, in a canvas that grows with the largest map.
 * @param {HTMLCanvasElement} canvas @param {number} rows @param {number} columns @param {(row: number, column: number) => number} colourAt
 */
function fillSmall(canvas, rows, columns, colourAt) {
  canvas.width = Math.max(canvas.width, columns);
  canvas.height = Math.max(canvas.height, rows);
  const context = contextOf(canvas);
  const image = context.createImageData(columns, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let row = 0, at = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) pixels[at++] = colourAt(row, column);
  }
  context.putImageData(image, 0, 0);
}

/**
 * Draw hairlines between cells that are large enough.
 * @param {CanvasRenderingContext2D} context @param {number} rows @param {number} columns @param {Cell} cell
 */
function separate(context, rows, columns, cell) {
  const least = CELLS_WITH_LINES * pixelRatio();
  if (cell.width >= least) {
    for (let i = 1; i < columns; i++) context.clearRect(i * cell.width, 0, 1, rows * cell.height);
  }
  if (cell.height >= least) {
    for (let i = 1; i < rows; i++) context.clearRect(0, i * cell.height, columns * cell.width, 1);
  }
}

/**
 * Draw one bar per value; `ghost` values, if given, are outlined behind. All values are in 0..1.
 * @param {HTMLCanvasElement} canvas @param {Float32Array} values @param {Bars} bars
 */
export function drawBars(canvas, values, { width, height, colour, ghost, ghostColour = colour, down }) {
  sizeCanvas(canvas, values.length * width, height);
  const context = contextOf(canvas);
  const gap = width >= 4 ? 1 : 0;
  /** @param {number} value @param {number} column @param {number} inset */
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

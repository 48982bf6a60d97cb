/**
 * Colours for values. Every kind of value has its own ramp, in a light and in a dark version: ink
 * for bits, orange for writing, blue for reading, purple to green for signed numbers. All ramps
 * stay readable with the common kinds of colour blindness.
 */

/** @import { HeadKind } from "./types.d.ts" */
/** @typedef {"light" | "dark"} Theme */
/** @typedef {"bits" | "signed" | HeadKind} Ramp */
/** @typedef {{ low: number, high: number, colourOf: (value: number) => number, gradient: string }} ColourScale */

/** @type {Record<Theme, Record<Ramp, string[]>>} */
const RAMPS = {
  light: {
    bits: ["#8a4fa3", "#c9a9d6", "#f4f5f7", "#8d97a6", "#14181f"],
    signed: ["#4b1f63", "#9a6bb0", "#f6f6f4", "#5fae74", "#0d4a26"],
    write: ["#fdf8f3", "#fbd0a4", "#ee8a3c", "#c4560b", "#7a2f00"],
    read: ["#f4f9fd", "#b4d6ee", "#579fd3", "#1a66a8", "#0b3a7a"],
  },
  dark: {
    bits: ["#c79be0", "#6d4b80", "#1d232c", "#7d8795", "#f4f6f9"],
    signed: ["#dcb5ee", "#7d4d96", "#1b2027", "#3d8a54", "#b4f0c4"],
    write: ["#1e1a18", "#6d3310", "#cd6416", "#ff9d45", "#ffdcb5"],
    read: ["#161c24", "#154a77", "#2b86c8", "#62b9f2", "#c4e6ff"],
  },
};
const SHADES = 256;
const NOT_A_NUMBER = { light: packed([214, 39, 40]), dark: packed([255, 92, 92]) };
/** @type {Map<string, Uint32Array>} */
const shadesMade = new Map();
const darkness = globalThis.matchMedia?.("(prefers-color-scheme: dark)");

/** @returns {Theme} */
export function currentTheme() {
  return darkness?.matches ? "dark" : "light";
}

/**
 * Call back whenever the theme changes; returns a function that stops this.
 * @param {() => void} callback
 */
export function onThemeChange(callback) {
  darkness?.addEventListener("change", callback);
  return () => darkness?.removeEventListener("change", callback);
}

/**
 * The colours of values from low to high on the named ramp, in the present theme. A colour is a
 * number in the format of canvas pixels: alpha, blue, green and red from the highest byte.
 * @param {Ramp} name @param {number} low @param {number} high
 * @returns {ColourScale}
 */
export function colourScale(name, low, high) {
  const theme = currentTheme();
  const stops = RAMPS[theme][name];
  const key = `${theme} ${name}`;
  const shades = shadesMade.get(key) ?? shadesBetween(stops.map(channelsOf));
  shadesMade.set(key, shades);
  const perShade = (SHADES - 1) / (high - low || 1);
  const colourOf = (/** @type {number} */ value) => {
    if (Number.isNaN(value)) return NOT_A_NUMBER[theme];
    const shade = Math.round((value - low) * perShade);
    return shades[Math.max(0, Math.min(SHADES - 1, shade))];
  };
  return { low, high, colourOf, gradient: `linear-gradient(to right, ${stops.join(", ")})` };
}

/**
 * The colour of bars and markers of a kind of head.
 * @param {HeadKind} kind
 */
export function headColour(kind) {
  const ramp = RAMPS[currentTheme()][kind];
  return currentTheme() === "dark" ? ramp[3] : kind === "write" ? "#c9570a" : ramp[3];
}

/**
 * The same colour, more transparent; alpha is from 0 to 255.
 * @param {number} colour @param {number} alpha
 */
export function withAlpha(colour, alpha) {
  return ((colour & 0xffffff) | (alpha << 24)) >>> 0;
}

/** @param {number[]} channels */
function packed([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** @param {string} hex */
function channelsOf(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

/** @param {number[][]} stops */
function shadesBetween(stops) {
  return Uint32Array.from({ length: SHADES }, (_, shade) => {
    const place = (shade / (SHADES - 1)) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    const share = place - below;
    const mixed = stops[below].map((from, i) => from + (stops[below + 1][i] - from) * share);
    return packed(mixed.map(Math.round));
  });
}

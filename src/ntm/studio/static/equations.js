/** The equations of the paper's section 3, each shown by the symbol that it defines. */

import { make } from "./dom.js";

/** @import { Tip } from "./types.d.ts" */
/** @typedef {keyof typeof EQUATIONS} Equation */

/** @param {string} name */
const mi = (name) => `<mi>${name}</mi>`;
/** @param {string} name */
const sub = (name) => `<msub>${mi(name)}<mi>t</mi></msub>`;
/** @param {string} name @param {string} above */
const sup = (name, above) => `<msubsup>${mi(name)}<mi>t</mi><mi>${above}</mi></msubsup>`;
/** @param {string} name */
const last = (name) => `<msub>${mi(name)}<mrow><mi>t</mi><mo>-</mo><mn>1</mn></mrow></msub>`;
/** @param {string} mark */
const bracket = (mark) => `<mo stretchy="false">${mark}</mo>`;
/** @param {string} name */
const at = (name, place = "i") => `${name}${bracket("(")}${mi(place)}${bracket(")")}`;
/** @param {string} name */
const tilde = (name) => `<msub><mover>${mi(name)}<mo>~</mo></mover><mi>t</mi></msub>`;
/** @param {string} over */
const sum = (over) => `<munder><mo>&sum;</mo>${mi(over)}</munder>`;
/** @param {string} top @param {string} bottom */
const over = (top, bottom) => `<mfrac><mrow>${top}</mrow><mrow>${bottom}</mrow></mfrac>`;
const gets = "<mo>&larr;</mo>";
/** @param {string} place */
const similarity = (place) =>
  `<mi>exp</mi>${bracket("(")}${sub("&beta;")}<mi>K</mi>${bracket("[")}${sub("k")}<mo>,</mo>` +
  at(sub("M"), place) + bracket("]") + bracket(")");
/** @param {string} place */
const power = (place) => `<msup><mrow>${at(tilde("w"), place)}</mrow>${sub("&gamma;")}</msup>`;

/** By name: the number in the paper, the symbol as HTML, the equation, and both in words. */
const EQUATIONS = {
  content: {
    number: 5, symbol: "<i>w</i><sup>c</sup>",
    math: at(sup("w", "c")) + gets + over(similarity("i"), sum("j") + similarity("j")),
    words: "the content weighting: how similar each location is to the key, a softmax made " +
      "sharper by the key strength beta",
  },
  gated: {
    number: 7, symbol: "<i>w</i><sup>g</sup>",
    math: sup("w", "g") + gets + sub("g") + sup("w", "c") +
      `<mo>+</mo>${bracket("(")}<mn>1</mn><mo>-</mo>${sub("g")}${bracket(")")}${last("w")}`,
    words: "the gated weighting: the gate g mixes the content weighting with the last weighting",
  },
  shifted: {
    number: 8, symbol: "<i>w&#771;</i>",
    math: at(tilde("w")) + gets + sum("j") + at(sup("w", "g"), "j") + sub("s") +
      `${bracket("(")}<mi>i</mi><mo>-</mo><mi>j</mi>${bracket(")")}`,
    words: "the shifted weighting: all weights move by the shifts s, around the end of the memory",
  },
  weightings: {
    number: 9, symbol: "<i>w</i>",
    math: at(sub("w")) + gets + over(power("i"), sum("j") + power("j")),
    words: "the weighting: raised to the power gamma and normalised, so that it stays sharp",
  },
  erase: {
    number: 3, symbol: "<i>e</i>",
    math: at(tilde("M")) + gets + at(last("M")) +
      `${bracket("[")}<mn>1</mn><mo>-</mo>${at(sub("w"))}${sub("e")}${bracket("]")}`,
    words: "the erase vector: the memory under the write head is multiplied by 1 minus this vector",
  },
  add: {
    number: 4, symbol: "<i>a</i>",
    math: `${at(sub("M"))}${gets}${at(tilde("M"))}<mo>+</mo>${at(sub("w"))}${sub("a")}`,
    words: "the add vector: this vector is added to the memory under the write head",
  },
  read: {
    number: 2, symbol: "<i>r</i>",
    math: sub("r") + gets + sum("i") + at(sub("w")) + at(sub("M")),
    words: "the read vector: the sum of the memory's rows, weighted by the read head's weighting",
  },
};

/**
 * Whether there is an equation with this name.
 * @param {string} name
 * @returns {name is Equation}
 */
export function isSymbol(name) {
  return Object.hasOwn(EQUATIONS, name);
}

/**
 * A button with text and symbol that shows its equation while the pointer is on it or it has the
 * focus. `part`, if given, is a parameter of the same equation, and shows it under the pointer.
 * @param {Equation} name @param {string} text @param {Tip} tip @param {HTMLElement | null} [part]
 */
export function makeSymbol(name, text, tip, part = null) {
  const { number, symbol, words } = EQUATIONS[name];
  const button = make("button", { type: "button", class: "symbol" });
  button.innerHTML = `${text} ${symbol}`; // safe: both are constants of the page
  // The visible text is the name, so that speech input finds the button.
  button.setAttribute("aria-description", `Equation ${number}, ${words}`);
  const show = () => {
    const { left, bottom } = button.getBoundingClientRect();
    tip.showAt(left - 14, bottom - 12, equation(name));
  };
  for (const event of ["pointerenter", "focus", "click"]) button.addEventListener(event, show);
  for (const event of ["pointerleave", "blur"]) button.addEventListener(event, tip.hide);
  part?.addEventListener("pointerenter", show);
  part?.addEventListener("pointerleave", tip.hide);
  button.addEventListener("keydown", ({ key }) => key === "Escape" && tip.hide());
  return button;
}

/** @param {Equation} name */
function equation(name) {
  const { number, words } = EQUATIONS[name];
  return make("div", {}, makeEquation(name), make("div", {}, `Equation ${number}: ${words}.`));
}

/**
 * The formula of an equation.
 * @param {Equation} name
 */
export function makeEquation(name) {
  const formula = make("div", { class: "formula" });
  formula.innerHTML = `<math display="block">${EQUATIONS[name].math}</math>`; // a constant
  return formula;
}

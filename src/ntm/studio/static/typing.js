/** The pane for problems that are typed: a field for the input and one for its target, if known. */

import { capitalised, make } from "./dom.js";

/** @import { ProblemForm } from "./python.d.ts" */
/** @import { Problem } from "./types.d.ts" */

let fieldsMade = 0;

/**
 * Fill an element with a field per part. Typing changes the problem in place, and then calls
 * `onChange()`. The first part is the question: changing it clears the others, which belong to it.
 * @param {HTMLElement} element @param {Problem} problem @param {ProblemForm} form
 * @param {() => void} onChange
 */
export function mountTyping(element, problem, { parts }, onChange) {
  const fields = parts.map(({ name }, index) => makeField(name, problem[name], index > 0));
  fields.forEach(({ field }, index) => {
    field.addEventListener("input", () => {
      problem[parts[index].name] = field.value;
      for (const [i, { name }] of index ? [] : [...parts.entries()].slice(1)) {
        problem[name] = fields[i].field.value = "";
      }
      onChange();
    });
  });
  element.replaceChildren(make("div", { class: "typing" }, ...fields.map((one) => one.element)));
}

/** @param {string} name @param {string} value @param {boolean} optional */
function makeField(name, value, optional) {
  const id = `typed-${(fieldsMade += 1)}`;
  const placeholder = optional ? "not known: nothing is scored" : "type an input";
  const field = make("textarea", { id, rows: 1, placeholder, spellcheck: "false" });
  field.value = value;
  return { field, element: make("div", {}, make("label", { for: id }, capitalised(name)), field) };
}

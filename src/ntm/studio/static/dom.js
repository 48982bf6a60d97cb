/** Elements in one expression: `make("button", { type: "button" }, "Play")`. */

/** @typedef {Record<string, string | number | boolean | null | undefined>} Attributes */

/**
 * The element of the page with this id, which must be of this kind.
 * @template {HTMLElement} Kind
 * @param {string} id @param {new () => Kind} kind
 */
export function find(id, kind) {
  return ofKind(document.getElementById(id), kind, id);
}

/**
 * Several elements of one kind, by their ids without the prefix.
 * @template {HTMLElement} Kind
 * @template {string} Id
 * @param {new () => Kind} kind @param {Id[]} ids
 */
export function findAll(kind, ids, prefix = "") {
  const found = ids.map((id) => [id, find(`${prefix}${id}`, kind)]);
  return /** @type {Record<Id, Kind>} */ (Object.fromEntries(found));
}

/**
 * The field of a form with this name, which must be of this kind.
 * @template {HTMLElement} Kind
 * @param {HTMLFormElement} form @param {string} name @param {new () => Kind} kind
 */
export function findField(form, name, kind) {
  return ofKind(form.elements.namedItem(name), kind, name);
}

/**
 * @template {HTMLElement} Kind
 * @param {unknown} found @param {new () => Kind} kind @param {string} name
 */
function ofKind(found, kind, name) {
  if (found instanceof kind) return found;
  throw new Error(`The page has no ${kind.name} ${name}.`);
}

/**
 * The message of an error.
 * @param {unknown} error
 */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}


/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Attributes} [attributes] @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function make(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag @param {Attributes} [attributes] @param {(Node | string)[]} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function makeSvg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/**
 * Give an element attributes and children. Attributes that are null or false are left out.
 * @template {Element} Made
 * @param {Made} element @param {Attributes} attributes @param {(Node | string)[]} [children]
 */
export function furnish(element, attributes, children = []) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children);
  return element;
}

/**
 * A group of radio buttons that look like one control; `choices` are [value, label] pairs.
 * @template {string} Value
 * @param {string} legend @param {string} name @param {[Value, string, string?][]} choices
 * @param {Value} chosen @param {(value: Value) => void} onChoose
 */
export function makeChoice(legend, name, choices, chosen, onChoose) {
  const group = make("fieldset", { class: "choice" }, make("legend", {}, legend));
  for (const [value, label, kind] of choices) {
    const radio = make("input", { type: "radio", name, value, checked: value === chosen });
    radio.addEventListener("change", () => onChoose(value));
    // After a click the arrow keys must not change the choice; clicks by keyboard have detail 0.
    radio.addEventListener("click", (event) => event.detail > 0 && radio.blur());
    group.append(make("label", { class: kind }, radio, make("span", {}, label)));
  }
  return group;
}

/**
 * Make a <details> a menu: it closes on Escape, on a click elsewhere, or when the focus leaves it.
 * @param {HTMLDetailsElement} details @param {() => void} onOpen
 */
export function makeMenu(details, onOpen) {
  const close = () => (details.open = false);
  details.addEventListener("toggle", () => details.open && onOpen());
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !details.open) return;
    close();
    details.querySelector("summary")?.focus();
  });
  document.addEventListener("pointerdown", ({ target }) =>
    (target instanceof Node && details.contains(target)) || close());
  details.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget instanceof Node && !details.contains(relatedTarget)) close();
  });
}

/** Screen pixels per CSS pixel. */
export function pixelRatio() {
  return window.devicePixelRatio || 1;
}

/**
 * A text with a capital first letter.
 * @param {string} text
 */
export function capitalised(text) {
  return text[0].toUpperCase() + text.slice(1);
}

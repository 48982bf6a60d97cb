/** Elements in one expression: `make("button", { type: "button" }, "Play")`. */

export function make(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

export function makeSvg(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function furnish(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children);
  return element;
}

/** A group of radio buttons that look like one control; `choices` are [value, label] pairs. */
export function makeChoice(legend, name, choices, chosen, onChoose) {
  const group = make("fieldset", { class: "choice" }, make("legend", {}, legend));
  for (const [value, label, kind] of choices) {
    const radio = make("input", { type: "radio", name, value, checked: value === chosen });
    radio.addEventListener("change", () => onChoose(value));
    // After a click the arrow keys shall not go on to choose; those of the keyboard have no detail.
    radio.addEventListener("click", (event) => event.detail > 0 && radio.blur());
    group.append(make("label", { class: kind }, radio, make("span", {}, label)));
  }
  return group;
}

/** Make a <details> a menu: it closes when one goes elsewhere or presses Escape. */
export function makeMenu(details, onOpen) {
  const close = () => (details.open = false);
  details.addEventListener("toggle", () => details.open && onOpen());
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !details.open) return;
    close();
    details.querySelector("summary").focus();
  });
  document.addEventListener("pointerdown", (event) => details.contains(event.target) || close());
  details.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !details.contains(relatedTarget)) close();
  });
}

/** The pixels of the screen per pixel of the page. */
export function pixelRatio() {
  return window.devicePixelRatio || 1;
}

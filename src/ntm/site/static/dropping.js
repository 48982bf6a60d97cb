/** Open files of weights, dropped on the page or chosen, as networks to play with. */

import { find, messageOf } from "../../studio/static/dom.js";
import { networkFromFiles } from "./importing.js";

/** @import { Backend } from "./backend.js" */

/** @param {Backend} backend */
export function acceptFiles(backend) {
  const button = find("open-file", HTMLButtonElement);
  const input = find("file-input", HTMLInputElement);
  const message = find("file-message", HTMLElement);
  const open = async (/** @type {FileList | null | undefined} */ files) => {
    if (!files?.length) return;
    message.textContent = "";
    try {
      const { network, tensors } = await networkFromFiles([...files], backend.catalogue.tasks);
      await backend.add(network, tensors);
      location.hash = `#play/${encodeURIComponent(network.id).replaceAll("%3A", ":")}`;
      scrollTo(0, 0); // the button is at the end of the page
    } catch (error) {
      message.textContent = messageOf(error);
    }
  };
  addEventListener("popstate", () => (message.textContent = "")); // the visitor moved on
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => open(input.files).then(() => (input.value = "")));
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  for (const end of ["dragleave", "drop"]) {
    addEventListener(end, () => document.body.classList.remove("dropping"));
  }
  addEventListener("drop", (event) => {
    event.preventDefault();
    open(event.dataTransfer?.files);
  });
}

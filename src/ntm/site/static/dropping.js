/** Files of weights, dropped on the page or chosen, become networks to play with. */

import { networkFromFiles } from "./importing.js";

export function acceptFiles(backend) {
  const find = (id) => document.getElementById(id);
  const [button, input, message] = ["open-file", "file-input", "file-message"].map(find);
  const open = async (files) => {
    if (files.length === 0) return;
    message.textContent = "";
    try {
      const { network, tensors } = await networkFromFiles([...files], backend.catalogue.tasks);
      await backend.add(network, tensors);
      location.hash = `#play/${encodeURIComponent(network.id).replaceAll("%3A", ":")}`;
    } catch (error) {
      message.textContent = error.message;
    }
  };
  addEventListener("popstate", () => (message.textContent = "")); // something else is looked at
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
    open(event.dataTransfer.files);
  });
}

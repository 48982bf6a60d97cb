/** The last chapter: a snippet that shows the tape in another page. */

import { copyLink } from "../../studio/static/api.js";
import { find, messageOf } from "../../studio/static/dom.js";

export function startBeyond() {
  const page = new URL("?embed=tape", location.href.replace(/[?#].*$/, ""));
  const snippet = `<iframe src="${page}" title="A Neural Turing Machine copies" width="100%" height="680"></iframe>`;
  const told = find("embed-copied", HTMLElement);
  find("embed-code", HTMLElement).textContent = snippet;
  find("embed-copy", HTMLButtonElement).addEventListener("click", async () => {
    told.textContent = await copyLink(snippet).then(() => "Copied.", messageOf);
  });
  return async () => {};
}

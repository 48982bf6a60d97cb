/** The menu that copies a link to the present view, or saves the view as a file. */

import { copyLink, download } from "./api.js";
import { find, makeMenu } from "./dom.js";

/**
 * `remember()` brings the address up to date; `file()` promises the page to save and its name.
 * Returns a function that clears the outcome of the last action.
 * @param {{ remember: () => void, file: () => Promise<{ page: Blob, name: string }> }} owner
 */
export function makeShareMenu({ remember, file }) {
  const shared = find("shared", HTMLElement);
  const clear = () => (shared.textContent = "");
  /** @param {string} id @param {() => Promise<string>} action */
  const on = (id, action) =>
    find(id, HTMLButtonElement).addEventListener("click", async () => {
      // An error leaves the picture as it is.
      shared.textContent = await action().catch((error) => error.message);
    });
  makeMenu(find("share", HTMLDetailsElement), clear);
  on("copy-link", async () => {
    remember();
    await copyLink(location.href);
    return "Link copied.";
  });
  on("save-file", async () => {
    const { page, name } = await file();
    download(page, name);
    return "Saved. The file opens at this step.";
  });
  return clear;
}

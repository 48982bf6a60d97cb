/** The studio's server. A refusal is an Error with the server's sentence. */

/** @import { Backend } from "./types.d.ts" */

/** @type {Backend} */
export const studio = {
  guide: () => getJson("guide"),
  networks: () => getJson("networks"),
  traces: () => getJson("traces"),
  network: (id) => getJson(`networks/${encodeURIComponent(id)}`).catch(nullIfMissing),
  folder: () => getJson("folder"),
  savedTrace: (name) => getJson(`traces/${encodeURIComponent(name)}`),
  example: (network, sizes, seed) =>
    postJson("example", { network, seed, sizes }).then((answer) => answer.problem),
  trace: (request, signal) => postJson("trace", request, signal),
  file: (request, { step, head }) =>
    post("share", { ...request, step, head }).then((answer) => answer.blob()),
  missing: (network) => `There is no network ${network}, or it has no weights yet.`,
};

/** Number of times that a request is sent while the studio is busy. */
const ATTEMPTS = 5;

/**
 * @param {string} path
 * @returns {Promise<any>} whatever the server answers to it
 */
export function getJson(path) {
  return answerTo(path).then((answer) => answer.json());
}

/**
 * @param {string} path @param {object} body @param {AbortSignal} [signal]
 * @returns {Promise<any>} whatever the server answers to it
 */
export function postJson(path, body, signal) {
  return post(path, body, signal).then((answer) => answer.json());
}

/**
 * Save a blob as a file.
 * @param {Blob} blob @param {string} filename
 */
export function download(blob, filename) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = filename;
  link.click();
  // The download may start later; the address must stay valid until then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * Copy a link to the clipboard.
 * @param {string} link
 */
export async function copyLink(link) {
  try {
    await navigator.clipboard.writeText(link); // fails if the page is not secure
  } catch (error) {
    throw new Error(`The browser does not allow copying; the link is ${link}`, { cause: error });
  }
}

/** @param {string} path @param {object} body @param {AbortSignal} [signal] */
function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  const request = { method: "POST", headers, body: JSON.stringify(body), signal };
  return answerTo(path, request);
}

/**
 * @param {string} path @param {RequestInit} [request] @param {number} [attempts]
 * @returns {Promise<Response>}
 */
async function answerTo(path, request, attempts = ATTEMPTS) {
  let answer;
  try {
    answer = await fetch(`api/${path}`, request);
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    throw new Error("The studio does not answer; is `ntm studio` still running?", { cause: error });
  }
  if (answer.ok) return answer;
  // Never repeat a request that changes a run: it may have succeeded after the time limit.
  if (answer.status === 503 && attempts > 1 && !path.startsWith("runs/")) {
    const seconds = Number(answer.headers.get("Retry-After"));
    await new Promise((resolve) => setTimeout(resolve, 1000 * seconds));
    return answerTo(path, request, attempts - 1);
  }
  const refusal = await answer.json().catch(() => ({}));
  const sentence = refusal.error ?? `The studio answered with status ${answer.status}.`;
  throw Object.assign(new Error(sentence), { status: answer.status });
}

/**
 * @param {Error & { status?: number }} error
 * @returns {null}
 */
export function nullIfMissing(error) {
  if (error.status !== 404) throw error;
  return null;
}

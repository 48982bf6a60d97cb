/** The studio's server. A refusal is an Error with the server's sentence. */

/**
 * What the play view asks for. The site without a server has the same, made of files and a worker.
 *
 *     guide(), networks(), traces(), savedTrace(name)
 *     network(id)                          one of them, listed or not; null if there is none
 *     folder()                             { whole, read }: whether these lists have all that
 *                                          there is, and will not grow by themselves
 *     example(network, sizes, seed)        a random problem
 *     trace(request, signal)               what a network does with a problem
 *     file(request, view)                  the same as a page of its own, a Blob
 *     missing(network)                     why an address leads nowhere, in words
 */
export const studio = {
  guide: () => getJson("guide"),
  networks: () => getJson("networks"),
  traces: () => getJson("traces"),
  network: (id) => getJson(`networks/${encodeURIComponent(id)}`).catch(nullIfMissing),
  folder: () => getJson("folder"),
  savedTrace: (name) => getJson(`traces/${encodeURIComponent(name)}`),
  example: (network, sizes, seed) =>
    postJson("example", { network, seed, ...sizes }).then((answer) => answer.problem),
  trace: (request, signal) => postJson("trace", request, signal),
  file: (request, { step, head }) =>
    post("share", { ...request, step, head }).then((answer) => answer.blob()),
  missing: (network) => `There is no network ${network}, or it has no weights yet.`,
};

/** How often a request is sent again that the studio was too busy for. */
const ATTEMPTS = 5;

export function getJson(path) {
  return answerTo(path).then((answer) => answer.json());
}

export function postJson(path, body, signal) {
  return post(path, body, signal).then((answer) => answer.json());
}

/** Have something saved as a file. */
export function download(blob, filename) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = filename;
  link.click();
  // The download may begin after this turn; the address must last until then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  const request = { method: "POST", headers, body: JSON.stringify(body), signal };
  return answerTo(path, request);
}

async function answerTo(path, request, attempts = ATTEMPTS) {
  let answer;
  try {
    answer = await fetch(`api/${path}`, request);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The studio does not answer; is `ntm studio` still running?", { cause: error });
  }
  if (answer.ok) return answer;
  // Not what changes a run: it may have happened, only too late to be told.
  if (answer.status === 503 && attempts > 1 && !path.startsWith("runs/")) {
    await new Promise((resolve) => setTimeout(resolve, 1000 * answer.headers.get("Retry-After")));
    return answerTo(path, request, attempts - 1);
  }
  const refusal = await answer.json().catch(() => ({}));
  const sentence = refusal.error ?? `The studio answered with status ${answer.status}.`;
  throw Object.assign(new Error(sentence), { status: answer.status });
}

export function nullIfMissing(error) {
  if (error.status !== 404) throw error;
  return null;
}

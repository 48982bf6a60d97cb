/** The studio's server, behind two functions. A refusal is an Error with the server's sentence. */

export function getJson(path) {
  return answerTo(fetch(`api/${path}`)).then((answer) => answer.json());
}

export function postJson(path, body, signal) {
  return post(path, body, signal).then((answer) => answer.json());
}

/** Post and have the answer saved as a file. */
export async function downloadPost(path, body, filename) {
  const blob = await (await post(path, body)).blob();
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
  return answerTo(fetch(`api/${path}`, request));
}

async function answerTo(request) {
  let answer;
  try {
    answer = await request;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The studio does not answer; is `ntm studio` still running?", { cause: error });
  }
  if (answer.ok) return answer;
  const refusal = await answer.json().catch(() => ({}));
  throw new Error(refusal.error ?? `The studio answered with status ${answer.status}.`);
}

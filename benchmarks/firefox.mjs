/**
 * Open pages in Firefox and evaluate functions in them: the part of WebDriver BiDi that site.py needs.
 *
 *     echo '{"preload": "() => {}", "visits": [["http://...", "() => 1"]]}' | node benchmarks/firefox.mjs
 *
 * Every address is opened in a new profile, and what its function returns is printed, as JSON.
 */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const { preload, visits } = JSON.parse(await text(process.stdin));
const answers = [];
for (const [address, asked] of visits) answers.push(await visit(address, asked));
console.log(JSON.stringify(answers));

async function visit(address, asked) {
  const profile = mkdtempSync(join(tmpdir(), "firefox-"));
  const options = ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"];
  const firefox = spawn("firefox", options, { stdio: ["ignore", "ignore", "pipe"] });
  const ended = new Promise((resolve) => firefox.once("exit", resolve));
  try {
    const tell = await connected(`${await listening(firefox)}/session`);
    await tell("session.new", { capabilities: {} });
    const { context } = await tell("browsingContext.create", { type: "tab" });
    const viewport = { width: 1280, height: 900 };
    await tell("browsingContext.setViewport", { context, viewport });
    await tell("script.addPreloadScript", { functionDeclaration: preload });
    await tell("browsingContext.navigate", { context, url: address, wait: "complete" });
    const expression = `(${asked})().then(JSON.stringify)`;
    const { result, exceptionDetails } = await tell("script.evaluate", {
      expression, target: { context }, awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return JSON.parse(result.value);
  } finally {
    firefox.kill();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The address at which it listens, which it prints. */
function listening(firefox) {
  return new Promise((resolve, reject) => {
    let said = "";
    firefox.stderr.on("data", (part) => {
      said += part;
      const found = said.match(/ws:\/\/[\d.:]+/);
      if (found) resolve(found[0]);
    });
    firefox.once("exit", () => reject(new Error(`Firefox ended: ${said}`)));
  });
}

/** A function that sends a command and gives back its result. */
async function connected(address) {
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const waiting = new Map();
  socket.onmessage = ({ data }) => {
    const { id, type, result, message } = JSON.parse(data);
    if (type === "success") waiting.get(id).resolve(result);
    else if (type === "error") waiting.get(id).reject(new Error(message));
  };
  let last = 0;
  return (method, params) => new Promise((resolve, reject) => {
    last += 1;
    waiting.set(last, { resolve, reject });
    socket.send(JSON.stringify({ id: last, method, params }));
  });
}

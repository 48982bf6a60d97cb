"""Speed of the studio's viewer: a copy of 120 vectors, drawn and played in a real browser.

    python benchmarks/studio_frames.py [--length 120] [--speed 64] [--json]

Draws the trace of the paper's copy network in a browser (browser.py) without a screen. The network
is untrained, which does not change the amount of drawing. Prints

    document      size of the trace document
    render        time from the document's text to the page: parsing, decoding, drawing, layout
    frames        frames per second during playback, and the longest time between two frames
    steps         steps per second, shown and requested
    work          processor time of the page's thread, for one render and for one step

On a busy machine, everything except the work gets worse. The load is printed.
"""

import argparse
import json
import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

import torch
from browser import open_browser
from playwright.sync_api import Page

from ntm.runs import block_generator, build_model
from ntm.studio.sharing import show
from ntm.training import paper_settings

RENDERS = 5

RENDER = """async () => {
  const text = document.getElementById("trace").textContent;
  const place = document.getElementById("viewer");
  const painted = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  await painted();
  const began = performance.now();
  mountViewer(place, JSON.parse(text));
  await painted();
  return performance.now() - began;
}"""

PLAY = """async () => {
  const times = [];
  const shown = new Set();
  const readout = document.querySelector(".readout");
  const playing = () => document.querySelector('[aria-label="Pause"]');
  document.querySelector('[aria-label="Play"]').click();
  await new Promise(done => {
    const frame = now => {
      times.push(now);
      shown.add(readout.textContent);
      if (playing()) requestAnimationFrame(frame);
      else done();
    };
    requestAnimationFrame(frame);
  });
  return { times, shown: shown.size };
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--length", type=int, default=120, help="vectors to copy")
    parser.add_argument("--speed", type=int, default=64, help="steps per second to play at")
    parser.add_argument("--json", action="store_true", help="print only JSON")
    options = parser.parse_args()
    results = measured(options.length, options.speed)
    if options.json:
        print(json.dumps(results))
        return
    for name, value in results.items():
        print(f"{name:32}{value:10.1f}")


def measured(length: int, speed: int) -> dict[str, float]:
    html = page_of(length)
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        file = Path(folder, "trace.html")
        file.write_text(html, encoding="utf-8")
        # The script was changed, so its hash no longer matches the page's policy.
        page = browser.new_page(viewport={"width": 1280, "height": 900}, bypass_csp=True)
        page.goto(file.as_uri())
        page.locator(".transport").wait_for()
        results = {"document, MB": len(html) / 1e6, **rendered(page), **played(page, speed)}
    return results | {"load of the machine": os.getloadavg()[0]}


def page_of(length: int) -> str:
    settings = paper_settings("copy", "ntm-ff")
    batch = settings.task.at(length=length).sample(1, block_generator("benchmark", 1))
    torch.manual_seed(1)
    html = show(build_model(settings), batch, settings.task, title=f"copy, length {length}").html()
    # The names of a module are private. This makes `mountViewer` callable from outside.
    return html.replace("\nmountViewer(", "\nwindow.mountViewer = mountViewer;\nmountViewer(")


def rendered(page: Page) -> dict[str, float]:
    times, works = zip(*(worked(page, RENDER) for _ in range(RENDERS)), strict=True)
    return {
        "render, median ms": statistics.median(times),
        "render, slowest ms": max(times),
        "render, median work ms": statistics.median(works),
    }


def worked(page: Page, script: str) -> tuple[Any, float]:
    """Run a script; return its result and the milliseconds of work of the page's thread."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def work() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(float(m["value"]) for m in metrics if m["name"] == "TaskDuration")

    before = work()
    result = page.evaluate(script)
    spent = work() - before
    session.detach()
    return result, 1000 * spent


def played(page: Page, speed: int) -> dict[str, float]:
    page.get_by_label("Speed").select_option(str(speed))
    run, work = worked(page, PLAY)
    gaps = [after - before for before, after in zip(run["times"], run["times"][1:], strict=False)]
    seconds = sum(gaps) / 1000
    return {
        "frames per second": len(gaps) / seconds,
        "longest frame, ms": max(gaps),
        "steps shown per second": run["shown"] / seconds,
        "steps asked for per second": speed,
        "step, work ms": work / run["shown"],
    }


if __name__ == "__main__":
    main()

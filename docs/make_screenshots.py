"""Make the screenshots of docs/studio.md and docs/site.md, and the site's preview picture.

`make screenshots` calls it.

It trains four copy networks and a network of dates, which takes a few minutes, opens the studio on
them and photographs its views in a browser. `--runs DIR` takes the runs of a folder instead,
copy-ntm-ff-1 and dates among them.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from benchmarks.browser import open_browser
from playwright.sync_api import Browser, Page

IMAGES = Path(__file__).parent / "images"
PREVIEW = IMAGES.parents[1] / "src/ntm/site/static/preview.png"
TRAINED = (("ntm-ff", 1), ("ntm-ff", 2), ("ntm-lstm", 1), ("ntm-lstm", 2))
NETWORK = "run:copy-ntm-ff-1"
DATES = ("9 february 1974", 22)  # a typed input, and the step that is shown


def main() -> None:
    """Make them all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=Path, help="photograph these runs instead of training some")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        if runs is None:
            runs = Path(folder)
            train(runs)
        with studio(runs) as address:
            photograph(browser, address)
        with site() as address:
            photograph_training(browser, address)
            photograph_tape(browser, address)


def train(folder: Path) -> None:
    """Train the copy networks whose curves and memory are shown."""
    for model, seed in TRAINED:
        command = [sys.executable, "-m", "ntm", "train", "copy", "--model", model]
        command += ["--seed", str(seed), "--starts", "1", "--sequences", "20000"]
        subprocess.run([*command, "--run", folder / f"copy-{model}-{seed}"], check=True)
    file = folder / "dates.jsonl"
    subprocess.run(
        [sys.executable, "examples/make_dates.py", file], cwd=IMAGES.parents[1], check=True
    )
    command = [sys.executable, "-m", "ntm", "train", str(file), "--model", "ntm-lstm"]
    subprocess.run([*command, "--sequences", "30000", "--run", folder / "dates"], check=True)


@contextmanager
def studio(folder: Path) -> Iterator[str]:
    """A studio for a folder; yields its address."""
    command = [sys.executable, "-m", "ntm", "studio", str(folder), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()  # with the token, which becomes a cookie
        server.terminate()


@contextmanager
def site() -> Iterator[str]:
    """The site, served from a folder; yields its address."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "ntm", "site", "--out", folder], check=True)
        handler = partial(SimpleHTTPRequestHandler, directory=folder)
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}/"
            server.shutdown()


def photograph_training(browser: Browser, address: str) -> None:
    """A network that has learned to copy in the page."""
    with page(browser, 1280, 1000) as shown:
        shown.goto(f"{address}#train/copy")
        shown.get_by_role("button", name="Train", exact=True).click()
        solved = shown.get_by_text(re.compile(r"^[\d.]+ s, [\d,]+ sequences$"))
        solved.wait_for(timeout=300_000)
        shown.wait_for_timeout(5000)  # a little further down
        shown.get_by_role("button", name="Stop").click()
        shown.wait_for_timeout(500)
        shown.locator(".training-columns:visible").screenshot(path=IMAGES / "site-train.png")


def photograph_tape(browser: Browser, address: str) -> None:
    """The picture in previews of links: 1200 x 630 pixels, as social networks want it."""
    with page(browser, 1200, 630, reduced_motion="reduce") as shown:
        shown.goto(f"{address}?embed=tape")
        shown.get_by_text("all 160 bits right").wait_for()
        shown.screenshot(path=PREVIEW)


def photograph(browser: Browser, address: str) -> None:
    """Every view of the studio, each in the state that shows it best."""
    with page(browser, 1280, 1080) as shown:
        play(shown, address, length=14)
        step_to(shown, 20)
        shown.get_by_label("read", exact=True).check()
        save(shown, "studio-play.png")
        shown.locator(".timeline").screenshot(path=IMAGES / "studio-timeline.png")
    with page(browser, 1280, 1180, color_scheme="dark") as shown:
        play(shown, address, length=120)
        step_to(shown, 160)
        shown.locator(".transport").evaluate("bar => bar.scrollIntoView()")
        save(shown, "studio-longer.png")
    with page(browser, 1280, 1060) as shown:
        shown.goto(f"{address}#play/run:dates")
        shown.get_by_label("Input", exact=True).fill(DATES[0])
        shown.locator(".summary h2").get_by_text(DATES[0]).wait_for()
        step_to(shown, DATES[1])
        save(shown, "studio-symbols.png")
    with page(browser, 390, 1100, device_scale_factor=1.5) as shown:
        play(shown, address, length=10)
        step_to(shown, 14)
        shown.locator(".summary").evaluate("summary => summary.scrollIntoView()")
        save(shown, "studio-phone.png")
    with page(browser, 1280, 660) as shown:
        shown.goto(f"{address}#training")
        shown.locator("path[data-run]").first.wait_for(state="attached")
        shown.get_by_label("logarithmic").check()
        save(shown, "studio-training.png")


@contextmanager
def page(browser: Browser, width: int, height: int, **look: object) -> Iterator[Page]:
    """A window of that size."""
    size = {"width": width, "height": height}
    with browser.new_context(viewport=size, **look) as context:  # type: ignore[arg-type]
        yield context.new_page()


def play(shown: Page, address: str, length: int) -> None:
    """Have the network copy a random sequence of that length."""
    shown.goto(f"{address}#play/{NETWORK}")
    shown.locator(".transport").wait_for()
    shown.get_by_label("Length", exact=True).fill(str(length))
    shown.locator(".summary h2").get_by_text(f"length {length}").wait_for()


def step_to(shown: Page, step: int) -> None:
    """Move the heads there, and take the focus ring off the slider."""
    shown.get_by_label("Step", exact=True).fill(str(step - 1))
    shown.get_by_label("Step", exact=True).blur()


def save(shown: Page, name: str) -> None:
    """Photograph what the window shows, when nothing moves any more."""
    shown.wait_for_timeout(500)
    shown.screenshot(path=IMAGES / name)


if __name__ == "__main__":
    main()

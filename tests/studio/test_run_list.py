"""The training view with a few runs, and with six hundred."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.studio.conftest import SMALL, make_run, write_metrics
from tests.studio.test_accessibility import complaints
from tests.studio.test_page import PATIENCE, PHONE, browser, eventually

from ntm.runs import Run

__all__ = ["browser"]  # a fixture

Scheme = Literal["light", "dark"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three runs of copy with different costs, one of which cannot be read."""
    for number, bits in ((1, 3.0), (2, 0.5), (10, 1.0)):
        run = make_run(tmp_path / f"copy-{number}", training__sequences=1000)
        write_metrics(run.metrics, (50 + number, bits))
    make_run(tmp_path / "recall", "associative-recall")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{")
    return tmp_path


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Page]:
    command = [sys.executable, "-m", "ntm", "studio", str(folder), "--port", "0", "--no-browser"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as studio,
        browser.new_context(viewport={"width": 1280, "height": 900}) as context,
    ):
        assert studio.stdout is not None
        opened = context.new_page()
        opened.set_default_timeout(PATIENCE)
        opened.goto(f"{studio.stdout.readline().strip()}#training/copy")
        expect(opened.locator("tr[data-run]").first).to_be_visible()
        yield opened
        context.close()
        studio.terminate()


def listed(page: Page) -> list[str]:
    return page.locator("tr[data-run]").evaluate_all("rows => rows.map(row => row.dataset.run)")


def lines(page: Page) -> list[str]:
    shown = page.locator("path.line[data-run]")
    return sorted(shown.evaluate_all("paths => paths.map(path => path.dataset.run)"))


def test_runs_are_sorted_found_and_hidden(page: Page) -> None:
    assert listed(page) == ["broken", "copy-1", "copy-2", "copy-10"]
    bits = page.get_by_role("button", name="Bits")
    bits.click()
    assert listed(page) == ["copy-2", "copy-10", "copy-1", "broken"]
    bits.click()
    assert listed(page) == ["copy-1", "copy-10", "copy-2", "broken"]
    expect(page.locator("th[data-column=bits]")).to_have_attribute("aria-sort", "descending")
    page.get_by_label("Find").fill("copy 1")
    assert listed(page) == ["copy-1", "copy-10"]
    eventually(lambda: lines(page) == ["copy-1", "copy-10"])
    page.get_by_label("Show copy-10").uncheck()
    eventually(lambda: lines(page) == ["copy-1"])
    page.get_by_label("Show all runs").uncheck()
    eventually(lambda: lines(page) == [])
    page.get_by_label("Find").fill("")
    eventually(lambda: lines(page) == ["copy-2"])
    page.get_by_label("State").select_option("unreadable")
    assert listed(page) == ["broken"]
    page.get_by_label("State").select_option("running")
    expect(page.locator("#no-runs")).to_have_text("No matching run.")


def test_why_a_run_cannot_be_read_stands_below_it(page: Page) -> None:
    reason = page.locator("tr[data-run=broken] + tr .reason")
    expect(reason).to_be_visible()
    expect(reason).to_contain_text("The config.json of broken cannot be used")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_runs_in_every_state_break_no_rule(page: Page, folder: Path, scheme: Scheme) -> None:
    page.emulate_media(color_scheme=scheme)
    with Run(folder / "copy-1").locked():
        expect(page.locator("tr[data-run=copy-1]")).to_have_attribute("data-state", "running")
        page.locator("#start").get_by_label("Name (optional)").fill("copy-2")
        page.get_by_role("button", name="Start").click()
        expect(page.locator("#training-trouble")).to_contain_text("copy-2 already")
        for size in ({"width": 1280, "height": 900}, PHONE):
            page.set_viewport_size(size)
            assert complaints(page) == []


def test_a_run_is_deleted_if_one_means_it(page: Page, folder: Path) -> None:
    asked: list[str] = []

    def answer(dialog: object) -> None:
        asked.append(dialog.message)  # type: ignore[attr-defined]
        (dialog.accept if len(asked) > 1 else dialog.dismiss)()  # type: ignore[attr-defined]

    page.on("dialog", answer)
    delete = page.get_by_role("button", name="Delete copy-2")
    delete.click()
    assert (folder / "copy-2").is_dir()
    delete.click()
    expect(page.locator("tr[data-run=copy-2]")).to_have_count(0)
    assert not (folder / "copy-2").exists()
    assert "copy-2" in asked[0]
    expect(page.locator("#training-message")).to_have_text("copy-2 is deleted.")


def test_a_run_that_is_gone_already_is_no_error(page: Page, folder: Path) -> None:
    def answer(dialog: object) -> None:
        shutil.rmtree(folder / "copy-2")
        dialog.accept()  # type: ignore[attr-defined]

    page.once("dialog", answer)
    page.get_by_role("button", name="Delete copy-2").click()
    expect(page.locator("#training-message")).to_have_text("copy-2 was already deleted.")
    expect(page.locator("#training-trouble")).to_be_empty()
    expect(page.locator("tr[data-run=copy-2]")).to_have_count(0)


def test_a_run_that_goes_on_says_how_long(page: Page, folder: Path) -> None:
    run = Run(folder / "copy-1")
    with run.locked(), run.metrics.open("a") as metrics:
        line = {"sequences": 100, "bits": 1, "sequences_per_second": 9.0}
        metrics.write(json.dumps(line) + "\n")
        metrics.flush()
        row = page.locator("tr[data-run=copy-1]")
        expect(row).to_contain_text("1 min 40 s left, 9/s")
        expect(row.get_by_role("button")).to_have_count(0)  # whoever trains it stops it
    expect(row).not_to_contain_text("1 min 40 s")
    expect(page.get_by_role("button", name="Resume copy-1", exact=True)).to_be_visible()


def test_while_starts_are_tried_the_time_left_is_a_bound(page: Page, folder: Path) -> None:
    trials = {"starts": 3, "trial_sequences": 100, "sequences": 500, "enough_bits": 0.1}
    run = make_run(folder / "tried", **{f"training__{name}": n for name, n in trials.items()})
    row = page.locator("tr[data-run=tried]")
    with run.locked(), run.metrics.open("a") as metrics:
        for sequences, start, said in ((100, 1, "at most 10 min"), (250, 2, "5 min 50 s")):
            line = {"sequences": sequences, "bits": 1, "sequences_per_second": 1.0, "start": start}
            metrics.write(json.dumps(line) + "\n")
            metrics.flush()
            expect(row.locator(".left")).to_have_text(re.compile(f"^{said}"))


def test_a_stopped_run_is_resumed_and_stopped_again(page: Page, folder: Path) -> None:
    shutil.rmtree(folder / "copy-1")
    make_run(folder / "copy-1", training__sequences=10_000_000).metrics.unlink()
    page.get_by_role("button", name="Resume copy-1", exact=True).click()
    row = page.locator("tr[data-run=copy-1]")
    expect(row).to_have_attribute("data-state", "running")
    page.get_by_role("button", name="Stop copy-1", exact=True).click()
    expect(row).to_have_attribute("data-state", "stopped")
    assert list((folder / "copy-1" / "checkpoint").iterdir())


def test_a_finished_run_is_extended(page: Page, folder: Path) -> None:
    shutil.rmtree(folder / "copy-1")
    sizes = [part for name, size in SMALL.items() for part in ("--set", f"{name}={size}")]
    command = [sys.executable, "-m", "ntm", "train", "copy", "--sequences", "40"]
    subprocess.run([*command, *sizes, "--run", str(folder / "copy-1")], check=True)
    row = page.locator("tr[data-run=copy-1]")
    expect(row).to_have_attribute("data-state", "finished")
    extend = page.get_by_role("button", name="Extend copy-1", exact=True)
    for typed, said in (("many", "give more than that"), ("20", "give more than that")):
        page.once("dialog", lambda dialog, typed=typed: dialog.accept(typed))
        extend.click()
        expect(page.locator("#training-trouble")).to_contain_text(said)
    page.once("dialog", lambda dialog: dialog.dismiss())
    extend.click()
    expect(row).to_have_attribute("data-state", "finished")
    page.once("dialog", lambda dialog: dialog.accept("5000000"))
    extend.click()
    expect(row).to_have_attribute("data-state", "running")
    eventually(lambda: Run(folder / "copy-1").settings.training.sequences == 5_000_000)
    page.get_by_role("button", name="Stop copy-1", exact=True).click()
    expect(row).to_have_attribute("data-state", "stopped")
    assert Run(folder / "copy-1").metrics.read_text().startswith('{"sequences": 40')


def test_a_refusal_is_in_sight_and_goes_away(page: Page) -> None:
    page.locator("#start").get_by_label("Name (optional)").fill("copy-1")
    page.get_by_role("button", name="Start").click()
    trouble = page.locator("#training-trouble")
    expect(trouble).to_contain_text("copy-1 already")
    expect(trouble).to_be_in_viewport()
    page.get_by_label("Show copy-10").uncheck()
    expect(trouble).to_have_text("")


def test_the_address_names_the_task_that_is_shown(page: Page) -> None:
    page.evaluate("location.hash = '#training/constructor'")
    expect(page).to_have_url(re.compile("#training/copy$"))
    page.get_by_label("Task").first.select_option("ngrams")
    expect(page).to_have_url(re.compile("#training/ngrams$"))
    page.go_back()
    expect(page.locator("#curves-title")).to_have_text("Learning curves: copy")


def test_the_chart_is_walked_with_the_keys(page: Page) -> None:
    page.get_by_label("Find").fill("copy-2")
    eventually(lambda: lines(page) == ["copy-2"])
    chart, told = page.locator("svg.chart"), page.locator("#training [aria-live]")

    def at_the_run() -> bool:
        """Go from line to line, however often the chart is drawn anew meanwhile."""
        chart.press("ArrowUp")
        return told.inner_text().startswith("copy-2: ")

    eventually(at_the_run)
    for _ in range(3):
        chart.press("ArrowRight")
    expect(told).to_have_text("copy-2: 0.5 bits at 52 sequences")


def test_the_keys_stay_on_a_line_when_others_are_filtered_out(page: Page) -> None:
    chart, told = page.locator("svg.chart"), page.locator("#training [aria-live]")
    eventually(lambda: lines(page) == ["copy-1", "copy-10", "copy-2"])

    def at_the_run() -> bool:
        chart.press("ArrowUp")
        return told.inner_text() == "copy-2: 3.5 bits at 20 sequences"

    eventually(at_the_run)
    page.get_by_label("Find").fill("copy-2")
    eventually(lambda: lines(page) == ["copy-2"])
    chart.press("ArrowRight")
    expect(told).to_have_text("copy-2: 1.25 bits at 40 sequences")
    page.get_by_label("Find").fill("copy-10")
    eventually(lambda: lines(page) == ["copy-10"])
    chart.press("ArrowUp")
    expect(told).to_have_text("copy-10: 1.25 bits at 40 sequences")


def test_a_folder_that_is_not_shown_whole_says_so(page: Page, folder: Path) -> None:
    rest = page.locator("#more-runs")
    expect(rest).to_be_hidden()
    for number in range(20_000):
        (folder / f"notes-{number}").touch()
    expect(rest).to_contain_text("The folder is too large to list everything")
    page.get_by_role("link", name="Play", exact=True).click()
    expect(page.locator("#more-networks")).to_be_visible()


def test_six_hundred_runs_leave_the_form_in_sight(page: Page, folder: Path) -> None:
    for number in range(600):
        shutil.copytree(folder / "copy-1", folder / f"many-{number}")
    expect(page.locator("tr[data-run]")).to_have_count(604)
    for place in (
        page.get_by_role("button", name="Start"),
        page.locator("#find-run"),
        page.locator("#chart svg"),
    ):
        expect(place).to_be_in_viewport()
    eventually(lambda: len(lines(page)) == 603)
    page.get_by_label("Find").fill("many-77")
    assert listed(page) == ["many-77"]
    assert page.evaluate("document.documentElement.scrollHeight") < 1600

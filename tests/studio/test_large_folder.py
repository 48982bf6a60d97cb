"""A folder of more runs than are listed."""

from pathlib import Path

from playwright.sync_api import Browser, expect
from tests.studio.conftest import make_run
from tests.studio.opened import opened
from tests.studio.test_page import browser

from ntm.studio.folder import MOST_RUNS

__all__ = ["browser"]  # a fixture


def test_a_link_opens_a_run_beyond_the_end_of_the_list(browser: Browser, tmp_path: Path) -> None:
    for number in range(MOST_RUNS):
        (tmp_path / f"{number:05}").mkdir()
        (tmp_path / f"{number:05}" / "config.json").write_text("{")
    make_run(tmp_path / "last")
    with opened(browser, tmp_path, "#play/run:last", ".") as page:
        expect(page.locator("#viewer .summary h2")).to_contain_text("last")
        expect(page.locator("#network")).to_have_value("run:last")
        expect(page.locator("#play-message")).to_have_text("")
        expect(page.locator("#more-networks")).to_be_visible()
        page.goto(page.url.replace("run:last", "run:nowhere"))
        expect(page.locator("#play-message")).to_contain_text("There is no network run:nowhere")

"""A task from a file of one's own, in the studio that was given the file."""

from pathlib import Path

from playwright.sync_api import Browser, expect
from tests.studio.opened import opened
from tests.studio.test_page import PATIENCE, browser

__all__ = ["browser"]  # a fixture

CODE = """
from typing import ClassVar
from ntm.tasks import Copy, register

@register
class Mine(Copy):
    name: ClassVar[str] = "mine"

@register
class Other(Copy):
    name: ClassVar[str] = "other"
"""


def test_a_run_of_it_is_started_in_the_form(browser: Browser, tmp_path: Path) -> None:
    code = tmp_path / "my_tasks.py"
    code.write_text(CODE)
    with opened(browser, tmp_path, "#training/mine", "--code", code.name) as page:
        form = page.locator("#start")
        form.get_by_label("Task").select_option("mine")
        form.get_by_label("Sequences").fill("10")
        form.get_by_role("button", name="Start").click()
        row = page.locator("tr[data-run=mine-ntm-ff-1]")
        expect(row).to_have_attribute("data-state", "finished", timeout=10 * PATIENCE)
    config = (tmp_path / "runs/mine-ntm-ff-1/config.json").read_text()
    assert str(code) in config

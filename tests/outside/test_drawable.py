"""A task in one file outside the package is drawn in the studio, in a browser."""

import re
import shutil
from pathlib import Path

from playwright.sync_api import Browser, expect
from tests.studio.opened import opened
from tests.studio.test_page import browser, drawn

__all__ = ["browser"]  # a fixture


def test_every_part_of_it_can_be_drawn(browser: Browser, tmp_path: Path) -> None:
    shutil.copy(Path(__file__).parent / "pick.py", tmp_path)
    with opened(browser, tmp_path, "#play/untrained:pick", "--code", "pick.py") as page:
        expect(page.locator(".summary h2")).to_contain_text("depth 4, echoes 2")
        assert [len(signal) for signal in drawn(page)] == [3, 3, 3, 3]
        # Bits, numbers and a choice among all signals but the last.
        cell = page.get_by_label("signal 2, bit 3", exact=True)
        before = cell.get_attribute("aria-checked")
        cell.click()
        expect(cell).to_have_attribute("aria-checked", "false" if before == "true" else "true")
        slider = page.get_by_label("Volume of signal 2")
        slider.press("End")
        expect(slider).to_have_attribute("aria-valuenow", "1")
        choices = page.locator("input[name=asked]")
        expect(choices).to_have_count(3)
        choices.nth(2).check()
        # Both sizes, one of which is a plain number.
        page.get_by_label("Echoes", exact=True).fill("5")
        page.get_by_label("Depth", exact=True).fill("6")
        expect(page.locator(".summary h2")).to_contain_text("depth 6, echoes 5")
        assert len(drawn(page)) == 6
        expect(page).to_have_url(re.compile("asked=2&echoes=5"))
        # The network sees the drawing: its address opens the same problem again.
        kept = drawn(page)
        page.reload()
        expect(page.locator(".summary h2")).to_contain_text("depth 6, echoes 5")
        assert drawn(page) == kept
        expect(choices.nth(2)).to_be_checked()
        expect(page.get_by_label("Volume of signal 2")).to_have_attribute("aria-valuenow", "1")

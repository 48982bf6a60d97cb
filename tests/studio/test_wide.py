"""A network with more bits than the tape has pixels."""

from pathlib import Path

from playwright.sync_api import Browser, expect
from tests.studio.conftest import make_run
from tests.studio.opened import opened
from tests.studio.test_page import browser

__all__ = ["browser"]  # a fixture


def test_input_and_output_of_many_bits_are_seen(browser: Browser, tmp_path: Path) -> None:
    make_run(tmp_path / "wide", task__bits=300)
    with opened(browser, tmp_path, "#play/run:wide", ".") as page:
        tape = page.locator(".strip canvas")
        for name in ("input", "output", "target"):
            vector = page.locator(f".vectors .{name} canvas")
            expect(vector).to_be_visible()
            height = vector.evaluate("canvas => canvas.height")
            assert abs(height - tape.evaluate("canvas => canvas.height")) <= 1
        page.locator(".vectors .output canvas").press("ArrowUp")
        expect(page.locator("#viewer [aria-live]").first).to_contain_text("component 300")

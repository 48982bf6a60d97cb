"""A network with more bits than the tape has pixels."""

import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Browser, expect
from tests.studio.conftest import make_run
from tests.studio.test_page import PATIENCE, browser

__all__ = ["browser"]  # a fixture


def test_input_and_output_of_many_bits_are_seen(browser: Browser, tmp_path: Path) -> None:
    expect.set_options(timeout=PATIENCE)
    make_run(tmp_path / "wide", task__bits=300)
    command = [sys.executable, "-m", "ntm", "studio", str(tmp_path), "--port", "0", "--no-browser"]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as studio,
        browser.new_context() as context,
    ):
        try:
            assert studio.stdout is not None
            page = context.new_page()
            page.goto(f"{studio.stdout.readline().strip()}#play/run:wide")
            tape = page.locator(".strip canvas")
            for name in ("input", "output", "target"):
                vector = page.locator(f".vectors .{name} canvas")
                expect(vector).to_be_visible()
                height = vector.evaluate("canvas => canvas.height")
                assert abs(height - tape.evaluate("canvas => canvas.height")) <= 1
            page.locator(".vectors .output canvas").press("ArrowUp")
            expect(page.locator("#viewer [aria-live]").first).to_contain_text("component 300")
        finally:  # or it would be waited for
            studio.terminate()

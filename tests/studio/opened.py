"""A studio in a process of its own, and a page of it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page


@contextmanager
def opened(browser: Browser, folder: Path, fragment: str, *options: str) -> Iterator[Page]:
    """The page of `ntm studio`, called with these options in a folder."""
    command = [sys.executable, "-m", "ntm", "studio", *options, "--port", "0", "--no-browser"]
    with (
        subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as studio,
        browser.new_context() as context,
    ):
        try:
            assert studio.stdout is not None
            page = context.new_page()
            page.goto(f"{studio.stdout.readline().strip()}{fragment}")
            yield page
        finally:  # or it would be waited for
            studio.terminate()

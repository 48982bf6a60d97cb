from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from tests.studio.test_page import PATIENCE, browser, listen
from tests.web.test_browser import served

from ntm.commands.main import main

__all__ = ["browser"]  # a fixture


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `ntm site` writes."""
    folder = tmp_path_factory.mktemp("site") / "public"
    assert main(["site", "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="session")
def address(site: Path) -> Iterator[str]:
    """Where a plain web server has it, below a folder, as many do."""
    with served(site.parent) as server:
        yield f"{server}/public/"


@pytest.fixture(scope="module")
def tab(browser: Browser, address: str) -> Iterator[Page]:
    with browser.new_context(
        base_url=address, permissions=["clipboard-read", "clipboard-write"]
    ) as context:
        context.set_default_timeout(PATIENCE)
        yield context.new_page()


@pytest.fixture
def page(tab: Page) -> Iterator[Page]:
    """An empty tab; a page that complains of anything fails the test."""
    heard: list[str] = []
    stop = listen(tab, heard)
    tab.set_viewport_size({"width": 1280, "height": 900})
    yield tab
    stop()
    tab.goto("about:blank")
    assert not heard

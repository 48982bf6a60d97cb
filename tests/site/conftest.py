from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.studio.test_page import browser
from tests.web.test_browser import served

from ntm.cli import main

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

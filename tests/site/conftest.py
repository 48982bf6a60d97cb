import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from tests.studio.test_page import browser
from tests.web.test_browser import Quiet

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
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=site.parent))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/public/"
    server.shutdown()
    thread.join()
    server.server_close()

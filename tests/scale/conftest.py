from pathlib import Path

import pytest
from tests.scale.runs import eight_jobs

from ntm.scale import execute


@pytest.fixture(scope="session")
def eight_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of eight runs that this machine has finished without any trouble."""
    folder = tmp_path_factory.mktemp("eight")
    assert {outcome.state for outcome in execute(eight_jobs(folder), workers=2)} == {"finished"}
    return folder

from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from tests.report.examples import untrained_run

from ntm.figures.gallery import FIGURES
from ntm.figures.runs import MissingError, Runs
from ntm.runs import Run


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Run]:
    """Makes a run in a folder of this test as training would leave it, without the training."""

    def make(task: str = "copy", model: str = "ntm-ff", seed: int = 0) -> Run:
        return untrained_run(tmp_path / "runs" / f"{task}-{model}-{seed}", task, model, seed)

    return make


@pytest.fixture
def few_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is drawn but copy generalisation: to draw all would take most of a test's time."""

    def left_out(_: Runs) -> Figure:
        raise MissingError("the patience to draw this")

    for title in set(FIGURES) - {"copy generalisation ntm"}:
        monkeypatch.setitem(FIGURES, title, left_out)

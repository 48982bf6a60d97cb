from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.report.examples import untrained_run

from ntm.paper import Experiment, FigureSpec, gallery
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
    draw = gallery.drawn

    def few(
        experiment: Experiment, figure: FigureSpec, *rest: Any, keep: bool = False
    ) -> gallery.DrawnFigure:
        if figure.name == "copy generalisation NTM":
            return draw(experiment, figure, *rest, keep=keep)
        return gallery.DrawnFigure(figure, [], ["the patience to draw this"])

    monkeypatch.setattr(gallery, "drawn", few)

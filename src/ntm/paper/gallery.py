"""Gallery of `ntm figures`: every figure that can be drawn from the given runs."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ntm.figures import style
from ntm.figures.runs import MissingError, RunFolders
from ntm.models import Family
from ntm.paper.experiment import Experiment, FigureSpec
from ntm.paper.registry import MACHINE, experiment_of, experiments
from ntm.tasks import Task


class DrawnFigure(NamedTuple):
    """Outcome of drawing one figure."""

    figure: FigureSpec
    files: Sequence[Path]
    """Files of the figure; empty if it could not be drawn."""
    lacking: Sequence[str]
    """Missing runs."""


def draw_figures(
    folders: Iterable[str | Path],
    out: str | Path,
    formats: Sequence[str] = ("png", "svg"),
    *,
    task: Task | None = None,
    family: Family | None = None,
) -> Iterator[DrawnFigure]:
    """Draw every figure for which these folders have runs, in the paper's order.

    folders: runs, folders of runs, saved networks and names of packaged networks. Learning curves
        and costs use all runs of a network; other figures use the run of lowest cost.
    task, family: task and family of saved networks that do not record them.
    """
    runs = RunFolders(folders, task, family)
    for experiment, figure in figures_of(runs.tasks):
        yield drawn(experiment, figure, runs, Path(out), formats)


def redraw_figures(runs: RunFolders, out: Path, formats: Sequence[str]) -> Iterator[DrawnFigure]:
    """Draw figures in a folder with older figures; an incomplete figure replaces no older one."""
    for experiment, figure in figures_of(runs.tasks):
        yield drawn(experiment, figure, runs, out, formats, keep=True)


def figures_of(tasks: Iterable[str] = ()) -> list[tuple[Experiment, FigureSpec]]:
    """Return the figures of all experiments and of these tasks, the paper's first."""
    known = {experiment.task: experiment for experiment in (MACHINE, *experiments())}
    known |= {task: experiment_of(task) for task in tasks if task not in known}
    pairs = [(experiment, figure) for experiment in known.values() for figure in experiment.figures]
    return sorted(pairs, key=lambda pair: pair[1].number or len(pairs) + 1)


def drawn(
    experiment: Experiment,
    figure: FigureSpec,
    runs: RunFolders,
    out: Path,
    formats: Sequence[str],
    *,
    keep: bool = False,
) -> DrawnFigure:
    """Draw one figure in a folder, and list the missing runs.

    keep: whether an existing figure stays if the new one would lack a run.
    """
    runs.lacking.clear()
    there = sorted(out.glob(f"{figure.stem}.*")) if keep else []
    files: list[Path] = []
    try:
        picture = figure.draw(experiment, runs)
        if not (there and runs.lacking):
            files = style.save(picture, out / figure.stem, formats)
    except MissingError as error:
        runs.lacking.append(str(error))
    if there and not files:
        return DrawnFigure(figure, there, ())
    return DrawnFigure(figure, files, tuple(runs.lacking))

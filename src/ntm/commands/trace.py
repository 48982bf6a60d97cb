"""ntm trace: show how a trained network solves one problem."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ntm.commands.base import (
    AXES,
    NET,
    WrongCallError,
    add_axes,
    add_saved,
    axes_given,
    enlarged_for,
    opened,
    reading_arguments,
)

if TYPE_CHECKING:
    from ntm.trace import Trace

HELP = "Show how a trained network solves one problem"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm trace`."""
    add = parser.add_argument
    add("run", metavar="NET", help=f"saved trace, {NET}")
    add("--html", type=Path, metavar="FILE", help="write a page that opens in any browser")
    add("--save", type=Path, metavar="FILE", help="save the trace as .npz, for ntm trace FILE")
    add("--seed", type=int, help="random seed of the problem (default: 1)")
    add_axes(parser)
    add_saved(parser)


def run(options: argparse.Namespace) -> int:
    """Show how a network solves one problem: on the terminal, as a page, or as a file."""
    from ntm.studio.sharing import show
    from ntm.studio.terminal import as_text

    trace = _saved(options) if Path(options.run).is_file() else _recorded(options)
    if not (options.html or options.save):
        print(as_text(trace.sequence(0)))
    if options.save:
        trace.save(options.save)
    if options.html:
        with reading_arguments():  # a saved trace may have nothing to show
            page = show(trace)
        page.save(options.html)
    for file in filter(None, (options.save, options.html)):
        print(f"{trace.about.get('title', 'trace')}: {file}, {file.stat().st_size / 1e6:.1f} MB")
    return 0


def _saved(options: argparse.Namespace) -> "Trace":
    from ntm.trace import Trace

    for name in ("seed", *AXES, "at", "memory_locations", "task", "model"):
        if getattr(options, name) is not None:
            given = name.replace("_", "-")
            raise WrongCallError(f"A saved trace has its problem already; leave --{given} out.")
    with reading_arguments():
        return Trace.load(options.run)


def _recorded(options: argparse.Namespace) -> "Trace":
    from ntm.paper import case_name
    from ntm.runs import block_generator
    from ntm.studio.tracing import traced

    run = opened(options.run, options)
    task, model = run.settings.task, run.load_model()[0]
    sizes = task.usual_sizes | axes_given(options)
    seed = 1 if options.seed is None else options.seed
    with reading_arguments():
        batch = task.at(**sizes).sample(1, block_generator("studio", seed))
        model = enlarged_for(task, model, options)
        return traced(model, batch, task, f"{run.path.resolve().name}, {case_name(sizes)}")

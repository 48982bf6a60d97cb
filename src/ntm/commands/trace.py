"""Show how a trained network solves one problem."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ntm.commands import base

if TYPE_CHECKING:
    from ntm.models import Model
    from ntm.runs import Run
    from ntm.trace import Trace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm trace`."""
    add = parser.add_argument
    add("run", metavar="NET", help=f"saved trace, {base.NET}")
    add("--html", type=Path, metavar="FILE", help="write a page that opens in any browser")
    add(
        "--save",
        type=Path,
        metavar="FILE",
        help="save the trace as .npz; ntm trace FILE shows it again",
    )
    add("--seed", type=int, help="random seed of the problem (default: 1)")
    add(
        "--input",
        metavar="TEXT",
        help="input of your own, if the network was trained on a file of examples",
    )
    base.add_axes(parser)
    base.add_saved(parser)


def run(options: argparse.Namespace) -> None:
    """Show how a network solves one problem: on the terminal, as a page, or as a file."""
    from ntm.studio.sharing import show
    from ntm.studio.terminal import as_text

    trace = _saved(options) if Path(options.run).is_file() else _recorded(options)
    if not (options.html or options.save):
        print(as_text(trace.sequence(0)))
    if options.save:
        trace.save(options.save)
    if options.html:
        with base.reading_arguments():  # a saved trace may have nothing to show
            show(trace).save(options.html)
    for file in filter(None, (options.save, options.html)):
        print(f"{trace.about.get('title', 'trace')}: {file}, {file.stat().st_size / 1e6:.1f} MB")


def _saved(options: argparse.Namespace) -> "Trace":
    from ntm.trace import Trace

    for name in ("seed", "input", *base.AXES, "at", "memory_locations", "task", "model"):
        if getattr(options, name) is not None:
            given = name.replace("_", "-")
            raise base.WrongCallError(
                f"A saved trace has its problem already; leave --{given} out."
            )
    with base.reading_arguments():
        return Trace.load(options.run)


def _recorded(options: argparse.Namespace) -> "Trace":
    from ntm.paper import case_name
    from ntm.runs import block_generator
    from ntm.studio.tracing import traced

    run = base.opened(options.run, options)
    task, model = run.settings.task.for_validation, run.load_model()[0]
    if options.input is not None:
        return _typed(run, model, options.input)
    sizes = task.usual_sizes | base.axes_given(options)
    seed = 1 if options.seed is None else options.seed
    with base.reading_arguments():
        batch = task.at(**sizes).sample(1, block_generator("studio", seed))
        model = base.resized_for(task, model, options)
        return traced(model, batch, task, f"{run.path.resolve().name}, {case_name(sizes)}")


def _typed(run: "Run", model: "Model", text: str) -> "Trace":
    """Record the network on an input from the command line."""
    from ntm.studio.tracing import traced_input

    task = base.examples_of(run)
    with base.reading_arguments():
        title = f"{run.path.resolve().name}, {text}"
        return traced_input(model, task, task.typed(text), title)

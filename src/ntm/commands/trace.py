"""ntm trace: what a trained network does with one problem."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ntm.commands.base import add_axes, axes_given, reading_arguments

if TYPE_CHECKING:
    from ntm.models import Model
    from ntm.tasks import Task

HELP = "What a trained network does, as a page in one file"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `ntm trace`."""
    add = parser.add_argument
    add("run", metavar="DIR", help="run folder, or a pretrained network such as copy-ff")
    add("--html", type=Path, required=True, metavar="FILE", help="the file to write")
    add("--seed", type=int, default=1, help="decides the problem (default: 1)")
    add_axes(parser)


def run(options: argparse.Namespace) -> int:
    """Write what a network does with one problem to a file that opens in any browser."""
    from ntm.evaluation import enlarged
    from ntm.runs import block_generator
    from ntm.studio.sharing import show
    from ntm.studio.sizes import in_words, usual_sizes

    name, task, model = _network(options.run)
    sizes = usual_sizes(task) | axes_given(options)
    with reading_arguments():
        batch = task.at(**sizes).sample(1, block_generator("studio", options.seed))
        model = enlarged(model, options.memory_locations)
    title = f"{name}, {in_words(sizes)}"
    show(model, batch, task, title=title).save(options.html)
    print(f"{title}: {options.html}, {options.html.stat().st_size / 1e6:.1f} MB")
    return 0


def _network(name: str) -> tuple[str, "Task", "Model"]:
    """A run folder or, where there is none, the pretrained network of that name."""
    from ntm import pretrained
    from ntm.runs import Run

    folder = Path(name)
    if name in pretrained.names() and not Run.exists(folder):
        return name, pretrained.settings(name).task, pretrained.load(name)
    run = Run(folder)
    return folder.resolve().name, run.settings.task, run.load_model()[0]

"""The commands `ntm studio` and `ntm trace`."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ntm.models.family import Model
    from ntm.tasks import Task

_AXES = ("length", "repeats", "items")


def add_studio_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `ntm studio`."""
    add = parser.add_argument
    add("folder", type=Path, nargs="?", metavar="DIR", help="folder of runs (default: runs)")
    add("--host", default="127.0.0.1", help="address to listen on (default: this machine alone)")
    add("--port", type=_port, default=8765, help="port to listen on (default: 8765); 0 takes any")
    add("--no-browser", action="store_true", help="print the address and open nothing")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give a number up to 65535")
    return int(text)


def run_studio(options: argparse.Namespace) -> int:
    """Serve the studio until it is interrupted."""
    from ntm.runs import FolderError, Run, RunError

    folder: Path = options.folder or Path("runs")
    if options.folder and not folder.is_dir():
        raise FolderError(f"{folder} is not a folder.")
    if Run.exists(folder):
        raise FolderError(f"{folder} is a run itself; give the folder that it is in.")
    try:
        from ntm.studio.serving import serve
    except ImportError as error:
        raise RunError(
            f"The studio needs more ({error}): pip install 'neural-turing-machines[studio]'"
        ) from error
    serve(folder, options.host, options.port, open_browser=not options.no_browser)
    return 0


def add_trace_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `ntm trace`."""
    add = parser.add_argument
    add("run", metavar="DIR", help="run folder, or a pretrained network such as copy-ff")
    add("--html", type=Path, required=True, metavar="FILE", help="the file to write")
    add("--seed", type=int, default=1, help="decides the problem (default: 1)")
    for axis in _AXES:
        add(f"--{axis}", type=int, help=f"the {axis}, beyond the training range if you like")
    add("--memory-locations", type=int, metavar="N", help="enlarge the memory to N locations first")


def run_trace(options: argparse.Namespace) -> int:
    """Write what a network does with one problem to a file that opens in any browser."""
    from ntm.evaluation import enlarged
    from ntm.runs import FolderError, block_generator
    from ntm.studio.sharing import show
    from ntm.studio.sizes import in_words, usual_sizes

    name, task, model = _network(options.run)
    given = {axis: getattr(options, axis) for axis in _AXES}
    sizes = usual_sizes(task) | {axis: n for axis, n in given.items() if n is not None}
    try:
        batch = task.at(**sizes).sample(1, block_generator("studio", options.seed))
        model = enlarged(model, options.memory_locations)
    except (TypeError, ValueError) as error:
        raise FolderError(str(error)) from error
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

"""The commands `ntm studio` and `ntm trace`."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ntm.tasks import Task
    from ntm.trace import Trace
    from ntm.training.run import Model

_AXES = ("length", "repeats", "items")


def add_studio_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `ntm studio`."""
    add = parser.add_argument
    add(
        "folder",
        type=Path,
        nargs="?",
        metavar="DIR",
        help="folder of runs, or saved trace (default: runs)",
    )
    add("--host", default="127.0.0.1", help="address to listen on (default: this machine alone)")
    add("--port", type=_port, default=8765, help="port to listen on (default: 8765); 0 takes any")
    add("--no-browser", action="store_true", help="print the address and open nothing")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give a number up to 65535")
    return int(text)


def run_studio(options: argparse.Namespace) -> int:
    """Serve the studio until it is interrupted."""
    from ntm.training import FolderError, Run, RunError

    folder: Path = options.folder or Path("runs")
    view = ""
    if folder.is_file():
        _require_trace(folder)
        folder, view = folder.absolute().parent, f"play/trace:{folder.name}"
    if options.folder and not folder.is_dir():
        raise FolderError(f"{folder} is not a folder.")
    if Run.exists(folder) and not view:
        raise FolderError(f"{folder} is a run itself; give the folder that it is in.")
    try:
        from ntm.studio.serving import serve
    except ImportError as error:
        raise RunError(
            f"The studio needs more ({error}): pip install 'neural-turing-machines[studio]'"
        ) from error
    serve(folder, options.host, options.port, not options.no_browser, view)
    return 0


def _require_trace(file: Path) -> None:
    """Refuse a file that the page cannot list, before it is opened."""
    from ntm.trace import Trace
    from ntm.training import FolderError

    if file.suffix != ".npz" or " " in file.name:
        raise FolderError(f"{file} is neither a folder nor a trace with a plain name and .npz.")
    try:
        Trace.load(file)
    except ValueError as error:
        raise FolderError(str(error)) from error


def add_trace_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `ntm trace`."""
    add = parser.add_argument
    add("run", metavar="NET", help="run folder, pretrained network such as copy-ff, or saved trace")
    add("--html", type=Path, metavar="FILE", help="write a page that opens in any browser")
    add("--save", type=Path, metavar="FILE", help="write the arrays, as .npz; ntm trace FILE reads")
    add("--seed", type=int, help="decides the problem (default: 1)")
    for axis in _AXES:
        add(f"--{axis}", type=int, help=f"the {axis}, beyond the training range if you like")
    add("--memory-locations", type=int, metavar="N", help="enlarge the memory to N locations first")


def run_trace(options: argparse.Namespace) -> int:
    """Show what a network does with one problem: here, as a page, or saved for later."""
    from ntm.studio.sharing import show
    from ntm.studio.terminal import as_text

    trace = _saved(options) if Path(options.run).is_file() else _recorded(options)
    if not (options.html or options.save):
        print(as_text(trace.sequence(0)))
    if options.save:
        trace.save(options.save)
    if options.html:
        show(trace).save(options.html)
    for file in filter(None, (options.save, options.html)):
        print(f"{trace.about.get('title', 'trace')}: {file}, {file.stat().st_size / 1e6:.1f} MB")
    return 0


def _saved(options: argparse.Namespace) -> "Trace":
    from ntm.trace import Trace
    from ntm.training import FolderError

    for name in ("seed", *_AXES, "memory_locations"):
        if getattr(options, name) is not None:
            given = name.replace("_", "-")
            raise FolderError(f"A saved trace has its problem already; leave --{given} out.")
    try:
        return Trace.load(options.run)
    except ValueError as error:
        raise FolderError(str(error)) from error


def _recorded(options: argparse.Namespace) -> "Trace":
    from ntm.evaluation import enlarged
    from ntm.studio.sizes import in_words, usual_sizes
    from ntm.studio.tracing import traced
    from ntm.training import FolderError, block_generator

    name, task, model = _network(options.run)
    given = {axis: getattr(options, axis) for axis in _AXES}
    sizes = usual_sizes(task) | {axis: n for axis, n in given.items() if n is not None}
    seed = 1 if options.seed is None else options.seed
    try:
        batch = task.at(**sizes).sample(1, block_generator("studio", seed))
        model = enlarged(model, options.memory_locations)
    except (TypeError, ValueError) as error:
        raise FolderError(str(error)) from error
    return traced(model, batch, task, f"{name}, {in_words(sizes)}")


def _network(name: str) -> tuple[str, "Task", "Model"]:
    """A run folder or, where there is none, the pretrained network of that name."""
    from ntm import pretrained
    from ntm.training import Run

    folder = Path(name)
    if name in pretrained.names() and not Run.exists(folder):
        return name, pretrained.settings(name).task, pretrained.load(name)
    run = Run(folder)
    return folder.resolve().name, run.settings.task, run.load_model()[0]

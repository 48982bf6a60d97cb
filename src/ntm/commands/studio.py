"""ntm studio: a page on which to draw problems, and watch networks work and train."""

import argparse
from pathlib import Path

from ntm.commands.base import WrongCallError, add_code, load_code, reading_arguments, with_extra

HELP = "Open the studio: draw problems, watch networks work and train"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `ntm studio`."""
    add = parser.add_argument
    text = "folder of runs, or saved trace (default: runs)"
    add("folder", type=Path, nargs="?", metavar="DIR", help=text)
    add("--host", default="127.0.0.1", help="address to listen on (default: this machine alone)")
    add("--port", type=_port, default=8765, help="port to listen on (default: 8765); 0 takes any")
    add_code(parser, "whose runs the studio may then show and start")
    add("--no-browser", action="store_true", help="print the address and open nothing")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give a number up to 65535")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """Serve the studio until it is interrupted."""
    from ntm.runs import FolderError, Run
    from ntm.runs.folder import require_folder

    folder: Path = options.folder or Path("runs")
    view = ""
    if folder.is_file():
        _require_trace(folder)
        folder, view = folder.absolute().parent, f"play/trace:{folder.name}"
    if options.folder:
        require_folder(folder)
    if Run.exists(folder) and not view:
        raise FolderError(f"{folder} is a run itself; give the folder that it is in.")
    with reading_arguments():
        load_code(options)
    serving = with_extra("ntm.studio.serving", "The studio needs more", "studio")
    serving.serve(folder, options.host, options.port, not options.no_browser, view)
    return 0


def _require_trace(file: Path) -> None:
    """Refuse a file that the page cannot list, before it is opened."""
    from ntm.trace import Trace

    if file.suffix != ".npz" or " " in file.name:
        raise WrongCallError(f"{file} is neither a folder nor a trace with a plain name and .npz.")
    with reading_arguments():
        Trace.load(file)

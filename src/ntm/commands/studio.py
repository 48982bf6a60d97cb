"""ntm studio: a page to draw problems and watch training on."""

import argparse
from pathlib import Path

from ntm.commands.base import with_extra

HELP = "Open a page to draw problems and watch training on"


def add_arguments(parser: argparse.ArgumentParser) -> None:
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


def run(options: argparse.Namespace) -> int:
    """Serve the studio until it is interrupted."""
    from ntm.runs import FolderError, Run

    folder: Path = options.folder or Path("runs")
    if options.folder and not folder.is_dir():
        raise FolderError(f"{folder} is not a folder.")
    if Run.exists(folder):
        raise FolderError(f"{folder} is a run itself; give the folder that it is in.")
    serving = with_extra("ntm.studio.serving", "The studio needs more", "studio")
    serving.serve(folder, options.host, options.port, open_browser=not options.no_browser)
    return 0

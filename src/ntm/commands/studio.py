"""Open the studio: draw problems, watch networks work and train."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from ntm.commands import base

if TYPE_CHECKING:
    from ntm.runs import Run


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm studio`."""
    add = parser.add_argument
    text = f"folder of runs, saved trace, {base.NET} (default: runs)"
    add("folder", nargs="?", metavar="NET", help=text)
    add("--host", default="127.0.0.1", help="address to listen on (default: this machine only)")
    add(
        "--port",
        type=_port,
        default=8765,
        help="port to listen on; 0 for any free port (default: 8765)",
    )
    base.add_saved(parser)
    base.add_code(parser, "; the studio can then show and start its runs")
    add("--no-browser", action="store_true", help="print the address, but do not open a browser")


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give a number up to 65535")
    return int(text)


def run(options: argparse.Namespace) -> None:
    """Serve the studio until it is interrupted."""
    with base.reading_arguments():
        base.load_code(options)
    folder, view, networks = _shown(options)
    serving = base.with_extra("ntm.studio.serving", "The studio needs more", "studio")
    browse = not options.no_browser
    serving.serve(folder, options.host, options.port, browse, view, networks=networks)


class _Shown(NamedTuple):
    """Content of the studio: a folder of runs, the first view, and networks from elsewhere."""

    folder: Path
    view: str = ""
    networks: tuple["Run", ...] = ()


def _shown(options: argparse.Namespace) -> _Shown:
    from ntm import pretrained
    from ntm.runs import Run, saving
    from ntm.runs.folder import require_folder

    name = options.folder or "runs"
    folder = Path(name)
    if folder.is_file():
        _require_trace(folder)
        return _Shown(folder.absolute().parent, f"play/trace:{folder.name}")
    if saving.is_saved(folder):
        saved = base.opened(name, options)
        return _Shown(Path("runs"), f"play/saved:{quote(saved.path.resolve().name)}", (saved,))
    _refuse_saved_options(options)
    if name in pretrained.names() and not folder.exists():
        return _Shown(Path("runs"), f"play/pretrained:{name}")
    if options.folder:
        require_folder(folder)
    if Run.exists(folder):
        return _run(folder.resolve())
    return _Shown(folder)


def _run(folder: Path) -> _Shown:
    from ntm.studio.folder import is_name

    if not is_name(folder.name):
        raise base.WrongCallError(
            f"The studio lists runs with plain names of letters, digits, dots and dashes; rename "
            f"{folder.name}."
        )
    return _Shown(folder.parent, f"play/run:{folder.name}")


def _refuse_saved_options(options: argparse.Namespace) -> None:
    for name in ("task", "set", "model"):
        if getattr(options, name):
            raise base.WrongCallError(f"--{name} is for a saved network; leave it out.")


def _require_trace(file: Path) -> None:
    """Raise WrongCallError for a file that the page cannot list."""
    from ntm.trace import Trace

    if file.suffix != ".npz" or " " in file.name:
        raise base.WrongCallError(
            f"{file} is neither a folder nor a trace with a plain name and .npz."
        )
    with base.reading_arguments():
        Trace.load(file)

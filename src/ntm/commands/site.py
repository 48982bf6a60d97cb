"""ntm site: the play view as a folder of plain files that needs no server of ours."""

import argparse
from pathlib import Path

from ntm.commands.base import quoted, with_extra

HELP = "Write the page as static files that run the networks in the browser"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `ntm site`."""
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder to write, new or a site"
    )


def run(options: argparse.Namespace) -> int:
    """Write the site and say how to look at it."""
    size = with_extra("ntm.site", "The site needs more", "studio").build(options.out)
    print(f"{options.out} is written, {size / 1e6:.1f} MB. Any web server can serve it:")
    print(f"    python -m http.server --directory {quoted(options.out)}")
    return 0

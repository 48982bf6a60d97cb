"""ntm site: write the studio's play view as static files for any web server."""

import argparse
from pathlib import Path

from ntm.commands.base import quoted, with_extra

HELP = "Write the page as static files that run the networks in the browser"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm site`."""
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder to write to: new, or an earlier site",
    )


def run(options: argparse.Namespace) -> int:
    """Write the site, and print how to serve it."""
    size = with_extra("ntm.site", "The site needs more", "studio").build(options.out)
    print(f"{options.out} is written, {size / 1e6:.1f} MB. Any web server can serve it:")
    print(f"    python -m http.server --directory {quoted(options.out)}")
    return 0

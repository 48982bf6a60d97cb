"""Write a static website that runs and trains networks in the browser."""

import argparse
from pathlib import Path

from ntm.commands import base


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm site`."""
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="folder for the site; an earlier site there is replaced",
    )
    parser.add_argument(
        "--address",
        default="",
        metavar="URL",
        help="address that the site will have; links to it then show a preview",
    )
    parser.add_argument(
        "--repository",
        default="",
        metavar="URL",
        help="repository that the site links to, with the documentation in its folder docs/",
    )


def run(options: argparse.Namespace) -> None:
    """Write the site, and print how to serve it."""
    site = base.with_extra("ntm.site", "The site needs more", "studio")
    size = site.build(options.out, address=options.address, repository=options.repository)
    print(f"{options.out} is written, {size / 1e6:.1f} MB. Any web server can serve it:")
    print(f"    python -m http.server --directory {base.quoted(options.out)}")

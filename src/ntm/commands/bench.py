"""Compare the speed of the engines, and of the layer, in one run."""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ntm.bench import SECTIONS
from ntm.commands import base

if TYPE_CHECKING:
    from ntm.bench.networks import BenchEffort
    from ntm.bench.results import Section


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm bench`."""
    add_options(parser, SECTIONS, _section)


def _section(name: str) -> str:
    if name in {"sgemm", "growth", "overhead"}:
        where = f"`python -m benchmarks.engine --only {name}` in the repository"
        raise argparse.ArgumentTypeError(f"{name} is now {where}")
    return name


def add_options(
    parser: argparse.ArgumentParser, sections: Sequence[str], read: Callable[[str], str] = str
) -> None:
    """Add the options of a benchmark with these sections."""
    add = parser.add_argument
    add("--quick", action="store_true", help="fewer and shorter rounds: about a minute")
    add(
        "--only",
        action="append",
        type=read,
        choices=sections,
        metavar="SECTION",
        help=f"measure only this section: {', '.join(sections)}; may be repeated (default: all)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print only JSON")
    form.add_argument("--markdown", action="store_true", help="print Markdown tables")


def run(arguments: argparse.Namespace) -> None:
    """Measure and print the results."""
    from ntm.bench import networks, sections

    effort = networks.QUICK if arguments.quick else networks.BenchEffort()
    measure(arguments, sections.SECTIONS, effort)


def measure(
    arguments: argparse.Namespace, sections: Mapping[str, "Section"], effort: "BenchEffort"
) -> None:
    """Measure the chosen sections and print the results in the chosen form."""
    from ntm.bench import run_bench
    from ntm.terminal.progress import ProgressDisplay

    with ProgressDisplay(sys.stderr, keep=False) as display:

        def note(text: str) -> None:
            display.show(f"ntm bench: {text}", below=lambda: [text])

        results = run_bench(arguments.only or (), effort, note, sections)
    if arguments.json:
        base.print_json(results.to_json())
    elif arguments.markdown:
        print(results.as_markdown())
    else:
        results.print()

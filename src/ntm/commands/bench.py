"""ntm bench: measure the speed, as ratios within one run."""

import argparse
import json
import sys

from ntm.bench import SECTIONS

HELP = "Measure the speed, as ratios within one run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm bench`."""
    add = parser.add_argument
    add("--quick", action="store_true", help="fewer and shorter rounds: about a minute")
    add(
        "--only",
        action="append",
        choices=SECTIONS,
        metavar="SECTION",
        help=f"one of {', '.join(SECTIONS)}; may be given several times (default: all)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print only JSON")
    form.add_argument("--markdown", action="store_true", help="print Markdown tables")


def run(arguments: argparse.Namespace) -> int:
    """Measure and print the results."""
    from ntm.bench import report, run_bench
    from ntm.bench.sections import QUICK, BenchEffort
    from ntm.terminal.display import ProgressDisplay

    with ProgressDisplay(sys.stderr, keep=False) as display:

        def note(text: str) -> None:
            display.show(lambda: f"ntm bench: {text}", lambda: text)

        effort = QUICK if arguments.quick else BenchEffort()
        results = run_bench(arguments.only or SECTIONS, effort, note)
    if arguments.json:
        print(json.dumps(results.to_json(), indent=2))
    elif arguments.markdown:
        print(report.as_markdown(results))
    else:
        report.print_tables(results)
    return 0

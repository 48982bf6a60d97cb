"""Answer inputs with a network that was trained on a file of examples."""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ntm.commands import base

if TYPE_CHECKING:
    from ntm.tasks import Examples


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm predict`."""
    add = parser.add_argument
    add("run", metavar="NET", help="folder of a run that was trained on a file of examples")
    text = ".jsonl, .csv, .tsv or text, one input per line (default: standard input)"
    add("file", metavar="FILE", nargs="?", help=text)
    add(
        "--longest", type=int, metavar="N", help="cut an answer after N symbols if it has not ended"
    )
    add("--json", action="store_true", help="print a JSON object with input and answer per line")
    base.add_saved(parser)


def run(options: argparse.Namespace) -> None:
    """Print one answer per line."""
    from ntm.evaluation.predicting import answer_of, predict

    run = base.opened(options.run, options)
    task = base.examples_of(run)
    base.require_at_least_one(longest=options.longest)
    model = run.load_model()[0]
    for where, value in _values(options.file, task):
        try:
            answer = answer_of(task, predict(model, task, value, options.longest))
        except ValueError as error:
            raise _named(where, error) from error
        if options.json:
            print(json.dumps({"input": value, "answer": answer}, ensure_ascii=False), flush=True)
        else:
            text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
            print(text, flush=True)


def _values(file: str | None, task: "Examples") -> Iterator[tuple[str, Any]]:
    """Yield every input: its file and line as text, and its value."""
    from ntm.tasks.lines import example_lines, input_in

    suffix = Path(file or "").suffix
    with Path(file).open("rb") if file else nullcontext(sys.stdin.buffer) as lines:
        for number, _, line in example_lines(lines, suffix):
            where = f"{file or 'standard input'}, line {number}"
            try:
                yield where, input_in(line, suffix, task.typed)
            except ValueError as error:
                raise _named(where, error) from error


def _named(where: str, error: Exception) -> Exception:
    from ntm.tasks import DataError

    return DataError(f"{where}: {str(error).rstrip('.')}.")

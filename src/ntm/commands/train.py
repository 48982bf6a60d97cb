"""Train a network on a task."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ntm.commands import base

if TYPE_CHECKING:
    from ntm.runs import Settings
    from ntm.tasks.examples import Layout
    from ntm.training import Result

_FILES_OF_EXAMPLES = (".jsonl", ".csv", ".tsv")  # as in ntm.tasks.lines, which imports torch
_TYPED = ("seed", "sequences", "batch_size", "starts", "engine", "start_from")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm train`."""
    _add_problem(parser)
    _add_settings(parser)
    add = parser.add_argument
    add("--run", type=Path, metavar="DIR", help="run folder (default: runs/TASK-MODEL-SEED)")
    add(
        "--resume",
        action="store_true",
        help="continue the run in the run folder; without a run there, start a new one",
    )
    base.add_code(parser, "; use the registered name as TASK or MODEL")
    text = "change any other setting; --settings lists them"
    add("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help=text)
    text = (
        "exit with code 1 if the trained network misses a goal; a run prints its goals at the end"
    )
    add("--require-solved", action="store_true", help=text)
    add("--settings", action="store_true", help="list all settings of task and model, and exit")


def _add_problem(parser: argparse.ArgumentParser) -> None:
    tasks = ", ".join(base.task_names())
    text = f"{tasks}, your Python file, or your examples: .jsonl, .csv or .tsv"
    parser.add_argument("task", metavar="TASK", nargs="?", help=text)
    text = "file of examples for validation (default: a tenth of the examples in TASK)"
    parser.add_argument("--valid", metavar="FILE", help=text)
    layouts = parser.add_mutually_exclusive_group()
    text = "tagging: an example has one target for every symbol of the input"
    layouts.add_argument("--aligned", action="store_true", help=text)
    text = "classification: the whole target of an example is one class"
    layouts.add_argument("--classify", action="store_true", help=text)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    add, models = parser.add_argument, base.model_names()
    text = "ntm: Neural Turing Machine with a feedforward (ff) or LSTM controller; lstm: LSTM alone"
    add("--model", help=f"{', '.join(models)}, or your Python file (default: {models[0]}). {text}")
    text = f"start from the weights of a trained network ({base.NET})"
    add("--from", dest="start_from", metavar="NET", help=text)
    add("--seed", help="random seed of the initial weights and all data (default: 1)")
    add(
        "--sequences",
        help="sequences to train on; with several --starts, sequences of the start that continues "
        "(default: depends on task and model)",
    )
    add("--paper", action="store_true", help="use the paper's settings, as far as they are known")
    add("--batch-size", help="sequences per update (default: depends on task and model)")
    text = "sets of initial weights (starts) to try; the best start continues "
    add("--starts", help=f"{text}(default: depends on task and model)")
    add("--engine", help="native (C++), reference (PyTorch) or auto (default: auto)")


def run(options: argparse.Namespace) -> int:
    """Train or resume a run; return 0, or 128 + the number of the signal that interrupted it.

    With --require-solved, return 1 if the network misses a goal of its experiment.
    """
    from ntm.training import make_progress
    from ntm.training.begin import train
    from ntm.training.parallel import check_shares

    with base.reading_arguments():
        base.load_code(options)
        settings, folder = requested(options)
        check_shares(settings.training.batch_size)
        if options.require_solved:
            _require_goals(settings)
    if options.settings:
        _print_settings(settings)
        return 0
    if not options.resume:
        _print_examples(settings)
    chosen = {"resume": options.resume, "progress": make_progress()}
    result = train(settings, folder, **chosen, raises=False)
    solved = _print_result(result, folder, settings)
    if result.signal is not None:
        return 128 + result.signal
    return int(options.require_solved and not solved)


def is_examples(task: str) -> bool:
    """Return whether the argument TASK is the path of a file of examples."""
    return task.endswith(_FILES_OF_EXAMPLES)


def _print_examples(settings: "Settings") -> None:
    """Print the sizes of a file of examples, in one process only."""
    from ntm.tasks import Examples
    from ntm.training.parallel import leads

    if isinstance(settings.task, Examples) and leads():
        print(settings.task.summary)


def _print_result(result: "Result", folder: Path, settings: "Settings") -> bool:
    """Print how the run ended, in one process only; return whether the goals are reached."""
    from ntm.training.parallel import leads

    if not leads():
        return True
    print(_summary(result, folder, settings.training.validate_beyond))
    return result.ending not in {"finished", "solved"} or _print_verdicts(folder)


def _require_goals(settings: "Settings") -> None:
    from ntm.paper.verdicts import goals_of

    if not goals_of(settings):
        raise ValueError(
            f"--require-solved needs a goal, and {settings.model_name} has none for these settings "
            f"of the {settings.task.name} task; leave it out, or give the experiment a goal."
        )


def _print_verdicts(folder: Path) -> bool:
    """Print whether the network reaches its goals, if any; return whether it reaches all."""
    from ntm.paper.verdicts import advice, judge
    from ntm.runs import Run

    run = Run(folder)
    verdicts = judge(run)
    for verdict in verdicts:
        print(verdict.sentence)
    solved = all(verdict.reached for verdict in verdicts)
    if not solved:
        print(advice(run.settings))
    return solved


def requested(options: argparse.Namespace) -> tuple["Settings", Path]:
    """Return the settings and the folder that the options select."""
    from ntm.paper import paper_settings, settings_for
    from ntm.runs import Run, run_name

    typed, folder = _typed_settings(options), options.run
    if options.task is None:
        if not (options.resume and folder):
            known = ", ".join(base.task_names())
            raise ValueError(f"Name a task: {known}; or resume a run: --run DIR --resume.")
        return _stored(options, folder).with_text(typed), folder
    if options.resume and folder and Run.exists(folder):  # it holds all settings and weights
        return _stored(options, folder).with_text(typed), folder
    preset = paper_settings if options.paper else settings_for
    if (network := typed.get("training.start_from", "none")) != "none":
        settings = _fine_tuned(preset, options, typed, network)
        folder = folder or Path("runs") / f"{run_name(settings)}-from-{Path(network).name}"
    else:
        settings = _new(preset, options, options.model or base.model_names()[0]).with_text(typed)
        folder = folder or Path("runs") / run_name(settings)
    if options.resume and Run.exists(folder):
        settings = _stored(options, folder).with_text(typed)
    return settings, folder


def _new(
    preset: Callable[[Any, str], "Settings"], options: argparse.Namespace, model: str
) -> "Settings":
    """Return the settings of a new run, before options such as --seed and --set apply."""
    if not is_examples(options.task):
        for name in ("aligned", "classify", "valid"):
            if getattr(options, name):
                raise ValueError(f"--{name} is for a file of examples; leave it out.")
        _require_ending(options.task)
        return preset(options.task, model)
    from ntm.paper.examples import settings_for_examples
    from ntm.tasks import examples_from

    layout: Layout = "tagging" if options.aligned else "transduction"
    if options.classify:
        layout = "classification"
    task = examples_from(options.task, layout, options.valid or "")
    return preset(task, model) if options.paper else settings_for_examples(task, model)


def _require_ending(task: str) -> None:
    """Raise ValueError for a file that is neither Python nor a file of examples."""
    if Path(task).suffix not in ("", ".py") and Path(task).is_file():
        endings = ", ".join(_FILES_OF_EXAMPLES)
        raise ValueError(
            f"{task} is not a file of examples; its name must end in {endings}, with one example "
            f"per line."
        )


def _fine_tuned(
    preset: Callable[[Any, str], "Settings"],
    options: argparse.Namespace,
    typed: Mapping[str, str],
    network: str,
) -> "Settings":
    """Return the settings of a run that starts from a network; conflicting options are errors."""
    from ntm.models import family
    from ntm.runs.opening import find_network, fine_tuned

    named = None if options.model is None else family(options.model)
    kind = find_network(network, named).family
    others = {key: text for key, text in typed.items() if key != "training.start_from"}
    asked = _new(preset, options, kind.name).with_text(others)
    settings = fine_tuned(asked, network, named)
    before, after = asked.flat(), settings.flat()
    for key, text in others.items():
        if before[key] != after[key]:
            raise ValueError(
                f"{key}={text} does not go with --from {network}, which makes it "
                f"{after[key]!r}; leave {key} out."
            )
    return settings


def _stored(options: argparse.Namespace, folder: Path) -> "Settings":
    """Return the settings of a resumed run; another task or model than the run's is an error."""
    from ntm.models import family
    from ntm.runs import Run
    from ntm.tasks import TASKS, Examples

    settings = Run(folder).settings
    if options.task is not None:
        task = Examples if is_examples(options.task) else TASKS.find(options.task)
        _require_same("task", task.name, settings.task.name, folder)
    if options.model is not None:
        _require_same("model", family(options.model).name, settings.model_name, folder)
    return settings


def _require_same(name: str, given: str, stored: str, folder: Path) -> None:
    if given != stored:
        raise ValueError(f"The {name} of {folder} is {stored}, not {given}; choose another --run.")


def _typed_settings(options: argparse.Namespace) -> dict[str, str]:
    given = {f"training.{name}": getattr(options, name) for name in _TYPED}
    typed = {key: value for key, value in given.items() if value is not None}
    return typed | dict(base.set_pairs(options.set))


def _print_settings(settings: "Settings") -> None:
    from ntm.common.fields import as_text, documentation
    from ntm.runs.settings import FOLLOWS_FROM_TASK, SECTIONS

    for section in SECTIONS:
        values = getattr(settings, section)
        rows: list[tuple[str, ...]] = [
            (f"{section}.{name}", as_text(getattr(values, name)), text)
            for name, text in documentation(type(values)).items()
            if name not in FOLLOWS_FROM_TASK
        ]
        if rows:
            base.print_table(rows)
            print()


def _summary(result: "Result", folder: Path, beyond: str) -> str:
    from ntm.common.text import duration

    cost = "" if result.bits is None else f", {result.bits:.4f} bits per sequence at the end"
    best = "" if result.best_bits is None else f", {result.best_bits:.4f} in the best validation"
    if best and beyond:
        best += f" (including the cost at {beyond})"
    following = f"ntm eval {base.quoted(folder)}"
    if result.ending in {"interrupted", "out of time"}:
        following = f"ntm train --run {base.quoted(folder)} --resume"
    ended = "Stopped early" if result.ending == "solved" else result.ending.capitalize()
    already = " already" if result.sequences == result.resumed_at > 0 else ""
    if already and result.ending == "finished":
        following += f"; or train for longer: --resume --sequences {2 * result.sequences}"
    return (
        f"{ended}{already} after {result.sequences:,} sequences and "
        f"{duration(result.seconds)}{cost}{best}. Next: {following}"
    )

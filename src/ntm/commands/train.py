"""ntm train: train a network on a task."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ntm.commands.base import (
    NET,
    add_code,
    load_code,
    print_table,
    quoted,
    reading_arguments,
    set_pairs,
)
from ntm.commands.names import model_names, task_names

if TYPE_CHECKING:
    from ntm.runs import Settings
    from ntm.training import Result

HELP = "Train a network on a task"
_TYPED = ("seed", "sequences", "batch_size", "starts", "engine", "start_from")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of `ntm train`."""
    add = parser.add_argument
    tasks, (model, *others) = task_names(), model_names()
    add(
        "task",
        metavar="TASK",
        nargs="?",
        help=f"{', '.join(tasks)}, or your Python file",
    )
    add("--model", help=f"{', '.join([model, *others])}, or your Python file (default: {model})")
    add(
        "--from",
        dest="start_from",
        metavar="NET",
        help=f"start from the weights of a trained network ({NET})",
    )
    add("--seed", help="random seed of the initial weights and all data (default: 1)")
    add("--sequences", help="sequences to train on (default: depends on task)")
    add("--paper", action="store_true", help="use the paper's settings, as far as they are known")
    add("--batch-size", help="sequences per update (default: depends on task; 1 in the paper)")
    add("--starts", help="initialisations to try; the best continues (default: depends on task)")
    add("--engine", help="auto, native or reference (default: auto)")
    add("--run", type=Path, metavar="DIR", help="run folder (default: runs/TASK-MODEL-SEED)")
    add("--resume", action="store_true", help="continue the run in the folder, if there is one")
    add_code(parser, ", for use by name")
    add("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="any other setting")
    add("--settings", action="store_true", help="list all settings of task and model, and exit")


def run(options: argparse.Namespace) -> int:
    """Train or resume a run; return 0, or 128 + the number of the signal that interrupted it."""
    from ntm.training import make_progress
    from ntm.training.begin import train_until_signal
    from ntm.training.parallel import check_shares, leads

    with reading_arguments():
        load_code(options)
        settings, folder = requested(options)
        check_shares(settings.training.batch_size)
    if options.settings:
        _print_settings(settings)
        return 0
    result = train_until_signal(settings, folder, resume=options.resume, progress=make_progress())
    if leads():
        print(_summary(result, folder, settings.training.validate_beyond))
    return 0 if result.signal is None else 128 + result.signal


def requested(options: argparse.Namespace) -> tuple["Settings", Path]:
    """Return the settings and the folder that the options select."""
    from ntm.paper import paper_settings, settings_for
    from ntm.runs import Run, run_name

    typed, folder = _typed_settings(options), options.run
    if options.task is None:
        if not (options.resume and folder):
            known = ", ".join(task_names())
            raise ValueError(f"Name a task: {known}; or resume a run: --run DIR --resume.")
        return _stored(options, folder).with_text(typed), folder
    if options.resume and folder and Run.exists(folder):  # it holds all settings and weights
        return _stored(options, folder).with_text(typed), folder
    preset = paper_settings if options.paper else settings_for
    if (network := typed.get("training.start_from", "none")) != "none":
        settings = _fine_tuned(preset, options, typed, network)
        folder = folder or Path("runs") / f"{run_name(settings)}-from-{Path(network).name}"
    else:
        settings = preset(options.task, options.model or model_names()[0]).with_text(typed)
        folder = folder or Path("runs") / run_name(settings)
    if options.resume and Run.exists(folder):
        settings = _stored(options, folder).with_text(typed)
    return settings, folder


def _fine_tuned(
    preset: Callable[[str, str], "Settings"],
    options: argparse.Namespace,
    typed: Mapping[str, str],
    network: str,
) -> "Settings":
    """Return the settings of a run that starts from a network; refuse conflicting options."""
    from ntm.models import family
    from ntm.pretrained.runs import find_network, fine_tuned

    named = None if options.model is None else family(options.model)
    kind = find_network(network, named).family
    others = {key: text for key, text in typed.items() if key != "training.start_from"}
    asked = preset(options.task, kind.name).with_text(others)
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
    """Return the settings of a resumed run; refuse another task or model than the run has."""
    from ntm.models import family
    from ntm.runs import Run
    from ntm.tasks import TASKS

    settings = Run(folder).settings
    if options.task is not None:
        _require_same("task", TASKS.find(options.task).name, settings.task.name, folder)
    if options.model is not None:
        _require_same("model", family(options.model).name, settings.model_name, folder)
    return settings


def _require_same(name: str, given: str, stored: str, folder: Path) -> None:
    if given != stored:
        raise ValueError(f"The {name} of {folder} is {stored}, not {given}; choose another --run.")


def _typed_settings(options: argparse.Namespace) -> dict[str, str]:
    given = {f"training.{name}": getattr(options, name) for name in _TYPED}
    typed = {key: value for key, value in given.items() if value is not None}
    return typed | dict(set_pairs(options.set))


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
            print_table(rows)
            print()


def _summary(result: "Result", folder: Path, beyond: str) -> str:
    from ntm.common.text import duration

    cost = "" if result.bits is None else f", {result.bits:.4f} bits per sequence at the end"
    best = "" if result.best_bits is None else f", {result.best_bits:.4f} in the best validation"
    if best and beyond:
        best += f" (including the cost at {beyond})"
    following = f"ntm eval {quoted(folder)}"
    if result.ending in {"interrupted", "out of time"}:
        following = f"ntm train --run {quoted(folder)} --resume"
    already = " already" if result.sequences == result.resumed_at > 0 else ""
    if already and result.ending == "finished":
        following += f"; or train for longer: --resume --sequences {2 * result.sequences}"
    return (
        f"{result.ending.capitalize()}{already} after {result.sequences:,} sequences and "
        f"{duration(result.seconds)}{cost}{best}. Next: {following}"
    )

"""The `ntm` command. Costly modules are imported by the command that needs them, not before."""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from ntm.bench import command as bench
from ntm.reproduction import command as reproduction
from ntm.scale import command as sweep
from ntm.studio import command as studio

if TYPE_CHECKING:
    from ntm.tasks import Batch, Task
    from ntm.training import Result, Settings
    from ntm.training.run import Model

WRONG_CALL, FAILED = 2, 1
_TASK_NAMES = "copy, repeat-copy, associative-recall, ngrams or priority-sort"
_MODEL_NAMES = "ntm-ff, ntm-lstm or lstm"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0 done, 1 a failed job, 2 a wrong call."""
    arguments = sys.argv[1:] if arguments is None else arguments
    parser, commands = _parser()
    try:
        if arguments and arguments[0] not in commands and not arguments[0].startswith("-"):
            raise _WrongCallError(_unknown_command(arguments[0], commands))
        options = parser.parse_args(arguments)
        return int(options.command(options))
    except KeyboardInterrupt:
        return _complain("Interrupted.", 130)
    except BrokenPipeError:
        # The reader of a pipe, say `head`, has seen enough; nothing may be flushed to it any more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except _WrongCallError as error:
        return _complain(str(error), WRONG_CALL)
    except Exception as error:
        code = _exit_code(error)
        if code is None:
            raise
        return _complain(str(error), code)


class _WrongCallError(Exception):
    """The command cannot mean what was typed."""


@contextmanager
def _reading_arguments() -> Iterator[None]:
    """Within this, a value that the library refuses is the caller's mistake."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise _WrongCallError(str(error)) from error


def _exit_code(error: Exception) -> int | None:
    """The exit code of a failure that its message explains; None for a bug."""
    from ntm.training import FolderError, RunError

    if isinstance(error, FolderError):
        return WRONG_CALL
    return FAILED if isinstance(error, RunError | OSError) else None


def _complain(sentence: str, code: int) -> int:
    print(f"ntm: {sentence}", file=sys.stderr)
    return code


class _Parser(argparse.ArgumentParser):
    """argparse, with one sentence for an error."""

    def error(self, message: str) -> NoReturn:
        sentence = message if message.endswith(".") else f"{message}."
        self.exit(_complain(f"{sentence} See {self.prog} --help.", WRONG_CALL))


def _unknown_command(name: str, commands: Iterable[str]) -> str:
    from ntm.training.fields import unknown

    return unknown("command", name, commands)


def _parser() -> tuple[argparse.ArgumentParser, Iterable[str]]:
    """The parser, and the names of all commands."""
    parser = _Parser(
        prog="ntm", description="Neural Turing Machines: train, evaluate and look inside."
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    def add(name: str, command: Callable[[argparse.Namespace], int], text: str) -> _Parser:
        added: _Parser = commands.add_parser(name, help=text, description=f"{text}.")
        added.set_defaults(command=command)
        return added

    _add_train_options(add("train", _train, "Train a network on a task"))
    _add_eval_options(add("eval", _eval, "Measure a trained network on fresh sequences"))
    _add_analyse_options(add("analyse", _analyse, "What the heads of a trained network do"))
    _add_figures_options(add("figures", _figures, "The paper's figures, from your runs"))
    studio.add_trace_arguments(
        add("trace", studio.run_trace, "What a trained network does with one problem")
    )
    studio.add_studio_arguments(
        add("studio", studio.run_studio, "Open a page to draw problems and watch training on")
    )
    _add_json(add("params", _params, "The paper's tables of sizes, and ours beside them"))
    _add_json(add("info", _info, "Versions, engines and why, vector instructions, threads"))
    sweep.add_arguments(add("sweep", sweep.run, "Train a grid of runs, here or on a Ray cluster"))
    reproduction.add_reproduce_arguments(
        add("reproduce", reproduction.run_reproduce, "All of the paper's section 4, in one report")
    )
    reproduction.add_results_arguments(
        add("results", reproduction.run_results, "Tables and figures of your runs, in a folder")
    )
    bench.add_arguments(add("bench", bench.run, "Speed, as ratios measured in one run"))
    demo = add("demo", _demo, "Train on copy for half a minute and show how it generalises")
    demo.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture")
    return parser, commands.choices


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print nothing but JSON")


def _add_train_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("task", metavar="TASK", nargs="?", help=_TASK_NAMES)
    add("--model", help=f"{_MODEL_NAMES} (default: ntm-ff)")
    add("--seed", help="decides the initial weights and all data (default: 1)")
    add("--sequences", help="sequences to train on (default: as many as the task needs)")
    add("--paper", action="store_true", help="the paper's own protocol, as far as it is known")
    add("--batch-size", help="sequences per update (default: 1, as in the paper)")
    add("--engine", help="auto, native or reference (default: auto)")
    add("--run", type=Path, metavar="DIR", help="run folder (default: runs/TASK-MODEL-SEED)")
    add("--resume", action="store_true", help="go on where the run folder's checkpoint is")
    add("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="any other setting")
    add(
        "--settings", action="store_true", help="list all settings of this task and model, and stop"
    )


def _add_eval_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", type=Path, metavar="DIR", help="run folder")
    add("--sequences", type=int, default=1000, help="how many sequences (default: 1000)")
    add("--seed", type=int, default=1, help="decides the sequences (default: 1)")
    add("--batch-size", type=int, default=100, help="sequences to run at a time (default: 100)")
    for axis in ("length", "repeats", "items"):
        add(f"--{axis}", type=int, help=f"fix the {axis}, beyond the training range if you like")
    add("--memory-locations", type=int, metavar="N", help="enlarge the memory to N locations first")
    weights = parser.add_mutually_exclusive_group()
    for name, text in (("best", "the best weights (the default)"), ("latest", "the newest")):
        weights.add_argument(
            f"--{name}", dest="weights", action="store_const", const=name, help=text
        )
    _add_json(parser)


def _add_analyse_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("run", type=Path, metavar="DIR", help="run folder of an NTM")
    add("--sequences", type=int, default=200, help="how many sequences (default: 200)")
    add("--seed", type=int, default=1, help="decides the sequences (default: 1)")
    _add_json(parser)


def _add_figures_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("runs", type=Path, nargs="+", metavar="DIR", help="run folder, or a folder of them")
    add("--out", type=Path, required=True, metavar="DIR", help="folder for the figures")
    add("--format", action="append", choices=("png", "svg", "pdf"), help="default: png and svg")


def _train(options: argparse.Namespace) -> int:
    from ntm.training import make_progress, train
    from ntm.training.parallel import check_shares, leads

    with _reading_arguments():
        settings, folder = _requested(options)
        check_shares(settings.training.batch_size)
    if options.settings:
        _print_settings(settings)
        return 0
    result = train(settings, folder, resume=options.resume, progress=make_progress())
    if leads():
        print(_summary(result, folder))
    return 0 if result.signal is None else 128 + result.signal


def _requested(options: argparse.Namespace) -> tuple["Settings", Path]:
    """The settings and the folder that the options mean."""
    from ntm.training import Run, paper_settings, settings_for

    typed = _typed_settings(options)
    if options.task is None:
        if not (options.resume and options.run):
            raise ValueError(f"Name a task: {_TASK_NAMES}; or resume a run: --run DIR --resume.")
        return Run(options.run).settings.changed(typed), options.run
    preset = paper_settings if options.paper else settings_for
    settings = preset(options.task, options.model or "ntm-ff").changed(typed)
    name = f"{options.task}-{settings.model_name}-{settings.training.seed}"
    folder = options.run or Path("runs") / name
    if options.resume and Run.exists(folder):
        stored = Run(folder).settings
        _require_same("task", options.task, stored.task.name, folder)
        _require_same("model", options.model or stored.model_name, stored.model_name, folder)
        settings = stored.changed(typed)
    return settings, folder


def _require_same(name: str, given: str, stored: str, folder: Path) -> None:
    if given != stored:
        raise ValueError(f"The {name} of {folder} is {stored}, not {given}; choose another --run.")


def _typed_settings(options: argparse.Namespace) -> dict[str, str]:
    typed = {}
    for name in ("seed", "sequences", "batch_size", "engine"):
        if getattr(options, name) is not None:
            typed[f"training.{name}"] = getattr(options, name)
    for pair in options.set:
        key, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"--set takes SECTION.KEY=VALUE, such as task.bits=6; got {pair!r}.")
        typed[key.strip()] = value
    return typed


def _print_settings(settings: "Settings") -> None:
    from ntm.training.fields import documentation
    from ntm.training.settings import FOLLOWS_FROM_TASK, SECTIONS

    for section in SECTIONS:
        values = getattr(settings, section)
        rows = [
            (f"{section}.{name}", _plain(getattr(values, name)), text)
            for name, text in documentation(type(values)).items()
            if name not in FOLLOWS_FROM_TASK
        ]
        print(_table(rows), end="\n\n")


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)


def _summary(result: "Result", folder: Path) -> str:
    from ntm.training.progress import duration

    cost = "" if result.bits is None else f", {result.bits:.4f} bits per sequence at the end"
    best = "" if result.best_bits is None else f", {result.best_bits:.4f} in the best validation"
    following = f"ntm eval {folder}"
    if result.ending in {"interrupted", "out of time"}:
        following = f"ntm train --run {folder} --resume"
    return (
        f"{result.ending.capitalize()} after {result.sequences:,} sequences and "
        f"{duration(result.seconds)}{cost}{best}. Next: {following}"
    )


def _eval(options: argparse.Namespace) -> int:
    from ntm.evaluation import enlarged, evaluate
    from ntm.training import Run

    run = Run(options.run)
    axes = {axis: getattr(options, axis) for axis in ("length", "repeats", "items")}
    axes = {axis: value for axis, value in axes.items() if value is not None}
    model, facts = run.load_model(options.weights)
    with _reading_arguments():
        task = run.settings.task.at(**axes)
        model = enlarged(model, options.memory_locations)
        if min(options.sequences, options.batch_size) < 1:
            raise ValueError("--sequences and --batch-size must be at least 1.")
    evaluation = evaluate(model, task, options.sequences, options.seed, options.batch_size)
    answer = {"task": task.name, "model": run.settings.model_name, **axes}
    if options.memory_locations is not None:
        answer["memory_locations"] = options.memory_locations
    answer |= {"weights": facts["weights"], "trained_sequences": facts.get("sequences")}
    _print_facts(answer | {"seed": options.seed} | evaluation.to_json(), options.json)
    return 0


def _analyse(options: argparse.Namespace) -> int:
    from ntm.evaluation import evaluate
    from ntm.evaluation.heads import analyser, record
    from ntm.evaluation.report import as_text
    from ntm.training import Run

    run = Run(options.run)
    task, (model, facts) = run.settings.task, run.load_model()
    with _reading_arguments():
        examine = analyser(task)
        recording = record(model, task, options.sequences, options.seed)
    analysis = examine(recording)
    cost = evaluate(model, task, options.sequences, options.seed)
    known = {"model": run.settings.model_name, "trained_sequences": facts.get("sequences")}
    costs = {"mean_bits": cost.mean_bits, "perfect": cost.perfect}
    if options.json:
        print(json.dumps(known | costs | analysis.to_json(), indent=2))
        return 0
    above = cost.bits_above_optimal
    quality = (
        f"{cost.perfect:.0%} of the sequences without a wrong bit"
        if above is None
        else f"{above:.1f} above the optimum"
    )
    print(
        f"{task.name}, {run.settings.model_name}: {cost.mean_bits:.4f} bits per sequence, "
        f"{quality}.\n\n{as_text(analysis)}"
    )
    return 0


def _figures(options: argparse.Namespace) -> int:
    gallery = _with_matplotlib("ntm.figures.gallery")
    outcomes = []
    for outcome in gallery.draw_figures(
        options.runs, options.out, options.format or ["png", "svg"]
    ):
        outcomes.append(outcome)
        if outcome.files:
            print(
                f"figure {outcome.number:>2}  {outcome.title:<28}  {outcome.files[0]}", flush=True
            )
    lacking = [
        (f"figure {outcome.number:>2}", "not drawn" if not outcome.files else "in part", need)
        for outcome in outcomes
        for need in outcome.lacking
    ]
    if lacking:
        print(f"\nMissing:\n{_table(lacking)}")
    return 0


def _with_matplotlib(name: str) -> Any:
    """A module that draws, or an error that says what to install."""
    import importlib

    from ntm.training import RunError

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise RunError(
            f"Figures need matplotlib ({error}): pip install 'neural-turing-machines[figures]'"
        ) from error


def _params(options: argparse.Namespace) -> int:
    import torch

    from ntm.training import TABLES
    from ntm.training.run import model_of

    rows = []
    with torch.device("meta"):  # counted, not initialised
        for network in TABLES:
            ours = sum(parameter.numel() for parameter in model_of(network.config).parameters())
            names = {"task": network.task, "model": network.model}
            counts = {"paper": network.parameters, "ours": ours}
            rows.append(names | counts | {"difference": ours - network.parameters})
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    cells = [tuple(rows[0])]
    cells += [
        tuple(
            f"{v:+,}" if k == "difference" else f"{v:,}" if isinstance(v, int) else v
            for k, v in row.items()
        )
        for row in rows
    ]
    print(_table(cells, right=(2, 3, 4)))
    print(_PARAMS_NOTE)
    return 0


_PARAMS_NOTE = """
Counted at the widths that the paper's counts imply (copy: 10 inputs, 9 outputs; repeat copy: 8, 7;
recall: 8, 6; n-grams: 1, 1; sort: 10, 8), with seven shifts, four for n-grams. The LSTMs match to
the parameter, but for sort, where the paper's 384,424 is most likely 348,424, two digits swapped.
The paper does not say enough to recount its NTMs exactly."""


def _info(options: argparse.Namespace) -> int:
    import platform

    import torch

    import ntm
    from ntm import engine

    choice = engine.choose("auto", torch.device("cpu"), torch.float32)
    native = engine.native.loaded()
    facts = {
        "ntm": ntm.__version__,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "platform": platform.platform(),
        "engine": choice.name,
        "engine_reason": choice.reason,
        "instructions": native.target,
        "instructions_reason": native.reason,
        "native_build": engine.native.build_summary(),
        "threads": torch.get_num_threads(),
        "cuda": torch.cuda.is_available(),
    }
    _print_facts(facts, options.json)
    return 0


def _demo(options: argparse.Namespace) -> int:
    from ntm.training import make_progress, paper_settings, train

    changes = {"sequences": "20000", "stop_after_seconds": "20", "validate_every": "0"}
    settings = paper_settings("copy", "ntm-lstm").changed(
        {f"training.{name}": value for name, value in changes.items()}
    )
    result = train(settings, progress=make_progress())
    if result.signal is not None:
        return 128 + result.signal
    _show_copies(result.model, settings.task, options.out)
    _show_pretrained("associative-recall-ff")
    return 0


def _show_copies(model: "Model", task: "Task", out: Path) -> None:
    from ntm.evaluation import generalise

    print("\nIt was trained on sequences of up to 20 vectors. Longer ones, 50 of each length:\n")
    measured = generalise(model, task, "length", _DEMO_LENGTHS, sequences=50)
    rows = [("length", "bits per sequence", "without a wrong bit")]
    rows += [(str(n), f"{e.mean_bits:.4f}", f"{e.perfect:.0%}") for n, e in measured.items()]
    print(_table(rows, right=(0, 1, 2)))
    examples = [_answered(model, task.at(length=length)) for length in _DEMO_LENGTHS]
    print(f"\n{task.render(examples[2][0], 0, examples[2][1])}")
    _draw(examples, out)


def _show_pretrained(name: str) -> None:
    from ntm import pretrained

    print(f"\nA network that comes with the package, NTM.from_pretrained({name!r}):\n")
    task = pretrained.settings(name).task
    batch, logits = _answered(pretrained.load(name), task)
    print(task.render(batch, 0, logits))
    print(f"\nThe others: {', '.join(other for other in pretrained.names() if other != name)}.")


_DEMO_LENGTHS = (10, 20, 30, 50, 120)


def _answered(model: "Model", task: "Task") -> tuple["Batch", Any]:
    import torch

    from ntm.training import block_generator

    batch = task.sample(1, block_generator("demo", 1))
    with torch.no_grad():
        return batch, model(batch.inputs)[0]


def _draw(examples: list[tuple["Batch", Any]], folder: Path) -> None:
    try:
        from ntm.figures import Answer, copy_generalisation, save
    except ImportError:
        print("\nFor a picture, install matplotlib: pip install 'neural-turing-machines[figures]'")
        return
    answers = [
        Answer.of(f"length {length}", batch, logits)
        for length, (batch, logits) in zip(_DEMO_LENGTHS, examples, strict=True)
    ]
    (path,) = save(copy_generalisation(answers, "NTM"), folder / "copy", ["png"])
    print(f"\nA picture of all lengths is in {path}")


def _print_facts(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(facts, indent=2))
        return
    print(_table([(name.replace("_", " "), _readable(value)) for name, value in facts.items()]))


def _readable(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if type(value) is int else _plain(value)


def _table(rows: Sequence[tuple[str, ...]], right: tuple[int, ...] = ()) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if number in right else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)

"""`train`: set up a run from its settings and train.

    settings = paper_settings("copy", "ntm-ff")
    result = train(settings, run="runs/copy", progress=make_progress())
    logits, _ = result.model(x)

SIGINT and SIGTERM end a run with a checkpoint and then act as usual: Ctrl-C raises
KeyboardInterrupt. A loss or gradient that is not finite ends the run with a RunError and keeps the
last checkpoint. Under torchrun, all processes call `train` and train together; one of them writes
the folder, shows progress and calls observers.
"""

import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import torch
from torch import Tensor

from ntm.models import Model
from ntm.pretrained.runs import start_weights
from ntm.runs import FolderError, Run, Settings, build_model, checkpoints
from ntm.runs.folder import locked, open_run
from ntm.training.loop import Result, Trainer
from ntm.training.observers import (
    Checkpoints,
    Display,
    MetricsLog,
    Observer,
    Pictures,
    Schedule,
    TensorBoardLog,
    Validation,
)
from ntm.training.parallel import Ranks, agreed, joined, part_of
from ntm.training.progress import Progress
from ntm.training.signals import calling_on_signals
from ntm.training.state import State
from ntm.training.unstarted import Place


def train(
    settings: Settings,
    run: str | Path | None = None,
    *,
    resume: bool = False,
    progress: Progress | None = None,
    observers: Iterable[Observer] = (),
) -> Result:
    """Train a model from the start, or continue where an earlier call stopped.

    A signal takes effect after the run is saved: Ctrl-C raises KeyboardInterrupt, and the attribute
    `result` of the exception is the Result so far.

    run: folder for config, metrics, weights and checkpoints; None writes nothing to disk (None).
    resume: continue from the checkpoint in the folder, if there is one (False: the folder must
        not hold a run).
    progress: display for the progress; None shows nothing (None).
    observers: additional observers of the run; see `ntm.training.Observer` (none).
    """
    result = train_until_signal(
        settings, run, resume=resume, progress=progress, observers=observers
    )
    if result.signal is not None:
        _act_on(result.signal, result)
    return result


def _act_on(number: int, result: Result) -> None:
    """Pass the signal that ended a run to the handler that was installed before the run."""
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt as stop:
        stop.result = result  # type: ignore[attr-defined]
        raise


def train_until_signal(
    settings: Settings,
    run: str | Path | None = None,
    *,
    resume: bool = False,
    progress: Progress | None = None,
    observers: Iterable[Observer] = (),
) -> Result:
    """Train like `train`, but only record a signal in the result instead of raising it again."""
    progress = progress or Progress()
    with ExitStack() as stack:
        stack.callback(progress.close)
        ranks = stack.enter_context(joined(settings.training.device))
        settings = agreed(settings, ranks)
        # Build the model before the folder: if this fails, no folder is left behind.
        model = build_model(part_of(settings, ranks))
        weights = _given_weights(settings, run) if ranks.leads else None
        folder = place = None
        if run is not None and ranks.leads:
            place = Place(run)
            # Lock the folder before opening it: only one process may write there.
            stack.enter_context(locked(run))
            stack.enter_context(place)
            folder = open_run(run, settings, resume)
        shown = progress if ranks.leads else Progress()
        stack.enter_context(_threads(settings.training.threads))
        state = _begin(settings, model, folder, shown, ranks, weights)
        if folder is not None:
            _take_length(folder, settings, state.counters.sequences)
        watching = _observers(settings, state, folder, shown)
        watching += observers if ranks.leads else ()
        for observer in watching:
            stack.callback(observer.close)
        trainer = Trainer(settings, state, folder, ranks, watching)
        if place is not None:
            place.has_started = lambda: trainer.has_trained
        stack.enter_context(calling_on_signals(trainer.clock.interrupt, patient=ranks.size > 1))
        result = trainer.run()
        ranks.meet()  # torchrun kills ranks that still write after another has exited
        return result


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Set torch's number of threads in this context (0: torch's own choice)."""
    before = torch.get_num_threads()
    if count:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        if count:
            torch.set_num_threads(before)


def _given_weights(settings: Settings, run: str | Path | None) -> Mapping[str, Tensor] | None:
    """Load the weights that a new run starts from; None for random weights or a resumed run."""
    begun = run is not None and checkpoints.exist(Path(run) / "checkpoint")
    return None if begun or settings.training.start_from is None else start_weights(settings)


def _begin(
    settings: Settings,
    model: Model,
    folder: Run | None,
    progress: Progress,
    ranks: Ranks,
    weights: Mapping[str, Tensor] | None,
) -> State:
    """Return the state of a new run, with the given weights if any, or of a resumed run."""
    state = State(settings, model)
    for problem in state.restore(folder) if folder is not None else ():
        progress.note(f"{problem} Resuming from the checkpoint before it.")
    if weights is not None:
        state.begin(weights)
        if folder is not None:  # from now on the run no longer needs the other network
            checkpoints.save(folder.checkpoints, state.tensors(), state.values())
    state.copy_from_leader(ranks)
    return state


def _take_length(folder: Run, settings: Settings, trained: int) -> None:
    """Store the new settings; refuse a length below the sequences already trained on."""
    asked = settings.training.sequences
    if asked < trained and asked != folder.settings.training.sequences:
        raise FolderError(
            f"{folder.path} has been trained on {trained:,} sequences already; "
            f"ask for more than that, or choose another folder."
        )
    folder.change_settings(settings)


def _observers(
    settings: Settings, state: State, folder: Run | None, progress: Progress
) -> list[Observer]:
    """Return the standard observers of a run, in the order of their calls."""
    chosen = settings.training
    device = next(state.model.parameters()).device
    validation = Validation(settings, device)
    observers: list[Observer] = [Schedule(), validation]
    if folder is not None:
        sequences = state.starts.others + state.counters.sequences
        observers.append(MetricsLog(folder.metrics, sequences))
        observers.append(TensorBoardLog(folder.tensorboard, sequences))
    observers.append(Checkpoints(chosen.checkpoint_seconds))
    if progress.pictures and chosen.picture_seconds > 0:
        example = validation.batches["validation_bits"].narrow(0, 1)
        observers.append(Pictures(progress, chosen.picture_seconds, example))
    return [*observers, Display(progress)]

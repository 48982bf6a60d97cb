"""`train`: set up a run from its settings, and train it.

    settings = paper_settings("copy", "ntm-ff")
    result = train(settings, run="runs/copy", progress=make_progress())
    logits, _ = result.model(x)

SIGINT and SIGTERM end a run with a checkpoint, and then act as they would without it: Ctrl-C raises
KeyboardInterrupt. A loss or gradient that is not finite ends it with a RunError and keeps the last
checkpoint. Processes that torchrun started all call this and train together; one of them writes the
folder, shows progress and has observers.
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
    """Train a model from start to end, or from where an earlier call stopped.

    A signal acts when the run is saved: Ctrl-C raises KeyboardInterrupt, whose attribute `result`
    is what would have been returned.

    run: a folder for config, metrics, weights and checkpoints; None keeps nothing on disk.
    resume: continue from the folder's checkpoint, if there is one; else the folder must be new.
    progress: where to show progress; nothing is shown by default.
    observers: further observers of the run; see `ntm.training.Observer`.
    """
    result = train_until_signal(
        settings, run, resume=resume, progress=progress, observers=observers
    )
    if result.signal is not None:
        _act_on(result.signal, result)
    return result


def _act_on(number: int, result: Result) -> None:
    """Hand a signal that ended a run to whoever received signals before the run."""
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
    """Train as `train` does; a signal ends the run, is noted in the result, and does no more."""
    progress = progress or Progress()
    with ExitStack() as stack:
        stack.callback(progress.close)
        ranks = stack.enter_context(joined(settings.training.device))
        settings = agreed(settings, ranks)
        # Before the folder: if the model cannot be built, no folder is left behind.
        model = build_model(part_of(settings, ranks))
        weights = _given_weights(settings, run) if ranks.leads else None
        folder = place = None
        if run is not None and ranks.leads:
            place = Place(run)
            # Before it is opened: of two processes that start in one folder, one may write there.
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
        ranks.meet()  # torchrun kills a rank that is still writing when another has exited
        return result


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Let torch use this many threads (0: torch's own choice), and restore the number after it."""
    before = torch.get_num_threads()
    if count:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        if count:
            torch.set_num_threads(before)


def _given_weights(settings: Settings, run: str | Path | None) -> Mapping[str, Tensor] | None:
    """The weights that the run starts from; None for fresh ones, and once it has begun."""
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
    """The state in which the run starts, with these weights if there are any, or resumes."""
    state = State(settings, model)
    for problem in state.restore(folder) if folder is not None else ():
        progress.note(f"{problem} Resuming from the checkpoint before it.")
    if weights is not None:
        state.begin(weights)
        if folder is not None:  # from here on the run needs the other network no more
            checkpoints.save(folder.checkpoints, state.tensors(), state.values())
    state.copy_from_leader(ranks)
    return state


def _take_length(folder: Run, settings: Settings, trained: int) -> None:
    """Make a run as long as it is now asked to be; it cannot become shorter than it is."""
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
    """The observers of every run, in the order in which they are called."""
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

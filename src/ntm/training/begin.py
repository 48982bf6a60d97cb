"""`train`: set up a run from its settings and train.

    settings = paper_settings("copy", "ntm-ff")
    result = train(settings, run="runs/copy", progress=make_progress())
    logits, _ = result.model(x)

SIGINT and SIGTERM end a run with a checkpoint and then act as usual: Ctrl-C raises
KeyboardInterrupt. A loss or gradient that is not finite ends the run with a RunError and keeps the
last checkpoint. Under torchrun, all processes call `train` and train together; one of them writes
the folder, shows progress and calls observers.
"""

import shutil
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from ntm.models import Model
from ntm.runs import FolderError, Run, Settings, build_model, checkpoints
from ntm.runs.folder import FILES, create_or_resume, locked
from ntm.runs.opening import start_weights
from ntm.training.display import Display, Pictures, Progress
from ntm.training.loop import Result, Trainer
from ntm.training.observing import (
    Checkpoints,
    MetricsLog,
    Observer,
    Schedule,
    TensorBoardLog,
    Validation,
)
from ntm.training.parallel import Ranks, agreed, joined, part_of
from ntm.training.signals import calling_on_signals
from ntm.training.state import TrainingState


def train(
    settings: Settings,
    run: str | Path | None = None,
    *,
    resume: bool = False,
    progress: Progress | None = None,
    observers: Iterable[Observer] = (),
    raises: bool = True,
) -> Result:
    """Train a model from the start, or continue an earlier call; return the Result.

    A signal takes effect after the run is saved: Ctrl-C raises KeyboardInterrupt, and the attribute
    `result` of the exception is the Result so far.

    run: folder for config, metrics, weights and checkpoints; None writes nothing to disk (None).
    resume: whether to continue from the checkpoint in the folder, if there is a checkpoint (False:
        the folder must not contain a run).
    progress: display for the progress; None shows nothing (None).
    observers: additional observers of the run; see `ntm.training.Observer` (none).
    raises: whether a signal takes effect; otherwise, only the result records the signal (True).
    """
    progress = progress or Progress()
    with ExitStack() as stack:
        stack.callback(progress.close)
        ranks = stack.enter_context(joined(settings.training.device))
        place = _Place(None if run is None else Path(run), resume, stack)
        watching = (progress, observers) if ranks.leads else (Progress(), ())
        trainer = _trainer(agreed(settings, ranks), place, ranks, *watching)
        result = trainer.run()
        ranks.meet()  # torchrun kills ranks that still write after another has exited
    if raises and result.signal is not None:
        _act_on(result.signal, result)
    return result


def _act_on(number: int, result: Result) -> None:
    """Pass the signal that ended a run to the handler that was installed before the run."""
    try:
        signal.raise_signal(number)
    except KeyboardInterrupt as stop:
        stop.result = result  # type: ignore[attr-defined]
        raise


class _Place(NamedTuple):
    """Folder of a run, if any; whether to resume; and the contexts of the run."""

    path: Path | None
    resume: bool
    stack: ExitStack

    def opened(self, settings: Settings, trainers: list[Trainer]) -> Run | None:
        """Lock the run folder and open or create the run; None if the run has no folder."""
        if self.path is None:
            return None
        remove = _remover(self.path)
        # Lock the folder before opening it: only one process may write there.
        self.stack.enter_context(locked(self.path))
        self.stack.enter_context(_cleaning(remove, trainers))
        return create_or_resume(self.path, settings, self.resume)


def _trainer(
    settings: Settings, place: _Place, ranks: Ranks, shown: Progress, more: Iterable[Observer]
) -> Trainer:
    """Return the run in progress; the contexts of the run end with `place.stack`."""
    stack, trainers = place.stack, list[Trainer]()
    # Build the model before the folder: if this fails, no folder is left behind.
    model = build_model(part_of(settings, ranks))
    weights = _given_weights(settings, place.path) if ranks.leads else None
    folder = place.opened(settings, trainers) if ranks.leads else None
    stack.enter_context(_threads(settings.training.threads))
    state = _begin(settings, model, folder, shown, ranks, weights)
    if folder is not None:
        _take_length(folder, settings, state.counters.sequences)
    watching = [*_observers(settings, state, folder, shown), *more]
    for observer in watching:
        stack.callback(observer.close)
    trainer = Trainer(settings, state, folder, ranks, watching)
    trainers.append(trainer)
    stack.enter_context(calling_on_signals(trainer.clock.interrupt, patient=ranks.size > 1))
    return trainer


def _remover(path: Path) -> Callable[[], None]:
    """Return a function that removes the files of a new run, and no other files."""
    if Run.exists(path):
        return lambda: None
    own = [entry for entry in (path / name for name in FILES) if not entry.exists()]
    folders = [folder for folder in (path, *path.parents) if not folder.exists()]

    def remove() -> None:
        for entry in own:
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink(missing_ok=True)
        for folder in folders:
            folder.rmdir()

    return remove


@contextmanager
def _cleaning(remove: Callable[[], None], trainers: list[Trainer]) -> Iterator[None]:
    """Call `remove` if an error happens before the first update of the run."""
    try:
        yield
    except Exception:
        if not any(trainer.has_trained for trainer in trainers):
            with suppress(OSError):  # report the error that ended the run instead
                remove()
        raise


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


def _given_weights(settings: Settings, path: Path | None) -> Mapping[str, Tensor] | None:
    """Load the weights that a new run starts from; None for random weights or a resumed run."""
    begun = path is not None and checkpoints.exist(path / "checkpoint")
    return None if begun or settings.training.start_from is None else start_weights(settings)


def _begin(
    settings: Settings,
    model: Model,
    folder: Run | None,
    progress: Progress,
    ranks: Ranks,
    weights: Mapping[str, Tensor] | None,
) -> TrainingState:
    """Return the state of a new run, with the given weights if any, or of a resumed run."""
    state = TrainingState(settings, model)
    for problem in state.restore(folder) if folder is not None else ():
        progress.note(f"{problem} Resuming from the checkpoint before it.")
    if weights is not None:
        state.begin(weights)
        if folder is not None:  # from now on the run no longer needs the other network
            checkpoints.save(folder.checkpoints, state.tensors(), state.values())
    state.copy_from_leader(ranks)
    return state


def _take_length(folder: Run, settings: Settings, trained: int) -> None:
    """Store the new settings; raise FolderError if they ask for fewer sequences than trained."""
    asked = settings.training.sequences
    if asked < trained and asked != folder.settings.training.sequences:
        raise FolderError(
            f"{folder.path} has been trained on {trained:,} sequences already; "
            f"ask for more than that, or choose another folder."
        )
    folder.change_settings(settings)


def _observers(
    settings: Settings, state: TrainingState, folder: Run | None, progress: Progress
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

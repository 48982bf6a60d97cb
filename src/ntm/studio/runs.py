"""Runs of a folder: their states and learning curves; start, stop, resume and delete runs."""

import os
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from secrets import token_hex
from time import monotonic
from typing import Any

from ntm.runs import Run, RunError, Settings, TrainingSettings, checkpoints
from ntm.studio.curves import CurveReader
from ntm.studio.errors import RefusedError
from ntm.studio.folder import RunsFolder, is_name
from ntm.studio.schemas import RunListed, RunState
from ntm.studio.trainings import Order, Training, Trainings

# Points in one answer, about: all curves of a request together.
_POINTS_TOGETHER = 200_000
# Seconds to read reports of runs; the next request reads the rest.
_TIME_TO_READ = 0.5
# Seconds to remove a run's files before the answer; the rest is removed after the answer.
_TIME_TO_REMOVE = 1.0


class Runs:
    """Runs of a folder, and new runs that have no folder yet."""

    def __init__(self, folder: RunsFolder, max_trainings: int) -> None:
        self._folder = folder
        self._trainings = Trainings(max_trainings)
        self._curves: dict[str, CurveReader] = {}
        self._deleted: set[str] = set()
        self._next = 0  # the run that is read first

    def listing(self) -> dict[str, Any]:
        """Return every run with its state, or with the reason why the run cannot be read.

        A large folder is read over several calls; `FolderAnswer` explains `whole` and `read`.
        """
        self._update_all(self._folder.names())
        known = {name: self._described(name, run) for name, run in self._folder.runs()}
        for name, training in self._trainings.started():
            if name not in known and (training.running or training.failure):
                known[name] = _begun(name, training)
        runs = [known[name] for name in sorted(known)]
        return {"runs": runs, "whole": self._folder.is_whole, "read": self._folder.is_read}

    def curve(self, name: str, after: int) -> dict[str, Any]:
        """Return a run's state and the points of its curve beyond `after` sequences."""
        training = self._trainings.find(name)
        if training is not None and not self._folder.has_run(name):
            described, curve = _begun(name, training), CurveReader()
        else:
            run = self._folder.run(name)
            self._update(name)
            described, curve = self._described(name, run), self._curve(name)
        return curve.news(after) | described.model_dump()

    def curves(self, after: Mapping[str, int]) -> dict[str, dict[str, Any]]:
        """Return the points of several curves, each beyond its `after` sequences; read no file."""
        curves = self._curves.copy()  # other requests change the dictionary
        known = curves.keys() & after.keys()
        most = max(50, min(2000, _POINTS_TOGETHER // max(1, len(known))))
        return {name: curves[name].news(after[name], most) for name in sorted(known)}

    def start(self, order: Order, name: str | None = None) -> str:
        """Start a run and return its name."""
        name = name or f"{order.task}-{order.model}-{order.seed}"
        if not is_name(name):  # a user's own task may have any name
            raise RefusedError(
                422, f"{name} cannot be a run's name; use letters, digits, dots and dashes."
            )
        if self._folder.is_taken(name):
            raise RefusedError(
                409, f"The folder has a run called {name} already; choose another name or seed."
            )
        self._trainings.start(name, order, self._folder.path / name)
        return name

    def stop(self, name: str) -> None:
        """Ask a process that this studio started to write a checkpoint and end."""
        training = self._trainings.find(name)
        if training is None:
            self._folder.run(name)
        if training is None or not training.running:
            raise RefusedError(409, "No process that this studio started is training this run.")
        training.stop()

    def resume(self, name: str, sequences: int | None) -> None:
        """Resume a stopped run, or train a finished run for longer; see `ResumeRequest`."""
        before = self._trainings.find(name)
        if before is not None and not self._folder.has_run(name):  # training never started
            self._trainings.start(name, before.order, self._folder.path / name)
            return
        run = self._folder.run(name)
        self._update(name)
        if self._described(name, run).state == "running":
            raise RefusedError(409, f"{name} is being trained already.")
        if self._folder.is_link(name):
            raise RefusedError(409, f"{name} is a link to a run; resume the run in its own folder.")
        chosen = run.settings.training
        if chosen.start_from is not None and not checkpoints.exist(run.checkpoints):
            # start_from may be a folder that names code, and the studio runs no such code.
            raise RefusedError(409, f"{name} has not started; resume it with ntm train.")
        kept = _kept_sequences(name, chosen, self._curve(name), sequences)
        order = Order(*run.settings.network, chosen.seed, kept, resume=True)
        self._trainings.start(name, order, self._folder.path / name)

    def delete(self, name: str) -> bool:
        """Remove the folder of a run that no process trains; return whether the run existed."""
        training = self._trainings.find(name)
        if training is not None and training.running:
            raise RefusedError(409, f"{name} is being trained; stop it first.")
        there = self._folder.has_run(name)
        # A run that could not start has no folder, and a client that lost the answer asks again.
        if not there and training is None and name not in self._deleted | self._curves.keys():
            raise RefusedError(404, "There is no run of that name in the folder.")
        if there:
            self._remove(name)
        self._trainings.forget(name)
        self._curves.pop(name, None)
        self._deleted.add(name)
        return there or training is not None

    def close(self) -> None:
        """End all training processes that this studio started."""
        self._trainings.close()

    def _remove(self, name: str) -> None:
        """Take a run out of the folder; removing its files may continue after the return."""
        if self._folder.is_link(name):
            raise RefusedError(409, f"{name} is a link to a run; remove it by hand.")
        remover = ThreadPoolExecutor(1)
        try:
            remover.submit(_remove, self._folder.path / name).result(_TIME_TO_REMOVE)
        except TimeoutError:
            pass  # the run has left the folder; removing its files continues
        except FileNotFoundError:
            pass  # another process has removed it
        except BlockingIOError as error:
            sentence = f"{name} is being trained by another process; stop it there."
            raise RefusedError(409, sentence) from error
        except OSError as error:
            raise RefusedError(409, f"{name} cannot be removed: {error.strerror}.") from error
        finally:
            remover.shutdown(wait=False)

    def _curve(self, name: str) -> CurveReader:
        """Return the reader of a run's learning curve, with the points that were read so far."""
        return self._curves.setdefault(name, CurveReader())

    def _update_all(self, names: list[str]) -> None:
        """Read new metrics of all runs for a limited time; the next call reads the rest."""
        deadline = monotonic() + _TIME_TO_READ
        for turn, name in enumerate(names[self._next :] + names[: self._next]):
            if monotonic() > deadline:
                self._next = (self._next + turn) % len(names)
                return
            self._update(name)

    def _update(self, name: str) -> None:
        """Read new metrics of a run."""
        file = self._folder.file(name, "metrics.jsonl")
        if file is not None:
            self._curve(name).update(file)

    def _described(self, name: str, run: Run | RunError) -> RunListed:
        if isinstance(run, RunError):
            return RunListed(name=name, state="unreadable", reason=str(run))
        curve, training = self._curve(name), self._trainings.find(name)
        sequences, bits = curve.last
        settings = run.settings
        total, at_most = planned_sequences(settings.training, curve)
        running = training is not None and training.running
        failure = training.failure if training else None
        state: RunState
        if running or _is_locked(self._folder.file(name, ".lock")):
            state = "running"
        else:
            state = "finished" if sequences >= total else "failed" if failure else "stopped"
        return RunListed(
            name=name,
            task=settings.task.name,
            model=settings.model_name,
            seed=settings.training.seed,
            state=state,
            reason=failure or _why_not_played(settings),
            sequences=sequences,
            bits=bits,
            total=total,
            at_most=at_most,
            can_stop=running,
            speed=curve.speed if state == "running" else None,
        )


def _why_not_played(settings: Settings) -> str | None:
    """Return why the studio cannot run the network of a run; None if it can."""
    if settings.family.footprint(settings.model) is not None:
        return None
    return (
        f"The studio does not know the size of {settings.model_name} networks, so it does not run "
        f"them; override describe of the family."
    )


def planned_sequences(chosen: TrainingSettings, curve: CurveReader) -> tuple[int, bool]:
    """Return the number of sequences of a whole run over all starts, and whether it is a maximum.

    It is a maximum while a start may still be good enough to end the trials early.
    """
    tried, (seen, _) = min(curve.starts, chosen.starts), curve.last
    if not chosen.has_trials or (seen and not tried):
        return chosen.sequences, False
    # Every trial ends with a report. A report of an earlier start comes after the last trial.
    decided = tried == chosen.starts or seen > tried * chosen.trial_length
    others = (tried if decided else chosen.starts) - 1
    at_most = not decided and chosen.enough_bits > 0
    return chosen.sequences + others * chosen.trial_length, at_most


def _kept_sequences(
    name: str, chosen: TrainingSettings, curve: CurveReader, total: int | None
) -> int:
    """Return the value of --sequences, which counts the chosen start only, from a total."""
    planned, seen = planned_sequences(chosen, curve)[0], curve.last[0]
    total, others = total or planned, planned - chosen.sequences
    if seen >= total:
        raise RefusedError(409, f"{name} has seen {seen:,} sequences; give more than that.")
    if others >= total:
        raise RefusedError(
            409, f"The trials of {name} take {others:,} sequences; give more than that."
        )
    return total - others


def _begun(name: str, training: Training) -> RunListed:
    """Return the entry of a run whose process has made no folder yet."""
    order = training.order
    return RunListed(
        name=name,
        task=order.task,
        model=order.model,
        seed=order.seed,
        state="running" if training.running else "failed" if training.failure else "stopped",
        reason=training.failure,
        total=order.sequences,
        can_stop=training.running,
    )


def _remove(run: Path) -> None:
    """Rename the folder of a run to a hidden name and remove it; if that fails, rename it back."""
    with _holding(run / ".lock", os.O_CREAT):
        aside = run.rename(run.with_name(f".deleted-{token_hex(8)}"))
        try:
            shutil.rmtree(aside)
        except OSError:
            aside.rename(run)
            raise


def _is_locked(file: Path | None) -> bool:
    """Return whether a process trains in the folder that this lock protects."""
    try:
        # The lock is released within microseconds, so it rarely blocks another process.
        with _holding(file) if file else nullcontext():
            return False
    except OSError as error:
        return isinstance(error, BlockingIOError)


@contextmanager
def _holding(file: Path, flags: int = 0) -> Iterator[None]:
    """Hold the lock of a run folder; raise BlockingIOError if a process trains in the folder.

    On systems without such locks, for example Windows, this has no effect.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    # O_NOFOLLOW: a link may lead to any file, and opening must not change that file.
    descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | flags)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if flags else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)

"""How a run begins and ends: signals, threads, targets, and folders of runs that never start."""

import signal
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from tests.training.test_loop import Interrupting

from ntm.runs import FolderError, Run, RunError, Settings, block_generator
from ntm.tasks import TASKS, Batch, Copy, register
from ntm.training import Observer, train
from ntm.training.loop import Trainer

Small = Callable[..., Settings]


@pytest.fixture
def interrupting() -> Iterator[type[Interrupting]]:
    yield register(Interrupting)
    del TASKS["interrupting"]


def test_ctrl_c_ends_a_loop_over_seeds_when_the_run_is_saved(
    small: Small, tmp_path: Path, interrupting: type[Interrupting]
) -> None:
    settings = small("interrupting", task__max_length=2, task__bits=2, training__sequences=300)
    interrupting.pending.append(signal.SIGINT)

    def all_seeds() -> None:
        for seed in (1, 2, 3):
            train(settings.with_(training={"seed": seed}), tmp_path / str(seed))

    with pytest.raises(KeyboardInterrupt) as stopped:
        all_seeds()
    assert stopped.value.result.sequences == 257  # type: ignore[attr-defined]
    assert [folder.name for folder in tmp_path.iterdir()] == ["1"]
    assert Run(tmp_path / "1").facts("latest")["sequences"] == 257


def test_a_signal_reaches_the_handler_that_was_there_before(
    small: Small, interrupting: type[Interrupting]
) -> None:
    settings = small("interrupting", task__max_length=2, task__bits=2, training__sequences=300)
    received: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: received.append(number))
    try:
        interrupting.pending.append(signal.SIGTERM)
        assert train(settings).ending == "interrupted"
    finally:
        signal.signal(signal.SIGTERM, before)
    assert received == [signal.SIGTERM]


class Counting(Observer):
    """Notes how many threads a run has, and then fails if it is to."""

    def __init__(self, fails: bool) -> None:
        self.fails, self.threads = fails, 0

    def started(self, run: object) -> None:
        self.threads = torch.get_num_threads()
        if self.fails:
            raise ValueError("It is to fail.")


@pytest.mark.parametrize("fails", [False, True])
def test_threads_are_set_for_the_run_alone(small: Small, fails: bool) -> None:
    before, counting = torch.get_num_threads(), Counting(fails)
    with pytest.raises(ValueError, match="to fail") if fails else nullcontext():
        train(small(training__threads=before + 1), observers=[counting])
    assert (counting.threads, torch.get_num_threads()) == (before + 1, before)


@dataclass(frozen=True, kw_only=True)
class Unsure(Copy):
    """Copy, whose answers are not bits from a block on."""

    name: ClassVar[str] = "unsure"
    target: float = 0.5
    block: int = 0
    scored: bool = True

    def draw(self, batch_size: int, generator: torch.Generator) -> Batch:
        batch = super().draw(batch_size, generator)
        seed = block_generator("training", 1, self.block).initial_seed()
        if generator.initial_seed() == seed:
            batch.targets[(batch.mask > 0) == self.scored] = self.target
        return batch


@pytest.fixture
def unsure() -> Iterator[None]:
    yield register(Unsure) and None
    del TASKS["unsure"]


UNSURE = {"task__max_length": 2, "task__bits": 2, "training__sequences": 300}


@pytest.mark.usefixtures("unsure")
@pytest.mark.parametrize("target", [0.5, 2.0, -1.0])
@pytest.mark.parametrize("model", ["ntm-ff", "ntm-lstm", "lstm"])
@pytest.mark.parametrize("engine", ["native", "reference"])
def test_targets_other_than_bits_are_refused_before_they_are_trained_on(
    small: Small, tmp_path: Path, model: str, engine: str, target: float
) -> None:
    settings = small("unsure", model, training__engine=engine, **UNSURE)
    with pytest.raises(RunError, match=rf"targets of unsure must be 0 or 1 .* got {target:g}"):
        train(replace(settings, task=replace(settings.task, target=target)), tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("unsure")
def test_every_block_of_targets_is_looked_at_where_it_is_scored(
    small: Small, tmp_path: Path
) -> None:
    settings = small("unsure", **UNSURE)
    later = replace(settings, task=replace(settings.task, block=1))
    with pytest.raises(RunError, match="targets of unsure"):
        train(later, tmp_path / "run")
    assert Run(tmp_path / "run").settings == later  # it had started
    assert train(replace(settings, task=replace(settings.task, scored=False))).ending == "finished"


HUGE = 10**12


@pytest.mark.parametrize("run", ["run", "new/and/deep/run"])
def test_a_run_that_cannot_start_leaves_nothing(small: Small, tmp_path: Path, run: str) -> None:
    with pytest.raises(RuntimeError, match="memory"):
        train(small(training__batch_size=HUGE, training__sequences=HUGE), tmp_path / run)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_there_before_stays_as_it_was(small: Small, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(RuntimeError, match="memory"):
        train(small(training__batch_size=HUGE, training__sequences=HUGE), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]
    train(small(), tmp_path / "run")
    kept = sorted(file.name for file in (tmp_path / "run").iterdir())
    with pytest.raises(FolderError, match="holds a run already"):
        train(small(), tmp_path / "run")
    assert sorted(file.name for file in (tmp_path / "run").iterdir()) == kept


class Neighbour(Observer):
    """Writes a file into the folder, as another program might, before the run fails."""

    def started(self, run: Trainer) -> None:
        assert run.folder is not None
        (run.folder.path / "theirs.txt").write_text("kept")
        raise RuntimeError("no more")


def test_a_run_that_cannot_start_removes_its_own_files_alone(small: Small, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="no more"):
        train(small(), tmp_path / "run", observers=[Neighbour()])
    assert [file.name for file in (tmp_path / "run").iterdir()] == ["theirs.txt"]

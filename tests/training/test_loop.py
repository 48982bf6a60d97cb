import math
import os
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from tests.same_run import assert_same_run, curve, everything

from ntm.runs import (
    FolderError,
    Run,
    RunError,
    Settings,
    Stream,
    block_generator,
    build_model,
    read_metrics,
)
from ntm.runs.folder import locked
from ntm.tasks import TASKS, Batch, Copy, cost_in_bits, register
from ntm.training import GravesRMSprop, Result, train
from ntm.training.display import Progress, Status

Small = Callable[..., Settings]


def by_hand(settings: Settings) -> tuple[torch.nn.Module, list[float]]:
    """The same training as a plain loop over the same data, and the cost of every batch."""
    chosen = settings.training
    model = build_model(settings)
    optimiser = GravesRMSprop(model.parameters(), lr=settings.optimiser.learning_rate)
    stream = Stream(settings.task, chosen.seed, chosen.batch_size)
    costs = []
    for first in range(0, chosen.sequences, chosen.batch_size):
        number, start = divmod(first, stream.block_size)
        rate = settings.optimiser.rate_after(number * stream.block_size)
        optimiser.param_groups[0]["lr"] = rate
        batch = stream.block(number).narrow(start, start + chosen.batch_size)
        logits, _ = model(batch.inputs, lengths=batch.lengths)
        bits = cost_in_bits(logits, batch)
        optimiser.zero_grad()
        (bits.mean() * math.log(2)).backward()
        optimiser.step()
        costs.append(bits.sum().item())
    return model, costs


@pytest.mark.parametrize(
    ("model", "engine", "batch_size", "sequences"),
    [
        ("lstm", "auto", 1, 300),
        ("lstm", "auto", 7, 301),
        ("ntm-ff", "reference", 16, 64),
        ("ntm-lstm", "auto", 16, 64),
    ],
)
def test_equals_a_plain_loop(
    small: Small, tmp_path: Path, model: str, engine: str, batch_size: int, sequences: int
) -> None:
    settings = small(
        model=model,
        training__batch_size=batch_size,
        training__sequences=sequences,
        training__report_every=50,
        training__engine=engine,
        optimiser__halve_every=100,
    )
    result = train(settings, tmp_path / "run")
    expected, costs = by_hand(settings)
    assert result.ending == "finished"
    assert result.sequences == sequences
    for (name, ours), theirs in zip(
        result.model.named_parameters(), expected.parameters(), strict=True
    ):
        torch.testing.assert_close(ours, theirs, msg=lambda text, name=name: f"{name}: {text}")
    seen = 0
    for line in curve(tmp_path / "run"):
        counted = costs[seen // batch_size : line["sequences"] // batch_size]
        mean = math.fsum(counted) / (line["sequences"] - seen)
        assert line["bits"] == pytest.approx(mean, rel=1e-5)
        seen = line["sequences"]
    assert seen == sequences


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_the_backward_clip_is_let_go_when_it_is_due(
    small: Small, tmp_path: Path, engine: str
) -> None:
    # A block has 256 sequences: the first is clipped, the second is not.
    common = {"model": "ntm-ff", "training__batch_size": 64, "training__engine": engine}
    clip = {"optimiser__backward_clip": 1e-3}
    settings = small(**common, **clip, training__sequences=512, optimiser__backward_clip_until=250)
    let_go = train(settings).model
    clipped_first = small(**common, **clip, training__sequences=256)
    train(clipped_first, tmp_path)
    Run(tmp_path).change_settings(small(**common, training__sequences=512))
    expected = train(Run(tmp_path).settings, tmp_path, resume=True).model
    always = train(small(**common, **clip, training__sequences=512)).model
    for ours, theirs in zip(let_go.parameters(), expected.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    assert not torch.equal(let_go.cell.output.weight, always.cell.output.weight)


def test_reports_come_at_the_first_batch_beyond_their_number(small: Small, tmp_path: Path) -> None:
    settings = small(training__batch_size=8, training__sequences=90, training__report_every=20)
    result = train(settings, tmp_path)
    assert [line["sequences"] for line in curve(tmp_path)] == [24, 40, 64, 80, 96]
    assert ["validation_bits" in line for line in curve(tmp_path)] == [
        False,
        True,
        False,
        True,
        True,
    ]
    assert result.sequences == 96


def test_times_rise_over_all_processes(small: Small, tmp_path: Path) -> None:
    train(small(training__sequences=60), tmp_path)
    train(small(training__sequences=120), tmp_path, resume=True)
    lines = read_metrics(tmp_path / "metrics.jsonl")
    seconds = [line["seconds"] for line in lines]
    assert len(lines) == 6
    assert sorted(set(seconds)) == seconds
    assert all(line["sequences_per_second"] > 0 for line in lines)


@pytest.mark.parametrize("model", ["lstm", "ntm-ff", "ntm-lstm"])
def test_a_run_in_two_parts_is_the_same_run(small: Small, tmp_path: Path, model: str) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(small(model=model, training__sequences=80), whole)
    train(small(model=model, training__sequences=40), parts)
    train(small(model=model, training__sequences=80), parts, resume=True)
    assert Run(parts).settings == Run(whole).settings
    assert_same_run(parts, whole)


@dataclass(frozen=True, kw_only=True)
class Interrupting(Copy):
    """Copy, whose sampler sends this process a signal at a block of its choice, once."""

    name: ClassVar[str] = "interrupting"
    pending: ClassVar[list[int]] = []

    def draw(self, batch_size: int, generator: torch.Generator) -> Batch:
        if generator.initial_seed() == block_generator("training", 1, 1).initial_seed():
            for number in self.pending:
                os.kill(os.getpid(), number)
            self.pending.clear()
        return super().draw(batch_size, generator)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_run_ready_to_go_on(small: Small, tmp_path: Path, number: int) -> None:
    register(Interrupting)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    try:
        settings = small("interrupting", task__max_length=2, task__bits=2, training__sequences=300)
        train(settings, whole)
        handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
        Interrupting.pending.append(number)
        result = train(settings, parts, raises=False)
        assert (result.ending, result.signal, result.sequences) == ("interrupted", number, 257)
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers
        assert train(settings, parts, resume=True).ending == "finished"
        assert_same_run(parts, whole)
    finally:
        del TASKS["interrupting"]


def test_training_works_outside_the_main_thread(small: Small) -> None:
    results: list[Result] = []
    thread = threading.Thread(target=lambda: results.append(train(small())))
    thread.start()
    thread.join()
    assert results[0].ending == "finished"


def test_a_time_limit_ends_the_run_ready_to_go_on(small: Small, tmp_path: Path) -> None:
    limited = small(training__sequences=10**9, training__stop_after_seconds=0.2)
    result = train(limited, tmp_path)
    assert result.ending == "out of time"
    assert 0 < result.sequences < 10**9
    again = train(limited, tmp_path, resume=True)
    assert again.sequences > result.sequences


def test_a_solved_task_stops(small: Small) -> None:
    settings = small(
        training__sequences=1000,
        training__stop_when_solved=True,
        training__solved_bits=1000,
        training__solved_window=50,
    )
    result = train(settings)
    assert (result.ending, result.sequences) == ("solved", 60)
    unsolved = small(training__stop_when_solved=True, training__solved_bits=0.0)
    assert train(unsolved).ending == "finished"


def test_the_best_weights_are_those_of_the_lowest_validation(small: Small, tmp_path: Path) -> None:
    # So large a rate that the cost goes up and down.
    settings = small(
        optimiser__learning_rate=0.05, training__sequences=400, training__validate_every=20
    )
    result = train(settings, tmp_path)
    measured = {line["sequences"]: line["validation_bits"] for line in curve(tmp_path)}
    assert len(measured) == 20
    lowest = min(measured, key=measured.__getitem__)
    assert lowest != 400
    model, facts = Run(tmp_path).load_model()
    assert facts == {"weights": "best", "sequences": lowest, "validation_bits": measured[lowest]}
    assert result.best_bits == measured[lowest]
    assert validation_bits(settings, model) == measured[lowest]
    model, facts = Run(tmp_path).load_model("latest")
    assert facts == {"weights": "latest", "sequences": 400}
    assert validation_bits(settings, model) == measured[400]


def validation_bits(settings: Settings, model: torch.nn.Module) -> float:
    generator = block_generator("validation", settings.training.seed)
    batch = settings.task.sample(settings.training.validation_sequences, generator)
    with torch.no_grad():
        logits, _ = model(batch.inputs, lengths=batch.lengths)
    return cost_in_bits(logits, batch).mean().item()


def test_nothing_need_be_validated(small: Small, tmp_path: Path) -> None:
    result = train(small(training__validate_every=0), tmp_path)
    assert result.best_bits is None
    assert not (tmp_path / "best.safetensors").exists()
    assert Run(tmp_path).load_model()[1]["weights"] == "latest"


@pytest.mark.parametrize("checkpoint_seconds", [0, 1000])
def test_a_run_that_diverges_stops_and_keeps_what_was_good(
    small: Small, tmp_path: Path, checkpoint_seconds: float
) -> None:
    train(small(), tmp_path)
    before = everything(tmp_path)
    good = small(training__sequences=200, training__checkpoint_seconds=checkpoint_seconds)
    wild = good.with_text({"optimiser.learning_rate": "3e38"})
    # The folder refuses other settings; this stands for a run whose weights blow up at some point.
    Run(tmp_path).change_settings(wild)
    with pytest.raises(
        RunError, match=r"Training stopped at sequence \d+: .*learning_rate"
    ) as error:
        train(wild, tmp_path, resume=True)
    assert str(tmp_path) in str(error.value)
    after = everything(tmp_path)
    assert all(tensor.isfinite().all() for tensor in after.values())
    if checkpoint_seconds:
        assert all(torch.equal(tensor, before[name]) for name, tensor in after.items())


def test_an_existing_run_is_refused_unless_resumed(small: Small, tmp_path: Path) -> None:
    train(small(), tmp_path)
    before = everything(tmp_path)
    with pytest.raises(FolderError, match="holds a run already"):
        train(small(), tmp_path)
    with pytest.raises(FolderError, match=r"training\.seed is 1 in .* and 2 now"):
        train(small(training__seed=2), tmp_path, resume=True)
    with pytest.raises(FolderError, match=r"model\.name is 'lstm' .* and 'ntm-ff' now"):
        train(small(model="ntm-ff"), tmp_path, resume=True)
    result = train(small(), tmp_path, resume=True)
    assert (result.ending, result.sequences) == ("finished", 60)
    after = everything(tmp_path)
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())


def test_resuming_nothing_starts_a_run(small: Small, tmp_path: Path) -> None:
    assert train(small(), tmp_path / "a", resume=True).sequences == 60
    # A run that was killed before its first checkpoint, with a line that it will write again.
    Run.create(tmp_path / "b", small())
    (tmp_path / "b" / "metrics.jsonl").write_text(
        '{"sequences": 20, "bits": 1, "seconds": 1}\n{"seq'
    )
    train(small(), tmp_path / "b", resume=True)
    assert_same_run(tmp_path / "a", tmp_path / "b")


def test_a_folder_has_one_trainer_at_a_time(small: Small, tmp_path: Path) -> None:
    run = Run.create(tmp_path, small())
    with run.locked(), pytest.raises(RunError, match="another process"):
        train(small(), tmp_path, resume=True)
    assert train(small(), tmp_path, resume=True).ending == "finished"


def test_a_checkpoint_of_another_model_is_explained(small: Small, tmp_path: Path) -> None:
    train(small(), tmp_path)
    other = small(model__hidden_size=6, training__sequences=120)
    Run(tmp_path).change_settings(other)
    with pytest.raises(RunError, match=r"(?s)is not of this model: .*size mismatch"):
        train(other, tmp_path, resume=True)


def test_a_damaged_checkpoint_is_told_and_the_run_is_still_the_same(
    small: Small, tmp_path: Path
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train(small(training__sequences=120), whole)
    for sequences in (40, 80):
        train(small(training__sequences=sequences), parts, resume=True)
    newest = max((parts / "checkpoint").glob("*.safetensors"))
    newest.write_bytes(newest.read_bytes()[:-1])
    told = Told()
    train(small(training__sequences=120), parts, resume=True, progress=told)
    assert any("checksum" in text and "the checkpoint before" in text for text in told.texts)
    assert any("from sequence 40 to 120" in text for text in told.texts)
    assert_same_run(parts, whole)


class Told(Progress):
    """A display that remembers."""

    interval, pictures = 0.0, True

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.pictures_shown: list[str] = []
        self.statuses: list[Status] = []

    def note(self, text: str) -> None:
        self.texts.append(text)

    def update(self, status: Status) -> None:
        self.statuses.append(status)

    def picture(self, text: str) -> None:
        self.pictures_shown.append(text)


def test_progress_is_told(small: Small) -> None:
    told = Told()
    result = train(small(training__picture_seconds=1e-6), progress=told)
    assert "Training lstm on copy" in told.texts[0]
    seen = [status.sequences for status in told.statuses]
    assert seen == sorted(seen)
    assert seen[0] < 20
    assert told.statuses[-1][:3] == (60, 60, result.bits)
    assert all(status.speed > 0 for status in told.statuses)
    assert any("wrong bit" in picture for picture in told.pictures_shown)
    silent = train(small(training__picture_seconds=0), progress=Told())
    assert silent.bits == result.bits


def test_a_device_or_engine_that_is_not_there_leaves_no_folder(
    small: Small, tmp_path: Path
) -> None:
    with pytest.raises(RunError, match=r"training\.device=nonsense cannot be used"):
        train(small(training__device="nonsense"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_display_is_closed_whatever_happens(small: Small, tmp_path: Path) -> None:
    closed: list[str] = []

    class Closing(Progress):
        def close(self) -> None:
            closed.append("closed")

    train(small(), tmp_path, progress=Closing())
    with pytest.raises(FolderError):
        train(small(), tmp_path, progress=Closing())
    with pytest.raises(RunError):
        train(small(training__device="nonsense"), progress=Closing())
    assert closed == ["closed"] * 3


def test_of_two_that_begin_in_one_folder_the_second_writes_nothing(
    small: Small, tmp_path: Path
) -> None:
    """The first has the folder, but has not written its settings yet."""
    with locked(tmp_path / "run"), pytest.raises(RunError, match="another process"):
        train(small(), tmp_path / "run")
    assert [path.name for path in (tmp_path / "run").iterdir()] == [".lock"]


def test_what_a_killed_writer_left_is_removed(small: Small, tmp_path: Path) -> None:
    left = tmp_path / "run" / ".model.safetensors.123.tmp"
    left.parent.mkdir()
    left.touch()
    train(small(), tmp_path / "run")
    assert not left.exists()

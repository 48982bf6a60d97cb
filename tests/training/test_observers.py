"""What watches a run, and what it is told."""

import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from ntm.runs import RunError, Settings, read_metrics
from ntm.training import Observer, train
from ntm.training.loop import Trainer
from ntm.training.observing import TensorBoardLog

Small = Callable[..., Settings]
ANY_RUN: Any = None
EXAMPLES = Path(__file__).parents[2] / "examples"


class Diary(Observer):
    """Writes down everything it is told."""

    interval = 0.0

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def started(self, run: Trainer) -> None:
        self.calls.append(("started", run.sequences))

    def block(self, run: Trainer, sequences: int) -> None:
        self.calls.append(("block", sequences))

    def reporting(self, run: Trainer, line: dict[str, Any]) -> None:
        line["mine"] = 2 * line["sequences"]

    def reported(self, run: Trainer, line: dict[str, Any]) -> None:
        self.calls.append(("reported", (line["sequences"], line["mine"], run.planned)))

    def tick(self, run: Trainer) -> None:
        self.calls.append(("tick", run.sequences))

    def saving(self, run: Trainer) -> None:
        self.calls.append(("saving", run.sequences))

    def ended(self, run: Trainer) -> None:
        self.calls.append(("ended", run.sequences))

    def close(self) -> None:
        self.calls.append(("close", None))

    def named(self, name: str) -> list[Any]:
        return [fact for call, fact in self.calls if call == name]


def test_an_observer_is_told_what_happens(small: Small, tmp_path: Path) -> None:
    diary = Diary()
    settings = small(
        training__sequences=300,
        training__report_every=100,
        training__checkpoint_seconds=3600.0,  # only at the end, however slow the machine is
    )
    train(settings, tmp_path / "run", observers=[diary])
    assert diary.named("started") == [0]
    assert diary.named("block") == [0, 256]
    assert diary.named("reported") == [(100, 200, 300), (200, 400, 300), (300, 600, 300)]
    assert diary.named("saving") == [300]
    assert diary.named("ended") == [300]
    assert len(diary.named("tick")) >= 300  # an interval of nothing is after every batch
    assert [call for call, _ in diary.calls[-2:]] == ["ended", "close"]
    lines = read_metrics(tmp_path / "run" / "metrics.jsonl")
    assert [line["mine"] for line in lines] == [200, 400, 600]
    again = Diary()
    train(
        settings.with_(training={"sequences": 320}),
        tmp_path / "run",
        resume=True,
        observers=[again],
    )
    assert again.named("started") == [300]
    assert again.named("block") == [256]


def test_observers_change_no_number(small: Small) -> None:
    watched = train(small(model="ntm-ff"), observers=[Diary()]).model
    alone = train(small(model="ntm-ff")).model
    for ours, theirs in zip(watched.parameters(), alone.parameters(), strict=True):
        assert ours.equal(theirs)


def test_an_observer_is_closed_after_an_error(small: Small) -> None:
    diary = Diary()
    with pytest.raises(RunError, match="Training stopped at sequence"):
        train(small(optimiser__learning_rate=3e38), observers=[diary])
    assert diary.named("ended") == []
    assert diary.calls[-1] == ("close", None)


def load(name: str, **modules: object) -> Any:
    """An example, with stand-ins for the packages that it logs to."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        for package, stand_in in modules.items():
            fake = ModuleType(package)
            vars(fake).update(vars(stand_in))
            patch.setitem(sys.modules, package, fake)
        spec.loader.exec_module(module)
    return module


def test_the_example_for_weights_and_biases(small: Small) -> None:
    calls: list[Any] = []
    session = SimpleNamespace(
        log=lambda line, step: calls.append((step, line["bits"])),
        finish=lambda: calls.append("finished"),
    )
    wandb = SimpleNamespace(init=lambda **given: calls.append(given) or session)
    example = load("log_to_wandb", wandb=wandb)
    train(small(), observers=[example.WandB("project")])
    assert calls[0]["config"]["training.sequences"] == 60
    assert [step for step, _ in calls[1:-1]] == [20, 40, 60]
    assert calls[-1] == "finished"


def test_the_example_for_mlflow(small: Small) -> None:
    calls: list[Any] = []
    mlflow = SimpleNamespace(
        start_run=lambda **_: calls.append("started"),
        log_params=calls.append,
        log_metrics=lambda line, step: calls.append((step, line["bits"])),
        end_run=lambda: calls.append("ended"),
    )
    example = load("log_to_mlflow", mlflow=mlflow)
    train(small(), observers=[example.MLflow()])
    assert calls[1]["training.sequences"] == 60
    assert [step for step, _ in calls[2:-1]] == [20, 40, 60]
    assert calls[-1] == "ended"


def line(sequences: int) -> dict[str, float]:
    return {"sequences": sequences, "bits": sequences / 3, "seconds": sequences / 7}


def test_tensorboard_shows_every_number(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    board = TensorBoardLog(tmp_path, 0)
    board.reported(ANY_RUN, line(10))
    board.saving(ANY_RUN)
    board.reported(ANY_RUN, line(20))
    board.close()
    events = EventAccumulator(str(tmp_path)).Reload()
    assert sorted(events.Tags()["scalars"]) == ["bits", "seconds"]
    assert [(e.step, e.value) for e in events.Scalars("bits")] == [
        (10, pytest.approx(10 / 3)),
        (20, pytest.approx(20 / 3)),
    ]


def test_tensorboard_forgets_what_a_killed_process_wrote_beyond_its_checkpoint(
    tmp_path: Path,
) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    first = TensorBoardLog(tmp_path, 0)
    for sequences in (10, 20, 30):
        first.reported(ANY_RUN, line(sequences))
    first.close()
    written = int(time.time())
    while int(time.time()) == written:  # event files are told apart, and read, by the second
        time.sleep(0.05)
    second = TensorBoardLog(tmp_path, 20)
    second.reported(ANY_RUN, {"sequences": 30, "bits": 5.0})
    second.close()
    events = EventAccumulator(str(tmp_path)).Reload()
    assert [e.step for e in events.Scalars("bits")] == [10, 20, 30]
    assert events.Scalars("bits")[-1].value == 5.0

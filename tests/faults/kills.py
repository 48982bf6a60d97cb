"""`kill -9` at random moments, over all commands that write.

    python -m tests.faults.kills FOLDER KILLS SEED

Called by `tests.faults.forked.warm`; prints, by command, how often it was killed. After every kill
everything that was there before can be read, the command succeeds when it is given again, and a
run that was killed any number of times ends with the bits of one that never was.
"""

import json
import os
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.faults.forked import KILLED, ntm, options, run
from tests.faults.walk import SETTINGS, assert_whole
from tests.same_run import assert_same_run

from ntm import NTM
from ntm.pretrained import publish, read_facts
from ntm.runs import Run
from ntm.trace import Trace

TRAINED = SETTINGS | {
    "training.sequences": 400,
    "training.batch_size": 4,
    "training.checkpoint_seconds": 0.01,
    "training.picture_seconds": 0,
}
MEMORY = {
    "model.controller_size": 4,
    "model.memory_locations": 6,
    "model.memory_width": 3,
}
COMMON = {key: value for key, value in TRAINED.items() if not key.startswith("model.")}


def train(folder: Path, model: str, *more: str) -> Callable[[], int]:
    sizes = MEMORY if model == "ntm-ff" else {"model.hidden_size": 4, "model.layers": 1}
    chosen = options(COMMON | sizes)
    return ntm("train", "copy", "--model", model, "--run", folder, "--resume", *chosen, *more)


class Command(NamedTuple):
    """A command that writes."""

    call: Callable[[Path, Path], Callable[[], int]]
    """The command, given the run that it may read and the folder that it may write."""
    check: Callable[[Path, Path], None]
    """What holds of that folder at any time."""


def check_run(trained: Path, place: Path) -> None:
    assert_whole(place / "run")


def check_trace(trained: Path, place: Path) -> None:
    for file in place.glob("*.npz"):
        Trace.load(file)


def check_page(trained: Path, place: Path) -> None:
    for file in place.glob("*.html"):
        assert file.read_text().rstrip().endswith("</html>")


def check_figures(trained: Path, place: Path) -> None:
    for file in place.glob("*.png"):
        assert file.read_bytes().endswith(b"IEND\xaeB`\x82")
    for file in place.glob("*.svg"):
        assert file.read_text().rstrip().endswith("</svg>")


def check_published(trained: Path, place: Path) -> None:
    for file in place.glob("*.safetensors"):
        assert read_facts(file).settings == Run(trained).settings


def check_saved(trained: Path, place: Path) -> None:
    """An interrupted save leaves no network, never one with the weights of another."""
    if (place / "config.json").exists():
        NTM.from_pretrained(place)


def publishing(trained: Path, place: Path) -> Callable[[], int]:
    return lambda: publish(Run(trained), place) is None


def saving(trained: Path, place: Path) -> Callable[[], int]:
    sizes = random.Random().randint(1, 9)
    return lambda: NTM(sizes, 2, controller_size=3).save_pretrained(place) is not None


def sweeping(trained: Path, place: Path) -> Callable[[], int]:
    """A sweep of one run on one worker, which begins with a file of its own."""
    file = place.with_suffix(".toml")
    values = {key: value for key, value in TRAINED.items() if key.startswith("training.")}
    lines = [f"{key.partition('.')[2]} = {value}" for key, value in values.items()]
    sizes = "[model]\nhidden_size = 4\nlayers = 1\n[task]\nbits = 2\nmax_length = 3\n"
    head = 'tasks = ["copy"]\nmodels = ["lstm"]\n[training]\n'
    file.write_text(head + "\n".join(lines) + "\n" + sizes)
    return ntm("sweep", file, "--out", place, "--workers", 1)


def check_sweep(trained: Path, place: Path) -> None:
    for folder in place.glob("*"):
        assert_whole(folder)


COMMANDS = {
    "train lstm": Command(lambda _, place: train(place / "run", "lstm"), check_run),
    "train ntm-ff": Command(lambda _, place: train(place / "run", "ntm-ff"), check_run),
    "trace --save": Command(
        lambda trained, place: ntm("trace", trained, "--save", place / "t.npz"), check_trace
    ),
    "trace --html": Command(
        lambda trained, place: ntm("trace", trained, "--html", place / "t.html"), check_page
    ),
    "figures": Command(
        lambda trained, place: ntm("figures", trained, "--out", place), check_figures
    ),
    "results": Command(
        lambda trained, place: ntm("results", trained, "--out", place), check_figures
    ),
    "publish": Command(publishing, check_published),
    "save_pretrained": Command(saving, check_saved),
    "sweep": Command(sweeping, check_sweep),
}
TRAININGS = ("train lstm", "train ntm-ff")


class Harness:
    """Kills commands and holds what they leave against what they should."""

    def __init__(self, scratch: Path, seed: int) -> None:
        self.scratch, self.chance = scratch, random.Random(seed)
        self.output = scratch / "output"
        self.kills, self.runs = Counter[str](), Counter[str]()
        self.whole = {name: scratch / name / "whole" / "run" for name in TRAININGS}
        self.seconds = {name: self._undisturbed(name) for name in COMMANDS}

    def _place(self, name: str, kind: str) -> Path:
        place = self.scratch / name / kind
        place.mkdir(parents=True, exist_ok=True)
        return place

    def _finish(self, name: str, place: Path) -> float:
        trained = self.whole["train ntm-ff"]
        ended = run(self.output, COMMANDS[name].call(trained, place))
        assert ended.code == 0, (name, ended.output)
        COMMANDS[name].check(trained, place)
        return ended.seconds

    def _undisturbed(self, name: str) -> float:
        """How long a command takes that nobody kills."""
        if name not in TRAININGS:  # they read a run that must be there
            assert self.whole["train ntm-ff"].exists()
        return self._finish(name, self._place(name, "whole"))

    def kill(self, name: str) -> None:
        """Kill a command once; now and then let it come to its end and compare."""
        place, command = self._place(name, "killed"), COMMANDS[name]
        trained = self.whole["train ntm-ff"]
        moment = self.chance.uniform(0, self.seconds[name])
        ended = run(self.output, command.call(trained, place), kill_after=moment)
        assert ended.code in (0, KILLED), (name, ended.output)
        self.kills[name] += ended.code == KILLED
        if ended.code == 0:  # how fast a machine is changes in the course of an hour
            self.seconds[name] = ended.seconds
        command.check(trained, place)
        if ended.code == 0 or self.chance.random() < 0.2:
            self._finish(name, place)
            if name in self.whole:
                assert_same_run(place / "run", self.whole[name])
                assert not list((place / "run").rglob(".*.tmp"))
            self.runs[name] += 1
            shutil.rmtree(place)


def main(scratch: Path, kills: int, seed: int, names: list[str]) -> None:
    import ntm.commands.main
    import ntm.commands.results
    import ntm.paper.gallery
    import ntm.report.pipeline
    import ntm.studio.sharing  # noqa: F401  # so that a command's time is spent in its work

    harness = Harness(scratch, seed)
    while harness.kills.total() < kills:
        harness.kill(harness.chance.choice(names))
        (scratch / "kills.json").write_text(json.dumps([harness.kills, harness.runs]))
    print(json.dumps({"kills": harness.kills, "brought to the end": harness.runs}))


if __name__ == "__main__":
    sys.modules["tensorboard"] = None  # type: ignore[assignment]  # its thread is not forked
    os.environ["OMP_NUM_THREADS"] = "1"
    chosen = sys.argv[4:] or list(COMMANDS)
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), chosen)

"""Commands take a network of `save_pretrained`, of any class, wherever they take a run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from tests.commands.calls import exit_code

from ntm import NTM, LSTMBaseline
from ntm.commands.main import main
from ntm.common.registry import load_file
from ntm.evaluation import evaluate
from ntm.models import MODELS
from ntm.runs import Run, RunError
from ntm.runs.opening import SavedRun
from ntm.studio.folder import RunsFolder
from ntm.studio.networks import Networks
from ntm.tasks import make_task
from ntm.trace import Trace

SIZES: dict[str, Any] = {"controller_size": 7, "memory_locations": 11, "memory_width": 5}
TASK = make_task("copy", bits=3, max_length=4)
SET = ("--task", "copy", "--set", "task.bits=3", "--set", "task.max_length=4")

FAMILY = '''
import torch
from dataclasses import dataclass
from ntm import NTM, NTMConfig
from ntm.models import register
from ntm.models.ntm import NTMFamily


@dataclass(frozen=True)
class SquaredConfig(NTMConfig):
    pass


class Squared(NTM):
    """An NTM that answers otherwise, with a parameter of its own."""

    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.gain = torch.nn.Parameter(torch.tensor(-3.0))

    def forward(self, *args, **options):
        logits, state = super().forward(*args, **options)
        return self.gain * logits.abs(), state


class SquaredFamily(NTMFamily):
    config = SquaredConfig

    def build(self, config, initialisation, engine):
        net = Squared.from_config(config, initialisation, engine=engine)
        net.config = config
        return net


register(SquaredFamily("squared", "Squared", "#123456"))
'''


@pytest.fixture
def family(tmp_path: Path) -> Iterator[Path]:
    """A file with a family from outside the package, whose networks are of a class of its own."""
    file = tmp_path / "squared.py"
    file.write_text(FAMILY)
    yield file
    MODELS.pop("squared", None)


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    assert main([*map(str, arguments), "--json"]) == 0, capsys.readouterr().err
    return json.loads(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    capsys.readouterr()
    assert exit_code(lambda: main([*map(str, arguments)])) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    return errors


def networks() -> dict[str, NTM | LSTMBaseline]:
    torch.manual_seed(2)
    return {
        "feedforward": NTM(4, 3, **SIZES),
        "lstm": NTM(4, 3, controller="lstm", **SIZES),
        "baseline": LSTMBaseline(4, 3, 5, 2),
        "batch first": NTM(4, 3, batch_first=True, **SIZES),
    }


@pytest.mark.parametrize("name", networks())
@pytest.mark.parametrize("recorded", [True, False])
def test_a_saved_network_is_evaluated_as_in_python(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, recorded: bool
) -> None:
    net = networks()[name]
    net.save_pretrained(tmp_path, task=TASK if recorded else None)
    asked = () if recorded else SET
    answer = printed(capsys, "eval", tmp_path, "--sequences", 20, *asked)
    net.batch_first = False
    assert answer["mean_bits"] == evaluate(net, TASK, 20).mean_bits
    assert (answer["task"], answer["weights"]) == ("copy", "saved")
    assert answer["model"] == {"lstm": "ntm-lstm", "baseline": "lstm"}.get(name, "ntm-ff")


def test_a_saved_network_is_analysed_traced_and_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net, folder = networks()["feedforward"], tmp_path / "net"
    net.save_pretrained(folder)
    answer = printed(capsys, "analyse", folder, "--sequences", 10, *SET)
    assert answer["mean_bits"] == evaluate(net, TASK, 10).mean_bits
    file = tmp_path / "trace.npz"
    assert main(["trace", str(folder), *SET, "--length", "3", "--save", str(file)]) == 0
    trace = Trace.load(file)
    assert trace.about["title"] == "net, length 3"
    assert torch.equal(torch.tensor(trace.outputs), net(torch.tensor(trace.inputs))[0].detach())
    drawn = tmp_path / "drawn"
    options = ["--out", str(drawn), "--format", "svg", *SET]
    assert main(["figures", str(folder), *options]) == 0
    assert (drawn / "figure-06-copy-memory-use.svg").exists()


def test_a_saved_baseline_is_traced(tmp_path: Path) -> None:
    networks()["baseline"].save_pretrained(tmp_path / "net", task=TASK)
    file = str(tmp_path / "trace.npz")
    assert main(["trace", str(tmp_path / "net"), "--save", file]) == 0
    assert Trace.load(file).outputs.shape[2] == 3


def test_a_saved_network_is_played_with_in_the_studio(tmp_path: Path) -> None:
    networks()["lstm"].save_pretrained(tmp_path / "net", task=TASK)
    playable = Networks(RunsFolder(tmp_path / "runs"), [SavedRun(tmp_path / "net")])
    listed = playable.listing()[0]
    assert (listed["id"], listed["model"], listed["sequences"]) == ("saved:net", "ntm-lstm", None)
    assert playable.find("saved:net").load().config.controller == "lstm"


def test_what_a_saved_network_needs_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "net"
    networks()["feedforward"].save_pretrained(folder)
    for command in ("eval", "analyse", "trace", "studio"):
        told = refused(capsys, command, folder)
        assert "net does not say which task its network performs; name it, such as --task" in told
    assert "does not say" in refused(capsys, "figures", folder, "--out", tmp_path / "x")
    assert "9 inputs and 8 outputs, but the model has 4" in refused(
        capsys, "eval", folder, "--task", "copy"
    )
    assert "did you mean 'copy'" in refused(capsys, "eval", folder, "--task", "coppy")
    assert "needs --task, the task" in refused(capsys, "eval", folder, "--set", "task.bits=3")
    assert "Only settings of the task" in refused(
        capsys, "eval", folder, "--task", "copy", "--set", "model.bits=3"
    )
    assert "one set of weights; leave --latest out" in refused(
        capsys, "eval", folder, *SET, "--latest"
    )
    assert "is ntm-ff, not lstm; leave --model" in refused(
        capsys, "eval", folder, *SET, "--model", "lstm"
    )
    assert "has its task and model; leave --task" in refused(
        capsys, "eval", "copy-ff", "--task", "copy"
    )
    assert "holds a saved network, not a run" in refused(
        capsys, "results", folder, "--out", tmp_path / "x"
    )


def test_a_torn_saved_network_is_a_failed_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    networks()["feedforward"].save_pretrained(tmp_path, task=TASK)
    (tmp_path / "model.safetensors").write_bytes(b"nothing")
    assert main(["eval", str(tmp_path)]) == 1
    assert "is not a safetensors file" in capsys.readouterr().err


def test_a_recorded_task_imports_nothing(tmp_path: Path) -> None:
    networks()["feedforward"].save_pretrained(tmp_path, task=TASK)
    config, code = tmp_path / "config.json", tmp_path / "evil.py"
    code.write_text("raise SystemExit")
    values = json.loads(config.read_text())
    for name in (str(code), "evil", 3, None, []):
        config.write_text(json.dumps(values | {"task": {"name": name}}))
        with pytest.raises(RunError, match="There is no task called"):
            SavedRun(tmp_path)


# Networks of a class from outside


@pytest.mark.parametrize("smaller", [True, False])
def test_a_run_of_a_subclass_is_trained_and_evaluated_as_that_class(
    tmp_path: Path, family: Path, capsys: pytest.CaptureFixture[str], smaller: bool
) -> None:
    run = tmp_path / "run"
    sizes = [f"--set=model.{name}={size}" for name, size in SIZES.items()]
    few = ["--sequences=40", "--set=training.report_every=20", "--set=training.validate_every=20"]
    task = [text for text in SET if text.startswith("task.")]
    short = ["--set=training.memory_locations=8"] if smaller else []
    options = [*sizes, *few, *short, *(f"--set={text}" for text in task)]
    assert main(["train", "copy", "--model", str(family), "--run", str(run), *options]) == 0
    capsys.readouterr()
    kind, (net, facts) = load_file(family).Squared, Run(run).load_model()
    assert type(net) is kind
    best = Run(run).facts("best")["validation_bits"]
    assert facts["validation_bits"] == best
    usual = printed(capsys, "eval", run, "--sequences", 30)
    larger = printed(capsys, "eval", run, "--sequences", 30, "--memory-locations", 19)
    assert usual["mean_bits"] == evaluate(net, TASK, 30).mean_bits
    again = net.resized(19)
    assert type(again) is kind
    assert larger["mean_bits"] == evaluate(again, TASK, 30).mean_bits
    # Logits that are never positive: no other network answers like that.
    assert again(torch.rand(3, 2, 4))[0].max() <= 0


def test_a_saved_subclass_is_built_by_its_family(
    tmp_path: Path, family: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "net"
    net = load_file(family).Squared(4, 3, **SIZES)
    net.save_pretrained(folder, task=TASK)
    told = refused(capsys, "eval", folder)
    assert "holds a Squared, a class of your own; name the family that builds it" in told
    answer = printed(capsys, "eval", folder, "--sequences", 20, "--model", family)
    assert answer["mean_bits"] == evaluate(net, TASK, 20).mean_bits

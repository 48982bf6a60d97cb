"""The page's weights beside Python's: how they begin, how they are read, and larger memories."""

import base64
from dataclasses import asdict
from typing import Any

import pytest
import torch
from safetensors import torch as safetensors
from tests.site.node import answer, answers

from ntm.layer import NTM
from ntm.paper import paper_settings
from ntm.runs import build_model
from ntm.runs.stream import block_seed, stream_start

SMALL = {"memory_locations": 16, "memory_width": 5, "controller_size": 7}
Tensors = dict[str, Any]


def tensors(found: Tensors) -> dict[str, torch.Tensor]:
    return {
        name: torch.tensor(t["values"], dtype=torch.float32).view(t["shape"])
        for name, t in found.items()
    }


@pytest.mark.parametrize(
    ("model", "config", "initialisation"),
    [
        ("ntm-ff", {}, {}),
        ("ntm-ff", {"read_heads": 3, "write_heads": 2}, {"start_together": True}),
        ("ntm-ff", {"read_heads": 2, "write_heads": 3}, {"gate_bias": -3.0}),
        ("ntm-ff", {}, {"start_memory": "random", "start_spread": 4.0, "head_gain": 0.5}),
        ("ntm-lstm", {"controller_layers": 2}, {}),
    ],
)
def test_training_begins_with_pythons_weights(
    model: str, config: dict[str, Any], initialisation: dict[str, Any]
) -> None:
    settings = paper_settings("copy", model)
    settings = settings.with_(model=SMALL | config, initialisation=initialisation)
    expected = build_model(settings).state_dict()
    seed = block_seed("weights", settings.training.seed, 0)
    found = tensors(
        answer(
            ask="initial",
            config=asdict(settings.model),
            initialisation=asdict(settings.initialisation),
            seed=seed,
        )
    )
    assert list(found) == list(expected)
    for name, tensor in expected.items():
        if name.endswith("logits"):  # torch's logarithm and cosine are its own
            assert torch.allclose(found[name], tensor, rtol=1e-5, atol=1e-6), name
        else:
            assert torch.equal(found[name], tensor), name


def test_seeds_of_blocks_are_pythons() -> None:
    for seed in (1, 2, 3):
        found = answer(ask="seeds", start=stream_start("training", seed), blocks=[0, 1, 2, 999])
        assert found == [block_seed("training", seed, block) for block in (0, 1, 2, 999)]


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_files_are_read_and_written(dtype: torch.dtype) -> None:
    special = torch.tensor([0.0, -0.0, 1e-7, 6e-5, 1.5, -3.25, 60000.0])
    written = {"a": special.to(dtype), "b": torch.randn(3, 4, 5).to(dtype), "c": torch.zeros(0, 2)}
    file = encoded(safetensors.save(written, metadata={"ntm": '{"x": 1}'}))
    found = answer(ask="safetensors", file=file)
    assert found["metadata"] == {"ntm": '{"x": 1}'}
    again = safetensors.load(base64.b64decode(found["written"]))
    for name, tensor in written.items():
        assert torch.equal(again[name], tensor.float()), name


def test_what_is_no_safetensors_file_is_refused_in_words() -> None:
    good = safetensors.save({"a": torch.zeros(4)})
    integers = safetensors.save({"a": torch.zeros(4, dtype=torch.int64)})
    cases = {
        b"": "It is not a safetensors file.",
        b"PK\x03\x04 a zip file": "It is not a safetensors file.",
        good[:4]: "It is not a safetensors file.",
        good[:-1]: "Its a is cut off or damaged.",
        integers: "Its a is of type I64; it must be floating-point.",
        b"\x02\0\0\0\0\0\0\0[]": "It is not a safetensors file.",
        b"\x08\0\0\0\0\0\0\0" + b'{"a":{}}': "Its a is of type undefined; it must be "
        "floating-point.",
    }
    asked = [{"ask": "safetensors", "file": encoded(content)} for content in cases]
    assert [found["error"] for found in answers(asked)] == list(cases.values())


@pytest.mark.parametrize("heads", [1, 3])
def test_a_larger_memory_is_pythons(heads: int) -> None:
    net = NTM(3, 2, heads=heads, memory_locations=11, memory_width=5)
    torch.nn.init.normal_(net.start.memory)
    file = encoded(safetensors.save(net.state_dict()))
    config = asdict(net.config)
    found = answer(ask="safetensors", file=file, config=config, locations=19)
    for name, tensor in net.resized(19).state_dict().items():
        values = torch.tensor(found[name]["values"], dtype=torch.float32)
        assert torch.allclose(values, tensor.flatten(), rtol=1e-6, atol=1e-7), name

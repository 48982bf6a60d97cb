"""A description says what a network is built of, before the network is built."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ntm import NTM, LSTMBaseline, LSTMConfig, NTMConfig
from ntm.description import Description, Parameter, StatePart, TraceArray, describe
from ntm.models import lstm

from .slow_reference import OPTIONS, SIZES, make_net, some_examples

CONFIGS = st.builds(
    NTMConfig,
    *[st.integers(1, 5)] * 2,
    controller=st.just("lstm"),
    controller_size=st.integers(1, 5),
    controller_layers=st.integers(1, 4),
    memory_locations=st.integers(1, 7),
    memory_width=st.integers(1, 5),
    read_heads=st.integers(1, 3),
    write_heads=st.integers(1, 3),
    shifts=st.sampled_from([(0,), (-1, 0, 1), (2, 3, 4, 5)]),
    shift_mode=st.sampled_from(["softmax", "scalar"]),
)


def shapes(net: torch.nn.Module) -> list[tuple[str, tuple[int, ...]]]:
    return [(name, tuple(tensor.shape)) for name, tensor in net.state_dict().items()]


@some_examples
@given(CONFIGS, st.booleans())
def test_parameters_and_state_are_those_of_the_network(config: NTMConfig, plain: bool) -> None:
    if plain:
        config = replace(config, controller="feedforward", controller_layers=1)
    net, described = NTM.from_config(config), describe(config)
    assert list(described.shapes().items()) == shapes(net)
    assert described.parameter_count == sum(p.numel() for p in net.parameters())
    state = net.initial_state(2)
    assert [part.name for part in described.state] == list(state._fields)
    assert [tuple(part.shape[1:]) for part in state] == [*described.state_shapes]
    assert described.heads == config.read_heads + config.write_heads
    assert described.locations == config.memory_locations


@some_examples
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.integers(1, 4))
def test_the_baseline_is_described_too(inputs: int, outputs: int, size: int, layers: int) -> None:
    net = LSTMBaseline(inputs, outputs, size, layers)
    described = lstm.describe(LSTMConfig(inputs, outputs, size, layers))
    assert list(described.shapes().items()) == shapes(net)
    assert described.parameter_count == sum(p.numel() for p in net.parameters())
    assert [tuple(part.shape[1:]) for part in net.initial_state(2)] == [*described.state_shapes]
    assert (described.heads, described.locations, described.arrays) == (0, None, ())


@pytest.mark.parametrize("option", OPTIONS)
def test_arrays_are_those_of_a_trace(option: str) -> None:
    net = make_net(option)
    trace = net.trace(torch.zeros(2, 3, SIZES["input_size"], dtype=torch.float64), memory=True)
    described = describe(net.config)
    found = {name: array.shape for name, array in trace.arrays.items()}
    assert found == {a.name: (2, 3, *described.shape(a)) for a in described.arrays}


def test_a_network_with_a_billion_layers_has_a_short_description() -> None:
    config = NTMConfig(3, 2, "lstm", 7, controller_layers=10**9)
    assert len(describe(config).parameters) == 14
    assert describe(config).parameter_count > 10**9


def test_alike_layers_share_an_entry() -> None:
    above = range(1, 3)
    rows = (
        Parameter("a", (2,)),
        Parameter("b.{layer}", (3,), above),
        Parameter("c.{layer}", (5,), above),
    )
    described = Description(parameters=rows)
    assert list(described.shapes()) == ["a", "b.1", "c.1", "b.2", "c.2"]
    assert described.parameter_count == 2 + 2 * (3 + 5)


def test_an_array_belongs_to_the_heads_of_its_first_axis() -> None:
    assert TraceArray("a", ("read head", "mode"), "modes").head == "read"
    assert TraceArray("a", ("write head",), "gate").head == "write"
    assert TraceArray("a", ("location", "read head"), "odd").head is None


@pytest.mark.parametrize(
    ("axes", "role"),
    [
        (("location",), "weighting"),
        (("location", "width"), "weighting"),
        (("read head", "width"), "weighting"),
        (("read head", "location"), "vector"),
        (("width", "location"), "memory"),
        (("location",), "drawn"),
    ],
)
def test_a_role_needs_its_axes(axes: tuple[str, ...], role: str) -> None:
    with pytest.raises(ValueError, match=r"must have the axes|role must be one of"):
        TraceArray("a", axes, "an array", role)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [("", ("location",), "a"), ("a", (3,), "a"), ("a", (), "a")])
def test_names_are_words(wrong: tuple[str, tuple[str, ...], str]) -> None:
    with pytest.raises(TypeError, match="must be words"):
        TraceArray(*wrong)


def test_sizes_belong_to_axes() -> None:
    described = Description(sizes={"location": 7, "width": 3})
    assert described.shape(StatePart("memory", ("location", "width"))) == (7, 3)

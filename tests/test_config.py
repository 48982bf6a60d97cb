import dataclasses
import json
import re
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from ntm import NTM, NTMConfig
from ntm.common.fields import documentation
from ntm.config import Initialisation

SIZES = (
    "input_size",
    "output_size",
    "controller_size",
    "controller_layers",
    "memory_locations",
    "memory_width",
    "read_heads",
    "write_heads",
)


def make(**changes: object) -> NTMConfig:
    return NTMConfig(**{"input_size": 3, "output_size": 2} | changes)


def test_defaults_are_the_papers_smallest_network() -> None:
    config = make()
    assert (config.controller, config.controller_size) == ("feedforward", 100)
    assert (config.memory_locations, config.memory_width) == (128, 20)
    assert (config.read_heads, config.write_heads) == (1, 1)
    assert (config.shifts, config.shift_mode) == ((-1, 0, 1), "softmax")


def test_a_config_is_a_value() -> None:
    config = make(shifts=[-1, 0, 1])
    assert config == make()
    assert hash(config) == hash(make())
    assert config != make(read_heads=2)
    assert NTMConfig(**dataclasses.asdict(config)) == config
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.read_heads = 2


@pytest.mark.parametrize(("shift_mode", "shift_outputs"), [("softmax", 5), ("scalar", 1)])
def test_derived_sizes(shift_mode: str, shift_outputs: int) -> None:
    config = make(memory_width=7, read_heads=3, shifts=range(-2, 3), shift_mode=shift_mode)
    assert config.shift_outputs == shift_outputs
    assert config.read_head_outputs == 7 + 1 + 1 + shift_outputs + 1
    assert config.write_head_outputs == config.read_head_outputs + 7 + 7
    assert config.controller_inputs == 3 + 3 * 7


def test_only_an_lstm_carries_state() -> None:
    assert make().recurrent_layers == 0
    assert make(controller="lstm", controller_layers=2).recurrent_layers == 2


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("value", [0, -1, 2.0, True, "3", None])
def test_sizes_must_be_positive_integers(name: str, value: object) -> None:
    with pytest.raises(
        ValueError, match=f"^{name} must be an integer of at least 1, got {value!r}"
    ):
        make(**{name: value})


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        ("controller", "'feedforward' or 'lstm'"),
        ("shift_mode", "'softmax' or 'scalar'"),
    ],
)
@pytest.mark.parametrize("value", ["gru", "", None, 1, ["lstm"]])
def test_unknown_names_are_refused_with_the_known_ones(
    name: str, choices: str, value: object
) -> None:
    with pytest.raises(ValueError, match=re.escape(f"{name} must be {choices}, got {value!r}.")):
        make(**{name: value})


@pytest.mark.parametrize("name", ["start_spread", "head_gain"])
@pytest.mark.parametrize("value", [0, -1.0, float("inf"), float("nan"), True, "3", None])
def test_scales_of_the_start_must_be_positive_numbers(name: str, value: object) -> None:
    message = f"{name} must be a finite number above 0, got {value!r}."
    with pytest.raises(ValueError, match=re.escape(message)):
        Initialisation(**{name: value})


def test_heads_begin_together_or_not() -> None:
    with pytest.raises(ValueError, match=r"^start_together must be true or false, got 1\."):
        Initialisation(start_together=1)


@pytest.mark.parametrize("value", ["zero", None, 1])
def test_the_start_memory_is_one_of_two(value: object) -> None:
    with pytest.raises(ValueError, match=r"^start_memory must be 'constant' or 'random', got "):
        Initialisation(start_memory=value)


@pytest.mark.parametrize("shifts", [(), (1, 1), (0.5,), (True,), "ab", 3, None])
def test_shifts_must_be_distinct_integers(shifts: object) -> None:
    with pytest.raises(ValueError, match=r"^shifts must be distinct integers") as refusal:
        make(shifts=shifts)
    assert f"got {shifts!r}" in str(refusal.value)


@pytest.mark.parametrize("shifts", [(-1, 1), (1, 0, -1), (0, 2, 1)])
def test_a_scalar_shift_needs_consecutive_shifts(shifts: tuple[int, ...]) -> None:
    assert make(shifts=shifts).shifts == shifts
    with pytest.raises(ValueError, match="consecutive integers in rising order") as refusal:
        make(shifts=shifts, shift_mode="scalar")
    assert f"got {shifts}" in str(refusal.value)


def test_a_feedforward_controller_has_one_layer() -> None:
    with pytest.raises(ValueError, match=r"got controller_layers=2.*controller='lstm'"):
        make(controller_layers=2)


def test_the_defaults_are_the_papers_copy_network() -> None:
    """100 units, a memory of 128 x 20, one head of each kind, shifts from -1 to 1."""
    config = NTMConfig(input_size=9, output_size=8)
    assert (config.controller, config.controller_size, config.controller_layers) == (
        "feedforward",
        100,
        1,
    )
    assert (config.memory_locations, config.memory_width) == (128, 20)
    assert (config.read_heads, config.write_heads) == (1, 1)
    assert (config.shifts, config.shift_mode) == ((-1, 0, 1), "softmax")


@pytest.mark.parametrize("kind", [NTMConfig, Initialisation])
def test_every_setting_says_what_it_means(kind: type) -> None:
    assert all(len(text) > 10 for text in documentation(kind).values())


def test_the_layers_defaults_are_those_of_the_settings() -> None:
    net = NTM(9, 8)
    assert net.config == NTMConfig(9, 8)
    assert net.initialisation == Initialisation()


# Numbers of numpy


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_sizes_may_be_numpys(kind: type) -> None:
    sizes = {name: kind(2) for name in ("memory_locations", "memory_width", "heads")}
    net = NTM(kind(3), kind(2), shifts=np.array([-1, 0, 1]), controller_size=kind(4), **sizes)
    plain = dict.fromkeys(sizes, 2)
    assert net.config == NTM(3, 2, controller_size=4, **plain).config
    values = [*vars(net.config).values(), *net.config.shifts]
    assert {type(value) for value in values} == {int, str, tuple}
    assert json.loads(json.dumps(asdict(net.config)))["input_size"] == 3
    assert net.initial_state(kind(5)).memory.shape == (5, 2, 2)
    assert net.resized(kind(7)).config.memory_locations == 7
    with pytest.raises(ValueError, match=r"^memory_locations must be .* at least 1, got 0\.$"):
        NTM(3, 2, memory_locations=kind(0))


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.float16])
def test_other_numbers_may_be_numpys(kind: type, tmp_path: Path) -> None:
    net = NTM(3, 2, start_spread=kind(2), head_gain=kind(0.5), gate_bias=np.int64(-1))
    net.backward_clip = kind(0.25)
    assert net.initialisation == Initialisation(start_spread=2.0, head_gain=0.5, gate_bias=-1)
    assert {type(v) for v in vars(net.initialisation).values()} == {str, float, bool, int}
    net.save_pretrained(tmp_path)
    again = NTM.from_pretrained(tmp_path)
    assert (again.initialisation, again.backward_clip) == (net.initialisation, 0.25)


@pytest.mark.parametrize("size", [True, np.True_, np.float64(3), "3", np.array([3]), None])
def test_what_is_no_integer_is_no_size(size: object) -> None:
    with pytest.raises(ValueError, match=r"^input_size must be an integer of at least 1, got "):
        NTM(size, 2)
    with pytest.raises(ValueError, match=r"^batch_size must be an integer of at least 1, got "):
        NTM(3, 2).initial_state(size)


@pytest.mark.parametrize("shifts", [np.array(1), np.eye(2), np.array([0.5]), np.array([True])])
def test_arrays_of_other_things_are_no_shifts(shifts: object) -> None:
    with pytest.raises(ValueError, match=r"^shifts must be distinct integers"):
        make(shifts=shifts)

"""Networks in folders: what comes back, and what is refused."""

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from ntm import NTM, pretrained
from ntm.training import Run, paper_settings

from .slow_reference import OPTIONS, make_net, randn


def same_network(ours: NTM, theirs: NTM) -> bool:
    described = [
        (n.config, n.batch_first, n.backward_clip, n.start.memory.dtype) for n in (ours, theirs)
    ]
    tensors = zip(ours.state_dict().items(), theirs.state_dict().items(), strict=True)
    same = all(name == other and torch.equal(a, b) for (name, a), (other, b) in tensors)
    return described[0] == described[1] and same


@settings(max_examples=30)
@given(
    option=st.sampled_from(list(OPTIONS)),
    dtype=st.sampled_from([torch.float32, torch.float64, torch.bfloat16]),
    batch_first=st.booleans(),
    backward_clip=st.floats(1e-300, math.inf, exclude_min=True),
    head_gain=st.floats(1e-3, 1e3),
)
def test_what_is_saved_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    option: str,
    dtype: torch.dtype,
    batch_first: bool,
    backward_clip: float,
    head_gain: float,
) -> None:
    changes = {"batch_first": batch_first, "backward_clip": backward_clip, "head_gain": head_gain}
    net = make_net(option, "auto", dtype=dtype, **changes)
    folder = tmp_path_factory.mktemp("network") / "in" / "a folder"
    net.save_pretrained(folder)
    loaded = NTM.from_pretrained(folder)
    assert same_network(loaded, net)
    x = randn(4, 4, 3).to(dtype)
    assert torch.equal(loaded(x)[0], net(x)[0])
    assert all(parameter.requires_grad for parameter in loaded.parameters())


def test_the_engine_and_the_order_of_the_axes_can_be_chosen_on_loading(tmp_path: Path) -> None:
    make_net(batch_first=True).save_pretrained(tmp_path)
    assert NTM.from_pretrained(tmp_path).batch_first
    assert NTM.from_pretrained(tmp_path).engine == "auto"
    net = NTM.from_pretrained(tmp_path, batch_first=False, engine="reference")
    assert (net.batch_first, net.engine) == (False, "reference")


def test_loading_draws_no_random_number(tmp_path: Path) -> None:
    make_net().save_pretrained(tmp_path)
    before = torch.get_rng_state()
    NTM.from_pretrained(tmp_path)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_saved_network_is_replaced_by_the_next(tmp_path: Path) -> None:
    make_net("lstm").save_pretrained(tmp_path)
    net = make_net("scalar-shift")
    net.save_pretrained(tmp_path)
    assert same_network(NTM.from_pretrained(tmp_path), net)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["config.json", "model.safetensors"]


def test_what_was_loaded_does_not_hang_on_the_file(tmp_path: Path) -> None:
    net = make_net()
    net.save_pretrained(tmp_path)
    loaded = NTM.from_pretrained(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"")
    assert same_network(loaded, net)


# Names


def test_a_word_is_a_packaged_network_and_a_path_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    net = make_net()
    packaged = pretrained.load("copy-ff")
    Path("copy-ff").mkdir()
    assert same_network(NTM.from_pretrained("copy-ff"), packaged)  # nothing is saved there yet
    net.save_pretrained("copy-ff")
    with pytest.raises(
        ValueError, match=r"packaged network and also a folder here. Write './copy-ff'"
    ):
        NTM.from_pretrained("copy-ff")
    for folder in ("./copy-ff", Path("copy-ff"), str(tmp_path / "copy-ff")):
        assert same_network(NTM.from_pretrained(folder), net)
    net.save_pretrained("mine")
    assert same_network(NTM.from_pretrained("mine"), net)


def test_what_is_neither_is_refused_with_both_possibilities(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"did you mean 'copy-ff'\? .* Nor is there a folder 'copy-fff'"
    ):
        NTM.from_pretrained("copy-fff")
    for missing in (tmp_path / "nowhere", str(tmp_path / "nowhere")):
        with pytest.raises(FileNotFoundError, match=r"nowhere does not exist\. Name a folder"):
            NTM.from_pretrained(missing)
    with pytest.raises(FileNotFoundError, match=r"has no config\.json. Name a folder"):
        NTM.from_pretrained(tmp_path)


# What is not written


def wrapped(net: NTM) -> NTM:
    net.cell.output = torch.nn.Sequential(net.cell.output, torch.nn.ReLU())
    return net


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (wrapped, "modules were replaced or wrapped"),
        (lambda net: net.to("meta"), "no values"),
        (lambda net: net.cell.float() and net, "parameters of several dtypes"),
        (lambda net: net.half(), "must be float32, float64 or bfloat16"),
    ],
)
def test_a_network_that_would_not_come_back_is_not_saved(
    tmp_path: Path, spoil: Callable[[NTM], NTM], told: str
) -> None:
    with pytest.raises((ValueError, TypeError), match=told):
        spoil(make_net()).save_pretrained(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_run_is_never_overwritten(tmp_path: Path) -> None:
    Run.create(tmp_path, paper_settings("copy", "ntm-ff"))
    before = (tmp_path / "config.json").read_bytes()
    with pytest.raises(ValueError, match="not of a saved network, a run's perhaps"):
        make_net().save_pretrained(tmp_path)
    assert (tmp_path / "config.json").read_bytes() == before
    with pytest.raises(ValueError, match=r"ntm.runs.Run\(folder\).load_model\(\)"):
        NTM.from_pretrained(tmp_path)
    with pytest.raises(ValueError, match="is a file; name a folder"):
        make_net().save_pretrained(tmp_path / "config.json")


def test_an_interrupted_save_pairs_nothing_old_with_anything_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_net(batch_first=True).save_pretrained(tmp_path)
    monkeypatch.setattr("ntm.runs.saving.json.dumps", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_net(batch_first=False).save_pretrained(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"has no config\.json"):
        NTM.from_pretrained(tmp_path)


# What is not read


ODD_TEXTS = {
    "nothing": "",
    "torn": '{"format": "ntm-network-1", "conf',
    "a list": "[]",
    "a number": "7",
    "deep": "[" * 100_000,
    "bytes": "\udcff",
    "NaN": '{"format": NaN}',
    "another format": '{"format": "ntm-network-3"}',
    "no format": '{"config": {}}',
    "format of an odd type": '{"format": ["ntm-network-1"]}',
}


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_a_config_that_is_not_ours_is_refused(tmp_path: Path, name: str) -> None:
    make_net().save_pretrained(tmp_path)
    text = ODD_TEXTS[name].encode("utf-8", "surrogateescape")
    (tmp_path / "config.json").write_bytes(text)
    with pytest.raises(ValueError, match=r"config\.json is (damaged: it is|not in the format)"):
        NTM.from_pretrained(tmp_path)


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    values = json.loads((folder / "config.json").read_text())
    change(values)
    (folder / "config.json").write_text(json.dumps(values))


ODD_VALUES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "an unknown key": (lambda v: v.update(code="import os"), "must have the keys"),
    "a missing key": (lambda v: v.pop("batch_first"), "must have the keys"),
    "a config that is a list": (lambda v: v.update(config=[1]), "got list"),
    "an unknown setting": (lambda v: v["config"].update(depth=3), "got .*depth"),
    "a missing size": (lambda v: v["config"].pop("input_size"), "must have the settings"),
    "a size that is text": (
        lambda v: v["config"].update(input_size="3"),
        "input_size must be an int",
    ),
    "a size that is true": (
        lambda v: v["config"].update(read_heads=True),
        "read_heads must be an int",
    ),
    "a negative size": (
        lambda v: v["config"].update(memory_width=-5),
        "memory_width must be an int",
    ),
    "odd shifts": (
        lambda v: v["config"].update(shifts={"a": 1}),
        "shifts must be distinct integers",
    ),
    "an odd controller": (lambda v: v["config"].update(controller=["lstm"]), "controller must be"),
    "a huge memory": (lambda v: v["config"].update(memory_locations=10**15), "far larger network"),
    "a billion layers": (
        lambda v: v["config"].update(controller="lstm", controller_layers=10**9),
        "far larger network",
    ),
    "many layers": (
        lambda v: v["config"].update(controller="lstm", controller_layers=100),
        "far larger network",
    ),
    "another width": (lambda v: v["config"].update(memory_width=6), r"must be \(\d+, \d+\), got"),
    "another controller": (lambda v: v["config"].update(controller="lstm"), "must be"),
    "a clip of zero": (
        lambda v: v.update(backward_clip=0),
        "backward_clip must be a finite number above 0",
    ),
    "a clip of text": (
        lambda v: v.update(backward_clip="1"),
        "backward_clip must be a finite number",
    ),
    "a huge clip": (lambda v: v.update(backward_clip=10**400), "config.json"),
    "an odd batch_first": (lambda v: v.update(batch_first=1), "batch_first must be true or false"),
}


@pytest.mark.parametrize("name", ODD_VALUES)
def test_odd_values_are_refused(tmp_path: Path, name: str) -> None:
    make_net().save_pretrained(tmp_path)
    change, told = ODD_VALUES[name]
    changed(tmp_path, change)
    with pytest.raises(ValueError, match=told):
        NTM.from_pretrained(tmp_path)


@settings(max_examples=60)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=5,
    ),
    st.sampled_from(
        ["config", "batch_first", "backward_clip", "shifts", "controller", "head_gain"]
    ),
)
def test_whatever_a_config_holds_it_loads_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, value: object, key: str
) -> None:
    folder = tmp_path_factory.mktemp("odd")
    make_net().save_pretrained(folder)
    owner = "initialisation" if key == "head_gain" else "config"
    changed(folder, lambda v: (v if key in v else v[owner]).update({key: value}))
    told = ""
    try:
        NTM.from_pretrained(folder)
    except ValueError as error:
        told = str(error)
    assert not told or "config.json" in told


def test_a_torn_or_missing_weights_file_is_refused(tmp_path: Path) -> None:
    make_net().save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    whole = file.read_bytes()
    for content in (b"", whole[:7], whole[: len(whole) // 2], whole[:-1], b"{}" * 50):
        file.write_bytes(content)
        with pytest.raises(ValueError, match=r"not a safetensors file, or it is damaged"):
            NTM.from_pretrained(tmp_path)
    file.unlink()
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors does not exist"):
        NTM.from_pretrained(tmp_path)


def test_an_empty_tensor_of_an_impossible_size_is_refused(tmp_path: Path) -> None:
    make_net("defaults").save_pretrained(tmp_path)
    tensor = {"dtype": "F32", "shape": [0, 2**63], "data_offsets": [0, 0]}
    header = json.dumps({"start.memory": tensor}).encode()
    file = tmp_path / "model.safetensors"
    file.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(ValueError, match=r"not a safetensors file, or it is damaged: .*\.$"):
        NTM.from_pretrained(tmp_path)


def test_weights_of_other_names_shapes_or_dtypes_are_refused(tmp_path: Path) -> None:
    make_net().save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    whole = load_file(file)
    bias = whole["cell.output.bias"]
    for weights, told in (
        (whole | {"more": bias.clone()}, "more must be absent"),
        (
            {n: t for n, t in whole.items() if n != "start.reads"},
            r"start.reads must be .*, got nothing",
        ),
        (whole | {"cell.output.bias": bias[:1]}, r"cell.output.bias must be \(2,\), got \(1,\)"),
        (whole | {"cell.output.bias": bias.float()}, "one floating-point dtype"),
        ({n: t.long() for n, t in whole.items()}, "one floating-point dtype, got torch.int64"),
        (whole | {"start.hidden": bias.new_ones(1, 7)}, "start.hidden must be absent"),
        (whole | {"more": bias.new_empty(0, 7)}, "more must be absent"),
        ({}, "far larger network"),
    ):
        save_file({name: tensor.clone() for name, tensor in weights.items()}, file)
        with pytest.raises(ValueError, match=told):
            NTM.from_pretrained(tmp_path)
    save_file({name: tensor.half() for name, tensor in whole.items()}, file)
    with pytest.raises(TypeError, match="must be float32, float64 or bfloat16"):
        NTM.from_pretrained(tmp_path)


def test_the_state_of_an_lstm_controller_is_not_left_out(tmp_path: Path) -> None:
    make_net("lstm").save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    whole = load_file(file)
    for name in ("start.hidden", "start.cell"):
        for rest in ({}, {name: whole[name].new_empty(0, whole[name].shape[1])}):
            weights = {n: t.clone() for n, t in whole.items() if n != name} | rest
            save_file(weights, file)
            with pytest.raises(ValueError, match=rf"{name} must be \(1, \d+\), got nothing"):
                NTM.from_pretrained(tmp_path)


def test_the_hub_without_its_package_is_refused_with_the_command_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    install = r"pip install 'neural-turing-machines\[hub\]'"
    with pytest.raises(FileNotFoundError, match=f"There is no folder org/name, .*{install}"):
        NTM.from_pretrained("org/name")
    with pytest.raises(ImportError, match=install):
        make_net().push_to_hub("org/name")
    with pytest.raises(ValueError, match="revision is for a repository on the hub"):
        NTM.from_pretrained(tmp_path, revision="main")

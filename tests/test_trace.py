import dataclasses
import inspect
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import save_file
from torch import Tensor

from ntm import NTM, NTMConfig, Trace
from ntm.description import TraceArray, describe

from . import slow_reference as slow
from .slow_reference import ENGINES, OPTIONS, SIZES, make_net, randn, some_examples

STEPS, BATCH = 5, 3
LENGTHS = [5, 0, 3]

every_engine = pytest.mark.parametrize("engine", ENGINES)
every_option = pytest.mark.parametrize("option", OPTIONS)


def shapes(config: NTMConfig) -> dict[str, tuple[int, ...]]:
    """Return the shapes in the documentation of Trace, for T = 5 and B = 3."""
    n, m, s = config.memory_locations, config.memory_width, len(config.shifts)
    r, w = config.read_heads, config.write_heads
    per_step = {
        "inputs": (config.input_size,),
        "outputs": (config.output_size,),
        "hidden": (config.controller_size,),
        "reads": (r, m),
        "erases": (w, m),
        "adds": (w, m),
        "memory": (n, m),
    }
    for kind, heads in (("read", r), ("write", w)):
        per_step |= {f"{kind}_{name}": (heads,) for name in ("strengths", "gates", "sharpness")}
        per_step |= {f"{kind}_keys": (heads, m), f"{kind}_shifts": (heads, s)}
        for name in ("content", "gated", "shifted", "weightings"):
            per_step[f"{kind}_{name}"] = (heads, n)
    return {"lengths": (BATCH,)} | {k: (STEPS, BATCH, *shape) for k, shape in per_step.items()}


def arrays_of(trace: Trace) -> dict[str, NDArray]:
    return trace.named()


def traced(option: str, engine: str, **arguments: object) -> tuple[NTM, Tensor, Trace]:
    net, x = make_net(option, engine), randn(STEPS, BATCH, SIZES["input_size"])
    return net, x, net.trace(x, **arguments)


def small_trace() -> Trace:
    return traced("more-write-heads", "native", lengths=LENGTHS, memory=True)[2]


def assert_same_bits(actual: Trace, expected: Trace) -> None:
    assert actual.shifts == expected.shifts
    ours, theirs = arrays_of(actual), arrays_of(expected)
    assert ours.keys() == theirs.keys()
    for name, array in theirs.items():
        assert (ours[name].dtype, ours[name].shape) == (array.dtype, array.shape), name
        assert ours[name].tobytes() == array.tobytes(), name


def assert_close(actual: Trace, expected: Trace) -> None:
    ours, theirs = arrays_of(actual), arrays_of(expected)
    assert ours.keys() == theirs.keys()
    for name, array in theirs.items():
        np.testing.assert_allclose(ours[name], array, rtol=1e-9, atol=1e-11, err_msg=name)


@every_engine
@every_option
def test_names_and_shapes(option: str, engine: str) -> None:
    net, _, trace = traced(option, engine, memory=True)
    assert trace.shifts == net.config.shifts
    assert {name: array.shape for name, array in arrays_of(trace).items()} == shapes(net.config)
    drawn = {"targets", "mask", "optimal", "about"}
    fields = {field.name for field in dataclasses.fields(Trace)} - {"described", "arrays"}
    assert fields | trace.arrays.keys() == {"shifts", *shapes(net.config)} | drawn
    described = describe(net.config)
    assert trace.described == described.arrays
    for array in described.arrays:
        assert getattr(trace, array.name).shape[2:] == described.shape(array)


@every_engine
@every_option
def test_a_trace_is_what_forward_computes(option: str, engine: str) -> None:
    net, x, trace = traced(option, engine, lengths=LENGTHS, memory=True)
    logits, state = net(x, lengths=LENGTHS)
    assert np.array_equal(trace.outputs, logits.detach().numpy())
    assert np.array_equal(trace.inputs, x.numpy())
    assert trace.lengths.tolist() == LENGTHS
    for index, steps in enumerate(LENGTHS):
        if steps:
            for recorded, final in (
                (trace.memory, state.memory),
                (trace.reads, state.reads),
                (trace.read_weightings, state.read_weightings),
                (trace.write_weightings, state.write_weightings),
            ):
                assert np.array_equal(recorded[steps - 1, index], final[index].detach().numpy())


@every_engine
@every_option
def test_each_array_follows_from_the_others(option: str, engine: str) -> None:
    """Check the equations on the recorded values alone; weightings feed the next step."""
    net, _, trace = traced(option, engine, memory=True)
    start = net.initial_state(BATCH)
    before = np.concatenate([start.memory.detach().numpy()[None], trace.memory[:-1]])
    for kind, memory, first in (
        ("write", before, start.write_weightings),
        ("read", trace.memory, start.read_weightings),
    ):
        recorded = {name: getattr(trace, f"{kind}_{name}") for name in ("weightings", "gated")}
        past = np.concatenate([first.detach().numpy()[None], recorded["weightings"][:-1]])
        for t, b, h in np.ndindex(recorded["gated"].shape[:3]):
            values = ("keys", "strengths", "gates", "shifts", "sharpness")
            head = [getattr(trace, f"{kind}_{name}")[t, b, h].tolist() for name in values]
            links = slow.address(
                slow.Head(*head, erase=[], add=[]),
                memory[t, b].tolist(),
                past[t, b, h].tolist(),
                trace.shifts,
            )
            for name, link in zip(
                ("content", "gated", "shifted", "weightings"), links, strict=True
            ):
                actual = getattr(trace, f"{kind}_{name}")[t, b, h]
                np.testing.assert_allclose(actual, link, rtol=1e-9, atol=1e-11, err_msg=name)
    written = np.einsum("tbwn,tbwm->tbnm", trace.write_weightings, trace.adds)
    gates = 1 - trace.write_weightings[..., None] * trace.erases[..., None, :]
    np.testing.assert_allclose(
        trace.memory, before * gates.prod(2) + written, rtol=1e-9, atol=1e-11
    )
    np.testing.assert_allclose(trace.reads, trace.read_weightings @ trace.memory, rtol=1e-9)
    features = np.concatenate([trace.hidden, trace.reads.reshape(STEPS, BATCH, -1)], axis=2)
    outputs = net.cell.output(torch.from_numpy(features)).detach().numpy()
    np.testing.assert_allclose(trace.outputs, outputs, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("lengths", [None, LENGTHS])
@every_option
def test_both_engines_record_the_same(option: str, lengths: list[int] | None) -> None:
    _, _, reference = traced(option, "reference", lengths=lengths, memory=True)
    _, _, native = traced(option, "native", lengths=lengths, memory=True)
    assert_close(native, reference)


@every_engine
def test_a_trace_goes_on_from_a_state(engine: str) -> None:
    net, x, whole = traced("lstm", engine, memory=True)
    _, state = net(x[:2])
    rest = net.trace(x[2:], state, memory=True)
    for name, array in arrays_of(rest).items():
        if name != "lengths":
            np.testing.assert_allclose(array, getattr(whole, name)[2:], rtol=1e-9, err_msg=name)


@every_engine
def test_memory_is_recorded_on_request_only(engine: str) -> None:
    net, x, trace = traced("defaults", engine)
    assert trace.memory is None
    with_memory = net.trace(x, memory=True)
    assert with_memory.memory is not None
    assert_same_bits(dataclasses.replace(with_memory, memory=None), trace)


@every_engine
@every_option
def test_what_lies_beyond_a_length_is_zero(option: str, engine: str) -> None:
    net, x, _ = traced(option, engine)
    trace = net.trace(x, lengths=LENGTHS, memory=True)
    for name, array in arrays_of(trace).items():
        if name not in {"lengths", "inputs"}:
            for index, steps in enumerate(LENGTHS):
                assert not array[steps:, index].any(), name
                assert array[:steps, index].any() or steps == 0, name


@every_engine
def test_time_comes_first_whatever_the_input(engine: str) -> None:
    _, x, trace = traced("defaults", engine)
    swapped = make_net("defaults", engine, batch_first=True)
    assert_close(swapped.trace(x.transpose(0, 1)), trace)


@every_engine
def test_tracing_leaves_no_gradient_behind(engine: str) -> None:
    net = make_net("defaults", engine)
    x = randn(STEPS, BATCH, SIZES["input_size"]).requires_grad_()
    net.trace(x)
    assert torch.is_grad_enabled()
    assert all(parameter.grad is None for parameter in (x, *net.parameters()))


@every_engine
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_arrays_have_the_precision_of_the_network(engine: str, dtype: torch.dtype) -> None:
    net = make_net("defaults", engine, dtype=dtype)
    trace = net.trace(randn(STEPS, BATCH, SIZES["input_size"]).to(dtype))
    expected = torch.empty(0, dtype=dtype).numpy().dtype
    kinds = {name: array.dtype for name, array in arrays_of(trace).items()}
    assert kinds.pop("lengths") == np.int64
    assert set(kinds.values()) == {expected}


def test_bfloat16_is_recorded_as_single_precision() -> None:
    net = make_net("defaults", dtype=torch.bfloat16)
    x = randn(STEPS, BATCH, SIZES["input_size"]).bfloat16()
    trace = net.trace(x)
    assert trace.outputs.dtype == np.float32
    assert np.array_equal(trace.outputs, net(x)[0].detach().float().numpy())


@every_engine
@every_option
def test_one_sequence_is_the_trace_of_that_sequence_alone(option: str, engine: str) -> None:
    net, x, trace = traced(option, engine, lengths=LENGTHS, memory=True)
    for index, steps in enumerate(LENGTHS):
        one = trace.sequence(index)
        assert one.lengths.tolist() == [steps]
        assert one.outputs.shape == (steps, 1, SIZES["output_size"])
        if steps:
            assert_close(one, net.trace(x[:steps, index : index + 1], memory=True))


@pytest.mark.parametrize("index", [-1, BATCH])
def test_a_sequence_that_is_not_there_is_refused(index: int) -> None:
    with pytest.raises(ValueError, match=rf"index must be from 0 to {BATCH - 1}.*got {index}\."):
        small_trace().sequence(index)


@some_examples
@given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=7))
def test_probabilities_are_the_sigmoid_of_the_outputs(outputs: list[float]) -> None:
    trace = dataclasses.replace(small_trace(), outputs=np.array(outputs).reshape(-1, 1, 1))
    expected = [slow.sigmoid(value) if value > -700 else 0.0 for value in outputs]
    np.testing.assert_allclose(trace.probabilities.ravel(), expected, rtol=1e-12, atol=1e-300)


@every_engine
@every_option
@pytest.mark.parametrize("memory", [False, True])
def test_saving_and_loading_keeps_every_bit(
    option: str, engine: str, memory: bool, tmp_path: Path
) -> None:
    _, _, trace = traced(option, engine, lengths=LENGTHS, memory=memory)
    trace.save(tmp_path / "trace.npz")
    assert_same_bits(Trace.load(tmp_path / "trace.npz"), trace)


def test_what_was_asked_is_saved_too(tmp_path: Path) -> None:
    trace = small_trace()
    asked = {"targets": np.round(trace.probabilities), "mask": np.ones((STEPS, BATCH))}
    about = {"title": "a title", "config": {"heads": 2, "shifts": [-1, 0]}}
    told = dataclasses.replace(trace, **asked, optimal=trace.probabilities, about=about)
    told.save(tmp_path / "trace")  # under exactly this name
    again = Trace.load(tmp_path / "trace")
    assert_same_bits(again, told)
    assert again.about == about
    assert again.sequence(2).about == about
    assert np.array_equal(again.sequence(2).targets, asked["targets"][:3, 2:])


def test_numpy_alone_reads_a_saved_trace(tmp_path: Path) -> None:
    trace = small_trace()
    trace.save(tmp_path / "trace.npz")
    with np.load(tmp_path / "trace.npz", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["read_weightings"], trace.read_weightings)
        assert arrays["shifts"].tolist() == list(trace.shifts)


def test_a_network_without_memory_has_a_trace_without_heads(tmp_path: Path) -> None:
    inputs, outputs = np.ones((4, 2, 3)), np.zeros((4, 2, 5))
    trace = Trace(lengths=np.full(2, 4), inputs=inputs, outputs=outputs, described=())
    assert trace.weightings("read").shape == trace.vectors("write").shape == (4, 2, 0, 0)
    assert trace.memory is None
    trace.save(tmp_path / "trace")
    assert_same_bits(Trace.load(tmp_path / "trace"), trace)


def test_saving_keeps_what_is_not_a_number_and_what_is_cut(tmp_path: Path) -> None:
    trace = small_trace()
    outputs = trace.outputs.copy()
    outputs[0, 0] = [np.nan, -0.0]
    odd = dataclasses.replace(trace, outputs=outputs)
    for index, kept in enumerate((odd, odd.sequence(0), odd.sequence(1))):
        path = tmp_path / str(index)
        kept.save(path)
        assert_same_bits(Trace.load(path), kept)


def test_a_torn_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "trace.npz"
    small_trace().save(path)
    whole = path.read_bytes()
    for size in (0, 1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"trace\.npz is not a trace, or it is damaged"):
            Trace.load(path)
    middle = len(whole) // 2
    path.write_bytes(whole[:middle] + bytes(9) + whole[middle + 9 :])
    with pytest.raises(ValueError, match=r"trace\.npz is not a trace, or it is damaged"):
        Trace.load(path)


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text('{"not": "a trace"}' * 9)
    with pytest.raises(ValueError, match="is not a trace, or it is damaged"):
        Trace.load(path)
    with path.open("wb") as file:
        np.savez(file, weight=np.zeros(3))
    with pytest.raises(ValueError, match="file is not a trace in the format 'ntm-trace-2'"):
        Trace.load(path)


def test_traces_that_earlier_versions_saved_are_still_read(tmp_path: Path) -> None:
    """They are safetensors files, with the shifts in their metadata."""
    path, trace = tmp_path / "file", small_trace()
    ours = {name: np.ascontiguousarray(array) for name, array in arrays_of(trace).items()}
    less = {name: array for name, array in ours.items() if name != "adds"}
    metadata = {"format": "ntm-trace-1", "shifts": str([*trace.shifts])}
    for arrays, said in (
        (ours, None),
        (ours, metadata | {"format": "ntm-trace-0"}),
        (ours, {"format": "ntm-trace-1"}),
        (less, metadata),
        (ours | {"more": np.zeros(3)}, metadata),
        ({"weight": np.zeros(3)}, None),
    ):
        save_file(arrays, path, metadata=said)
        with pytest.raises(ValueError, match="file is not a trace in the format 'ntm-trace-2'"):
            Trace.load(path)
    save_file(ours, path, metadata=metadata)
    assert_same_bits(Trace.load(path), trace)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Trace.load(tmp_path / "nowhere")


def test_a_file_is_read_up_to_the_size_that_is_allowed(tmp_path: Path) -> None:
    trace, file = small_trace(), tmp_path / "trace.npz"
    trace.save(file)
    with zipfile.ZipFile(file) as archive:
        size = sum(member.file_size for member in archive.infolist())
    assert_same_bits(Trace.load(file, at_most=size), trace)
    with pytest.raises(
        ValueError, match=f"unpacks to {size:,} bytes, more than at_most={size - 1:,}"
    ):
        Trace.load(file, at_most=size - 1)
    assert (
        inspect.signature(Trace.load).parameters["at_most"].default == 1_073_741_824
    )  # a gigabyte


def test_facts_that_json_does_not_know_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "trace.npz"
    dataclasses.replace(small_trace(), about={"bits": float("nan")}).save(file)
    with pytest.raises(ValueError, match="JSON has no number NaN"):
        Trace.load(file)


def test_an_array_whose_header_says_another_size_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "trace.npz"
    small_trace().save(file)
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    whole = members["lengths.npy"]
    for content, reason in (
        (whole.replace(b"(3,)", b"(4,)"), "size that does not match its shape"),
        (whole[:-8], "size that does not match its shape"),
        (whole[:6] + b"\x02\x00" + whole[8:10] + b"\x00\x00" + whole[10:], "as numpy saves them"),
    ):
        with zipfile.ZipFile(file, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, content if name == "lengths.npy" else data)
        with pytest.raises(ValueError, match=reason):
            Trace.load(file)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("outputs", lambda array: array.astype(np.int64)),
        ("lengths", lambda array: array.astype(np.float32)),
        ("shifts", lambda array: array.astype(np.float32)),
        ("inputs", lambda array: array[..., 0]),
        ("keys", lambda array: array[:-1]),
        ("lengths", lambda array: array + STEPS),
        ("lengths", lambda array: array * 0 - 1),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(
    name: str, change: Callable[[Any], Any], tmp_path: Path
) -> None:
    path = tmp_path / "trace.npz"
    small_trace().save(path)
    with np.load(path) as file:
        arrays = dict(file)
    kept = next(key for key in arrays if key.endswith(name))
    np.savez(path, **arrays | {kept: change(arrays[kept])})
    with pytest.raises(ValueError, match=r"trace\.npz is not a trace"):
        Trace.load(path)


def test_a_long_list_of_members_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "trace.npz"
    trace = small_trace()
    trace.save(file)
    content = file.read_bytes()
    long = (20_000).to_bytes(4, "little")
    for damaged in (
        content[:-10] + long + content[-6:],
        content[:-22] + b"PK\6\7" + bytes(16) + content[-22:],
        content[:-2] + b"\3\0zip",
        b"PK",
    ):
        file.write_bytes(damaged)
        with pytest.raises(ValueError, match="not a trace"):
            Trace.load(file)
    trace.save(file)
    with zipfile.ZipFile(file, "a") as archive:
        for number in range(300):
            archive.writestr(f"{number}.npy", content)
    with pytest.raises(ValueError, match="lists other things"):
        Trace.load(file)


def test_facts_are_few(tmp_path: Path) -> None:
    file = tmp_path / "trace.npz"
    dataclasses.replace(small_trace(), about={"title": "long" * 100_000}).save(file)
    with pytest.raises(ValueError, match="unpacks to 1,600,"):
        Trace.load(file)


def test_an_old_trace_is_bounded_too(tmp_path: Path) -> None:
    file = tmp_path / "trace"
    file.write_bytes(b"x" * 1000)
    with pytest.raises(ValueError, match="unpacks to 1,000 bytes"):
        Trace.load(file, at_most=999)


USAGE = TraceArray("usage", ("location",), "usage")
OTHER = (
    USAGE,
    TraceArray("store", ("location", "width"), "memory", "memory"),
    TraceArray("gate", ("write head",), "gate"),
    TraceArray("found", ("read head", "location"), "weighting", "weighting"),
    TraceArray("key", ("read head", "width"), "key", "vector"),
    TraceArray("said", ("read head", "width"), "read", "vector"),
)


def other_trace(**changes: Any) -> Trace:
    """Return the trace of a machine that is not an NTM: 7 locations of 3 values, 2 read heads."""
    sizes = {"usage": (7,), "store": (7, 3), "gate": (1,), "found": (2, 7)}
    sizes |= {"key": (2, 3), "said": (2, 3)}
    arrays = {name: randn(4, 2, *shape).numpy() for name, shape in sizes.items()}
    problem = {"lengths": np.array([4, 2]), "inputs": np.ones((4, 2, 5))}
    return Trace(**problem, outputs=np.ones((4, 2, 1)), described=OTHER, arrays=arrays | changes)


def test_another_machine_records_its_own_arrays(tmp_path: Path) -> None:
    trace = other_trace()
    assert trace.usage.shape == (4, 2, 7)
    assert trace.memory is trace.store
    assert trace.weightings("read") is trace.found
    assert trace.vectors("read") is trace.said  # the last one
    assert trace.weightings("write").shape == (4, 2, 0, 0)
    assert "usage" in dir(trace)
    assert "usage=(4, 2, 7)" in repr(trace)
    assert trace.sequence(1).usage.shape == (2, 1, 7)
    for kept in (trace, dataclasses.replace(trace, store=None)):
        kept.save(tmp_path / "trace.npz")
        again = Trace.load(tmp_path / "trace.npz")
        assert again.described == OTHER
        assert again.about == {}
        assert_same_bits(again, kept)


def test_an_array_must_be_described() -> None:
    with pytest.raises(ValueError, match=r"links is not an array of this trace; describe it"):
        other_trace(links=np.ones((4, 2, 7)))
    with pytest.raises(ValueError, match=r"usage must have 3 axes, got the shape \(4, 2\)"):
        other_trace(usage=np.ones((4, 2)))
    with pytest.raises(AttributeError, match=r"no read_weightings\. It has usage, store"):
        other_trace().read_weightings  # noqa: B018
    taken = (TraceArray("weightings", ("location",), "a method"),)
    with pytest.raises(ValueError, match="needs another name than weightings"):
        Trace(lengths=np.ones(1), inputs=np.ones(1), outputs=np.ones(1), described=taken)


@pytest.mark.parametrize(
    "arrays",
    [
        [{"name": "usage", "axes": ["location"], "label": "usage", "role": "?"}],
        [{"name": "usage", "axes": ["location"], "label": 3}],
        [{"name": "lengths", "axes": ["location"], "label": "usage"}],
        [{"name": "usage", "axes": ["location"], "label": "usage", "more": 1}],
        [{"name": "usage", "axes": ["place"], "label": "usage", "role": "weighting"}],
        {"usage": 3},
        "usage",
        [[]],
    ],
)
def test_a_hostile_description_is_refused(arrays: Any, tmp_path: Path) -> None:
    file = tmp_path / "trace.npz"
    dataclasses.replace(small_trace(), about={"described": arrays}).save(file)
    with pytest.raises(ValueError, match="trace"):
        Trace.load(file)

"""Subclasses and edited networks: what comes back as it was, and what is refused."""

import copy
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.utils import prune

from ntm import NTM, LSTMBaseline, State

from .slow_reference import ENGINES, make_net, randn
from .slow_reference import SIZES as MADE

INPUTS, N, STEPS, BATCH = MADE["input_size"], MADE["memory_locations"], 5, 3
every_engine = pytest.mark.parametrize("engine", ENGINES)
SIZES: dict[str, Any] = {"controller_size": 5, "memory_locations": 7, "memory_width": 3}
CONTROLLERS = ("feedforward", "lstm")


class Sig(NTM):
    """An NTM with outputs of its own, a start of its own, and further tensors."""

    def __init__(self, *sizes: Any, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.gain = nn.Parameter(torch.full((1,), 1.5))
        self.register_buffer("calls", torch.tensor(3))
        self.register_buffer("sign", torch.tensor(-1.0), persistent=False)
        self.register_forward_hook(shifted)

    def forward(self, *args: Any, **options: Any) -> tuple[Tensor, State]:
        logits, state = super().forward(*args, **options)
        return torch.sigmoid(logits) * self.gain * self.sign, state

    def initial_state(self, batch_size: int) -> State:
        start = super().initial_state(batch_size)
        return start._replace(memory=start.memory + 0.25)


def shifted(_: nn.Module, __: Any, output: Any) -> Any:
    return output[0] + 10, output[1]


class Plain(NTM):
    """A subclass without tensors of its own."""

    def forward(self, *args: Any, **options: Any) -> tuple[Tensor, State]:
        logits, state = super().forward(*args, **options)
        return -logits, state


class Other(NTM):
    """A subclass with an __init__ of its own."""

    def __init__(self, width: int) -> None:
        super().__init__(width, 2, **SIZES)


def sig(controller: str, engine: str) -> Sig:
    torch.manual_seed(4)
    net = Sig(INPUTS, 2, controller=controller, engine=engine, **SIZES)
    with torch.no_grad():
        net.gain.fill_(2.5)
    net.calls.fill_(9)
    return net


def saved_and_loaded(net: NTM, folder: Path) -> NTM:
    net.save_pretrained(folder)
    return type(net).from_pretrained(folder, engine=net.engine)


WAYS: dict[str, Callable[[NTM, Path], NTM]] = {
    "saved": saved_and_loaded,
    "resized": lambda net, _: net.resized(net.config.memory_locations),
    "deepcopy": lambda net, _: copy.deepcopy(net),
    "copy": lambda net, _: copy.copy(net),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("controller", CONTROLLERS)
@every_engine
def test_a_subclass_comes_back_with_all_that_belongs_to_it(
    tmp_path: Path, way: str, controller: str, engine: str
) -> None:
    net = sig(controller, engine)
    again = WAYS[way](net, tmp_path)
    assert type(again) is Sig
    assert list(again.state_dict()) == list(net.state_dict())
    assert (again.calls.item(), again.gain.item(), again.sign.item()) == (9, 2.5, -1)
    x = randn(STEPS, BATCH, INPUTS).float()
    for ours, theirs in zip((again(x)[0], *again(x)[1]), (net(x)[0], *net(x)[1]), strict=True):
        assert torch.equal(ours, theirs)


@every_engine
def test_a_larger_subclass_has_hooks_flags_mode_and_further_tensors(engine: str) -> None:
    net = sig("lstm", engine).eval()
    seen = []
    net.cell.output.register_forward_hook(lambda *_: seen.append(1))
    net.engine = "reference"  # hooks inside
    net.gain.requires_grad_(False)
    net.start.reads.requires_grad_(False)
    net(randn(STEPS, BATCH, INPUTS).float())[0].sum().backward()
    larger = net.resized(11)
    assert (type(larger), larger.training, larger.config.memory_locations) == (Sig, False, 11)
    flags = {name: p.requires_grad for name, p in larger.named_parameters()}
    assert flags == {name: p.requires_grad for name, p in net.named_parameters()}
    assert all(parameter.grad is None for parameter in larger.parameters())
    seen.clear()
    logits, state = larger(randn(STEPS, BATCH, INPUTS).float())
    assert len(seen) == STEPS
    assert logits.min() > 5  # the hook of the network itself
    assert state.memory.shape == (BATCH, 11, 3)


def test_a_packaged_network_loads_as_a_subclass() -> None:
    net = Plain.from_pretrained("copy-ff")
    assert type(net) is Plain
    x = torch.rand(4, 2, net.config.input_size)
    assert torch.equal(net(x)[0], -NTM.from_pretrained("copy-ff")(x)[0])


def test_from_config_makes_the_subclass() -> None:
    config = make_net().config
    assert type(Sig.from_config(config)) is Sig


# Refusals


def test_a_packaged_network_lacks_the_parameters_of_a_subclass() -> None:
    with pytest.raises(ValueError, match=r"are not of Sig: calls must be \(\), got nothing"):
        Sig.from_pretrained("copy-ff")


def test_another_init_needs_a_from_config_of_its_own() -> None:
    class Wide(LSTMBaseline):
        def __init__(self, width: int) -> None:
            super().__init__(width, 2)

    told = r"from_config calls \w+\(input_size, .* its own from_config"
    for kind, config in ((Other, make_net().config), (Wide, LSTMBaseline(3, 2).config)):
        with pytest.raises(TypeError, match=told):
            kind.from_config(config)


class Halved(NTM):
    """A subclass that changes what it gets."""

    def __init__(self, *sizes: Any, memory_width: int = 4, **options: Any) -> None:
        super().__init__(*sizes, memory_width=max(1, memory_width // 2), **options)


def test_an_init_that_changes_sizes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"Halved.from_config must .* changes memory_width"):
        Halved.from_config(make_net().config)


class Scaled(NTM):
    """A subclass with an argument that no config has."""

    def __init__(self, *sizes: Any, scale: float = 1.0, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.scale = scale
        self.dropout = nn.Dropout(scale / 10)


class Located(NTM):
    """A subclass with a parameter for every location."""

    def __init__(self, *sizes: Any, memory_locations: int = 7, **options: Any) -> None:
        super().__init__(*sizes, memory_locations=memory_locations, **options)
        self.place = nn.Parameter(torch.zeros(memory_locations))


class Measured(NTM):
    """A subclass that looks at values while it is built."""

    def __init__(self, *sizes: Any, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.largest = self.cell.output.weight.max().item()


def with_hook(net: NTM) -> NTM:
    net.cell.heads.register_forward_pre_hook(lambda *_: None)
    return net


def hooked(net: NTM) -> NTM:
    net.register_forward_hook(shifted)
    return net


def with_own(name: str, net: NTM) -> NTM:
    before = getattr(net, name)

    def own(*args: Any, **options: Any) -> Any:
        return before(*args, **options)

    setattr(net, name, own)
    return net


def replaced(net: NTM) -> NTM:
    class Louder(nn.Linear):
        def forward(self, x: Tensor) -> Tensor:
            return 2 * super().forward(x)

    linear = net.cell.output
    net.cell.output = Louder(linear.in_features, linear.out_features)
    return net


NOT_SAVED = {
    "hook": (lambda: with_hook(make_net()), "cell.heads has hooks"),
    "hook on top": (lambda: hooked(make_net()), "The network has hooks"),
    "own start": (lambda: with_own("initial_state", make_net()), "has its own initial_state"),
    "own forward": (lambda: with_own("forward", make_net()), "has its own forward"),
    "another linear map": (lambda: replaced(make_net()), "cell.output is a Louder, put there"),
    "another argument": (
        lambda: Scaled(3, 2, scale=2.0, **SIZES),
        "has scale=2.0, where its config gives 1.0",
    ),
    "looks at values": (lambda: Measured(3, 2, **SIZES), "Measured cannot be built on the meta"),
}


@pytest.mark.parametrize("name", NOT_SAVED)
def test_what_a_folder_cannot_hold_is_not_saved(tmp_path: Path, name: str) -> None:
    make, told = NOT_SAVED[name]
    with pytest.raises(ValueError, match=told):
        make().save_pretrained(tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_an_argument_inside_a_module_is_not_lost_either(tmp_path: Path) -> None:
    net = Scaled(3, 2, **SIZES)
    net.dropout.p = 0.9
    with pytest.raises(ValueError, match=r"dropout has p=0.9, where its config gives 0.1"):
        net.save_pretrained(tmp_path)


@every_engine
def test_an_own_start_of_one_network_is_not_resized(engine: str) -> None:
    net = with_own("initial_state", make_net("defaults", engine))
    with pytest.raises(ValueError, match=r"The network has its own initial_state, .* subclass"):
        net.resized(N + 1)


def test_a_method_that_is_bound_to_the_network_is_resized() -> None:
    net = make_net()
    net.initial_state = types.MethodType(Sig.initial_state, Sig(INPUTS, 2, **SIZES))
    with pytest.raises(ValueError, match="belongs to this network alone"):
        net.resized(N + 1)
    twin = Plain(INPUTS, 2, **SIZES)
    twin.initial_state = types.MethodType(started, twin)
    larger = twin.resized(9)
    assert larger.initial_state(1).memory.shape == (1, 9, 3)


def started(net: NTM, batch_size: int) -> State:
    return net.start(batch_size)


def test_a_tensor_that_depends_on_the_locations_needs_a_resized_of_its_own() -> None:
    with pytest.raises(ValueError, match="place of Located depends on memory_locations"):
        Located(3, 2, **SIZES).resized(9)


def test_pruned_weights_are_not_resized() -> None:
    net = make_net()
    prune.l1_unstructured(net.cell.output, "weight", amount=2)
    with pytest.raises(ValueError, match="The network cannot be copied"):
        net.resized(N + 1)


def test_a_network_is_loaded_as_the_class_that_was_saved(tmp_path: Path) -> None:
    Plain(3, 2, **SIZES).save_pretrained(tmp_path)
    for kind in (NTM, Sig, LSTMBaseline):
        told = rf"is of the class Plain, not {kind.__name__}; load it with Plain\.from_pretrained"
        with pytest.raises(ValueError, match=told):
            kind.from_pretrained(tmp_path)

    class Further(Plain):
        pass

    assert type(Further.from_pretrained(tmp_path)) is Further


def test_a_subclass_of_the_same_name_is_not_the_package_s_own(tmp_path: Path) -> None:
    base = NTM
    own = type("NTM", (base,), {"forward": Plain.forward})
    own(3, 2, **SIZES).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match=r"load it with NTM\.from_pretrained"):
        base.from_pretrained(tmp_path)
    assert type(own.from_pretrained(tmp_path)) is own


def test_a_subclass_loads_a_plain_network(tmp_path: Path) -> None:
    net = make_net().float()
    net.save_pretrained(tmp_path)
    loaded = Plain.from_pretrained(tmp_path, engine=net.engine)
    x = randn(STEPS, BATCH, INPUTS).float()
    assert torch.equal(loaded(x)[0], -net(x)[0])


# Defaults of torch


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    make_net("defaults", dtype=torch.float32).save_pretrained(tmp_path)
    return tmp_path


@pytest.mark.parametrize("packaged", [True, False])
def test_a_loaded_network_follows_its_file_and_not_torch_s_defaults(
    saved: Path, packaged: bool
) -> None:
    name = "copy-ff" if packaged else saved
    torch.set_default_dtype(torch.float64)
    try:
        with torch.device("meta"):
            net = NTM.from_pretrained(name)
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    kinds = {(p.dtype, p.device.type) for p in net.parameters()}
    assert kinds == {(torch.float32, "cpu")}
    assert all(torch.equal(p, q) for p, q in zip(net.parameters(), again(name), strict=True))


def again(name: Any) -> Any:
    return NTM.from_pretrained(name).parameters()


@pytest.mark.parametrize("packaged", [True, False])
def test_device_and_dtype_can_be_asked_for(saved: Path, packaged: bool) -> None:
    name = "copy-ff" if packaged else saved
    net = NTM.from_pretrained(name, dtype=torch.float64)
    assert {p.dtype for p in net.parameters()} == {torch.float64}
    there = NTM.from_pretrained(name, device="meta", dtype=torch.bfloat16)
    assert {(p.dtype, p.device.type) for p in there.parameters()} == {(torch.bfloat16, "meta")}
    with pytest.raises(TypeError, match="float32, float64 or bfloat16"):
        NTM.from_pretrained(name, dtype=torch.float16)


def test_saving_and_loading_do_not_import_torch_s_compiler(tmp_path: Path) -> None:
    script = f"""
import sys
from ntm import NTM, LSTMBaseline
NTM(3, 2, start_memory="random").save_pretrained({str(tmp_path / "a")!r})
LSTMBaseline(3, 2, 4, 1).save_pretrained({str(tmp_path / "b")!r})
NTM.from_pretrained({str(tmp_path / "a")!r}), LSTMBaseline.from_pretrained({str(tmp_path / "b")!r})
NTM.from_pretrained("copy-ff")
print([name for name in sys.modules if name in ("torch._dynamo", "torch._inductor", "sympy")])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=True, text=True
    )
    # An older torch needs sympy to build any module without values.
    older = tuple(map(int, torch.__version__.split(".")[:2])) < (2, 13)
    assert done.stdout.strip() in ({"[]", "['sympy']"} if older else {"[]"})


def test_a_file_in_the_folder_is_told_from_nothing(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = saved / "model.safetensors"
    for name in (file, str(file)):
        with pytest.raises(FileNotFoundError, match=rf"is a file; name its folder, {saved}\."):
            NTM.from_pretrained(name)
    monkeypatch.chdir(saved)
    with pytest.raises(FileNotFoundError, match=r"safetensors is a file; name its folder, \."):
        NTM.from_pretrained("model.safetensors")

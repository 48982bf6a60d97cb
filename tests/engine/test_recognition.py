"""The native engine runs exactly the module tree that NTM builds; an edited tree runs as edited.

NTM_EDITED_TREES sets the number of random edits.
"""

import copy
import os
import random
import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.engine.comparison import distance, random_network
from torch import Tensor, nn
from torch.nn.utils import parametrizations, parametrize, prune

from ntm import NTM, engine

TREES = int(os.environ.get("NTM_EDITED_TREES", "120"))
LINEARS = ("controller.layers.0", "heads.linear", "output")


def network(controller: str = "feedforward", **options: Any) -> NTM:
    torch.manual_seed(0)
    return NTM(
        3,
        2,
        controller=controller,
        controller_size=7,
        memory_locations=11,
        memory_width=5,
        **options,
    )


def linear_of(net: NTM, name: str) -> nn.Linear:
    return net.cell.get_submodule(name)  # type: ignore[return-value]


def replace(net: NTM, name: str, module: nn.Module) -> None:
    parent, _, child = name.rpartition(".")
    net.cell.get_submodule(parent).add_module(child, module)


class Doubled(nn.Module):
    """A wrapper, as in LoRA: it adds something to the layer."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, values: Tensor) -> Tensor:
        return 2 * self.inner(values)


class OwnLinear(nn.Linear):
    def forward(self, values: Tensor) -> Tensor:
        return super().forward(values) + 1


class Squared(nn.Module):
    def forward(self, weight: Tensor) -> Tensor:
        return weight * weight


def wider(linear: nn.Linear) -> nn.Sequential:
    size = linear.out_features
    return nn.Sequential(linear, nn.ReLU(), nn.Linear(size, size))


def reshaped(net: NTM, name: str) -> None:
    old = linear_of(net, name)
    replace(net, name, nn.Linear(old.in_features + 1, old.out_features))


def without_bias(net: NTM, name: str) -> None:
    old = linear_of(net, name)
    replace(net, name, nn.Linear(old.in_features, old.out_features, bias=False))


def with_forward_of_its_own(net: NTM, name: str) -> None:
    linear = linear_of(net, name)
    usual = linear.forward
    linear.forward = lambda values: usual(values) - 1  # type: ignore[method-assign]


EDITS: dict[str, Callable[[NTM, str], Any]] = {
    "a Sequential that goes on": lambda net, n: replace(net, n, wider(linear_of(net, n))),
    "a ReLU behind": lambda net, n: replace(net, n, nn.Sequential(linear_of(net, n), nn.ReLU())),
    "dropout in front": lambda net, n: replace(
        net, n, nn.Sequential(nn.Dropout(), linear_of(net, n))
    ),
    "a wrapper": lambda net, n: replace(net, n, Doubled(linear_of(net, n))),
    "a subclass": lambda net, n: replace(
        net, n, OwnLinear(linear_of(net, n).in_features, linear_of(net, n).out_features)
    ),
    "another width": reshaped,
    "no bias": without_bias,
    "a forward of its own": with_forward_of_its_own,
    "a forward hook": lambda net, n: linear_of(net, n).register_forward_hook(lambda _m, _i, o: -o),
    "a hook in front": lambda net, n: linear_of(net, n).register_forward_pre_hook(
        lambda _m, inputs: (3 * inputs[0],)
    ),
    "a backward hook": lambda net, n: linear_of(net, n).register_full_backward_hook(
        lambda _m, gradients, _o: tuple(None if g is None else 0 * g for g in gradients)
    ),
    "weight norm": lambda net, n: parametrizations.weight_norm(linear_of(net, n)),
    # In evaluation mode, because in training mode every call changes the estimate of the norm.
    "spectral norm": lambda net, n: parametrizations.spectral_norm(
        linear_of(net, n)
    ).parametrizations.weight.eval(),
    "a parametrisation": lambda net, n: parametrize.register_parametrization(
        linear_of(net, n), "weight", Squared()
    ),
    "pruning": lambda net, n: prune.l1_unstructured(linear_of(net, n), "weight", amount=0.5),
    "a weight transposed in place": lambda net, n: setattr(
        linear_of(net, n).weight, "data", linear_of(net, n).weight.data.t()
    ),
    "a half of the heads' values": lambda net, _n: setattr(net.cell.heads, "read_values", 5),
    "a hook on the cell": lambda net, _n: net.cell.register_forward_hook(lambda *_: None),
    "a hook on the start": lambda net, _n: net.start.register_forward_hook(
        lambda _m, _i, o: type(o)(*(2 * part for part in o))
    ),
    "a start memory parametrised": lambda net, _n: parametrize.register_parametrization(
        net.start, "memory", Squared()
    ),
    "a start of another size": lambda net, _n: setattr(
        net.start, "memory", nn.Parameter(torch.zeros(12, 5))
    ),
}
# Edits that the reference engine may refuse too, with an error of torch.
IMPOSSIBLE = {
    "another width",
    "a weight transposed in place",
    "a half of the heads' values",
    "a start of another size",
}


def outcome(net: NTM, name: str, x: Tensor) -> list[Tensor] | str:
    """Return logits, final state and gradients of an engine, or the error that it raises."""
    net.engine = name
    torch.manual_seed(5)
    try:
        logits, final = net(x)
        loss = logits.square().sum() + final.memory.square().sum()
        used = torch.autograd.grad(loss, [*net.parameters()], allow_unused=True)
    except Exception as error:  # any error is an outcome, a crash is not
        return f"{type(error).__name__}: {error}"
    return [logits, *final, *(torch.zeros(0) if g is None or not g.numel() else g for g in used)]


def require_same(found: list[Tensor] | str, expected: list[Tensor] | str) -> None:
    if isinstance(expected, str):
        assert isinstance(found, str)
        return
    assert not isinstance(found, str), found
    for ours, theirs in zip(found, expected, strict=True):
        assert distance(ours, theirs) <= 1e-4 * (
            1 + theirs.abs().max().item() if theirs.numel() else 1
        )


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("name", LINEARS)
@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
def test_an_edited_network_runs_as_edited(controller: str, name: str, edit: str) -> None:
    net, x = network(controller), torch.randn(4, 3, 3)
    plain = outcome(net, "native", x)
    EDITS[edit](net, name)
    expected = outcome(net, "reference", x)
    assert isinstance(expected, list) or edit in IMPOSSIBLE
    refusal = outcome(net, "native", x)
    assert isinstance(refusal, str)
    assert "engine='reference'" in refusal
    assert engine.get("native").declines(net) is not None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        require_same(outcome(net, "auto", x), expected)
        outcome(net, "auto", x)
    said = [str(w.message) for w in caught if "native engine does not run" in str(w.message)]
    assert len(said) == 1
    if edit not in {"a backward hook", "a hook on the cell", *IMPOSSIBLE} and not isinstance(
        plain, str
    ):
        assert isinstance(expected, str) or not torch.equal(expected[0], plain[0])


def random_tree(chance: random.Random) -> NTM:
    """Return a network of random sizes with up to three random edits."""
    torch.manual_seed(chance.randrange(10**6))
    net = random_network(chance)
    if chance.random() < 0.5:
        net(torch.zeros(1, 1, net.config.input_size))  # now the engine remembers it unedited
    for _ in range(chance.randint(0, 3)):
        try:
            EDITS[chance.choice(list(EDITS))](net, chance.choice(LINEARS))
        except Exception:  # torch may refuse to edit a module twice
            continue
    return net.double()  # so that rounding does not matter


@pytest.mark.filterwarnings("ignore")
def test_randomly_edited_trees_agree_or_are_refused() -> None:
    chance = random.Random(int(os.environ.get("NTM_EDITED_SEED", "0")))
    ran = refused = 0
    for _ in range(TREES):
        net = random_tree(chance)
        x = torch.randn(chance.randint(1, 4), chance.randint(1, 3), net.config.input_size).double()
        expected = outcome(net, "reference", x)
        found = outcome(net, "native", x)
        if isinstance(found, str):
            refused += 1
            assert "engine='reference'" in found or isinstance(expected, str), found
        else:
            ran += 1
            require_same(found, expected)
        require_same(outcome(net, "auto", x), expected)
    assert ran > TREES // 10
    assert refused > TREES // 4


def of_another_class(net: NTM) -> None:
    net.cell.output.__class__ = OwnLinear


def with_other_attributes(net: NTM) -> None:
    net.cell.output.__dict__ = {
        **vars(net.cell.output),
        "forward": lambda h: torch.ones(len(h), 2),
    }


def with_other_children(net: NTM) -> None:
    net.__dict__["_modules"] = {**net._modules, "cell": nn.Identity()}


@pytest.mark.parametrize("edit", [of_another_class, with_other_attributes, with_other_children])
def test_what_torch_has_no_call_for_is_seen_too(edit: Callable[[NTM], None]) -> None:
    net, x = network(engine="native"), torch.randn(4, 3, 3)
    net(x)
    edit(net)
    with pytest.raises(RuntimeError, match="engine='reference'"):
        net(x)


def test_a_copy_of_a_network_that_has_run_has_weights_of_its_own() -> None:
    net, x = network(engine="native"), torch.randn(4, 3, 3)
    before, _ = net(x)
    twin = copy.deepcopy(net)
    with torch.no_grad():
        for parameter in twin.parameters():
            parameter.mul_(2)
    assert torch.equal(net(x)[0], before)
    assert not torch.equal(twin(x)[0], before)


def test_new_parameters_are_used_at_the_next_call() -> None:
    net, x = network(engine="native"), torch.randn(4, 3, 3)
    before, _ = net(x)
    net.cell.output.bias = nn.Parameter(torch.full((2,), 7.0))
    net.start.reads = nn.Parameter(net.start.reads.detach() + 1)
    logits, _ = net(x)
    logits.sum().backward()
    assert not torch.equal(logits, before)
    assert net.cell.output.bias.grad is not None
    assert net.start.reads.grad is not None


def test_tied_and_frozen_and_functional_weights_still_run_natively() -> None:
    net, x = network(engine="native"), torch.randn(4, 3, 3)
    net.cell.output.bias = nn.Parameter(torch.zeros(2))
    net.cell.heads.linear.requires_grad_(False)
    logits, _ = net(x)
    logits.sum().backward()
    assert net.cell.heads.linear.weight.grad is None
    values = {name: 2 * p.detach() for name, p in net.named_parameters()}
    doubled, _ = torch.func.functional_call(net, values, (x,))
    assert not torch.equal(doubled, logits)


def test_an_initial_state_of_the_users_own_is_used() -> None:
    class Ours(NTM):
        def initial_state(self, batch_size: int) -> Any:
            state = super().initial_state(batch_size)
            return state._replace(memory=state.memory + 1)

    torch.manual_seed(0)
    net, x = Ours(3, 2, memory_locations=11), torch.randn(4, 3, 3)
    expected = outcome(net, "reference", x)
    require_same(outcome(net, "native", x), expected)


def test_global_module_hooks_are_seen() -> None:
    net, x = network(engine="native"), torch.randn(4, 3, 3)
    handle = nn.modules.module.register_module_forward_hook(lambda *_: None)
    try:
        with pytest.raises(RuntimeError, match=r"global module hooks.*engine='reference'"):
            net(x)
    finally:
        handle.remove()
    net(x)


def test_training_takes_the_reference_engine_for_an_edited_network() -> None:
    from ntm.models import family_of
    from ntm.models.optimiser import GravesRMSprop
    from ntm.models.step import TorchStep

    net = network()
    net.cell.output.register_forward_hook(lambda *_: None)
    assert isinstance(family_of(net).step(net, GravesRMSprop(net.parameters())), TorchStep)


class OwnForward(NTM):
    def forward(self, *args: Any, **options: Any) -> Any:
        logits, state = super().forward(*args, **options)
        return 2 * logits, state


class OwnStart(NTM):
    def initial_state(self, batch_size: int) -> Any:
        state = super().initial_state(batch_size)
        return state._replace(memory=state.memory + 1)


def freeze_the_start(net: NTM) -> None:
    net.start.memory.requires_grad_(False)


def hook_the_network(net: NTM) -> None:
    net.register_forward_hook(lambda _module, _inputs, outputs: (2 * outputs[0], outputs[1]))


def replace_forward(net: NTM) -> None:
    forward = net.forward
    net.forward = lambda *args, **options: (2 * forward(*args, **options)[0], None)  # type: ignore[method-assign]


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        (OwnForward, lambda _: None),
        (OwnStart, lambda _: None),
        (NTM, freeze_the_start),
        (NTM, hook_the_network),
        (NTM, replace_forward),
    ],
)
def test_a_training_step_does_what_a_call_of_the_network_does(
    kind: type[NTM], change: Callable[[NTM], None]
) -> None:
    from ntm.models import family
    from ntm.models.optimiser import GravesRMSprop
    from ntm.tasks import Copy

    block = Copy(bits=2, max_length=4).sample(6, torch.Generator().manual_seed(1))
    costs, weights = [], []
    for name in ("reference", "auto"):
        torch.manual_seed(0)
        net = kind(3, 2, memory_locations=11, engine=name)
        change(net)
        step = family("ntm-ff").step(net, GravesRMSprop(net.parameters(), lr=1e-3))
        costs.append([step(block, 0, 3), step(block, 3, 6)])
        weights.append(torch.cat([parameter.flatten() for parameter in net.parameters()]))
    assert costs[1] == pytest.approx(costs[0], rel=1e-5)
    torch.testing.assert_close(weights[1], weights[0], rtol=1e-4, atol=1e-6)


def test_a_class_of_the_same_name_is_told_apart() -> None:
    net, linear = (
        network(engine="native"),
        type("Linear", (nn.Linear,), {"__module__": "peft.lora"}),
    )
    replace(net, "heads.linear", linear(7, net.cell.heads.linear.out_features))
    told = r"cell\.heads\.linear is a peft\.lora\.Linear, not a torch\.nn\.modules\.linear\.Linear"
    with pytest.raises(RuntimeError, match=told):
        net(torch.randn(4, 3, 3))


def test_the_warning_names_the_engine_and_the_line_of_the_caller() -> None:
    net = network()
    net.cell.output.register_forward_hook(lambda *_: None)
    with pytest.warns(
        UserWarning, match="The slower reference engine, plain PyTorch, runs it"
    ) as seen:
        nn.Sequential(net)(torch.randn(4, 3, 3))
    assert seen[0].filename == __file__

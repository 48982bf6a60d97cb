"""Features that look into a network or differentiate through it: hooks, wrappers, torch.func."""

import pytest
import torch
from tests.torch_features.feature import assert_same, feature, inputs, small_net
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.func import functional_call, grad, jacfwd, jacrev, jvp, vjp, vmap
from torch.nn.utils import parametrizations, prune
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

import ntm
from ntm import NTM

EDITED = r"runs networks as NTM builds them.*engine='reference'"


def loss_of(net: NTM, x: Tensor) -> Tensor:
    logits, state = net(x)
    return logits.square().sum() + state.memory.square().sum()


def slope(net: NTM, x: Tensor, direction: Tensor) -> Tensor:
    """The derivative in a direction, by finite differences in float64."""
    step = 1e-5 * direction
    return (loss_of(net, x + step) - loss_of(net, x - step)).detach() / 2e-5


def precise(engine: str, **options: object) -> tuple[NTM, Tensor, Tensor]:
    net, x = small_net(engine, **options).double(), inputs().double()
    return net, x, torch.cos(torch.arange(x.numel())).reshape(x.shape).double()


@feature("hooks on the network itself")
def hooks_outside(engine: str) -> None:
    net, x = small_net(engine), inputs()
    expected = net(x)[0]
    net.register_forward_hook(lambda _net, _inputs, output: (2 * output[0], output[1]))
    assert torch.equal(net(x)[0], 2 * expected)


@feature("hooks on parameters")
def hooks_on_parameters(engine: str) -> None:
    net, x, seen = small_net(engine), inputs(), []
    net.cell.output.bias.register_hook(lambda gradient: 0 * gradient)
    net.cell.output.weight.register_post_accumulate_grad_hook(seen.append)
    loss_of(net, x).backward()
    assert not net.cell.output.bias.grad.any()
    assert seen[0] is net.cell.output.weight


@feature("hooks on a layer inside", refusal=EDITED)
def hooks_inside(engine: str) -> None:
    net, x, seen = small_net(engine), inputs(), []
    before = small_net("reference")(x)[0]
    net.cell.output.register_forward_hook(lambda _m, _i, output: (seen.append(1), -output)[1])
    torch.testing.assert_close(net(x)[0], -before)
    assert len(seen) == len(x)


@feature("a layer replaced or wrapped, as LoRA does", refusal=EDITED)
def wrapped(engine: str) -> None:
    class Beside(nn.Module):
        def __init__(self, inner: nn.Linear) -> None:
            super().__init__()
            self.inner, self.low = inner, nn.Linear(inner.in_features, inner.out_features)

        def forward(self, values: Tensor) -> Tensor:
            return self.inner(values) + self.low(values)

    net, x = small_net(engine), inputs()
    plain = small_net("reference")(x)[0]
    net.cell.output = Beside(net.cell.output)
    loss_of(net, x).backward()
    assert net.cell.output.low.weight.grad.abs().sum() > 0
    nn.init.zeros_(net.cell.output.low.weight)
    nn.init.zeros_(net.cell.output.low.bias)
    torch.testing.assert_close(net(x)[0], plain)


@feature("`weight_norm`, `spectral_norm`, parametrisations", refusal=EDITED)
def parametrised(engine: str) -> None:
    net, x = small_net(engine), inputs()
    plain = small_net("reference")(x)[0]
    parametrizations.weight_norm(net.cell.output)
    torch.testing.assert_close(net(x)[0], plain)
    loss_of(net, x).backward()
    assert net.cell.output.parametrizations.weight.original0.grad is not None


@feature("pruning", refusal=EDITED)
def pruned(engine: str) -> None:
    net, x = small_net(engine), inputs()
    prune.l1_unstructured(net.cell.output, "weight", amount=0.5)
    expected = small_net("reference")
    expected.cell.output.weight.data.copy_(net.cell.output.weight)
    torch.testing.assert_close(net(x)[0], expected(x)[0])


@feature("a function of section 3 replaced", refusal=EDITED)
def replaced_function(engine: str) -> None:
    net, x = small_net(engine), inputs()
    plain = net(x)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ntm.cell, "read", lambda memory, weightings: -(weightings @ memory))
        expected = small_net("reference")(x)[0]
        assert not torch.equal(expected, plain)
        assert torch.equal(net(x)[0], expected)
    assert torch.equal(net(x)[0], plain)


@feature("a layer without bias", refusal=EDITED)
def unbiased(engine: str) -> None:
    net, x = small_net(engine), inputs()
    linear = net.cell.output
    net.cell.output = nn.Linear(linear.in_features, linear.out_features, bias=False)
    net.cell.output.weight = linear.weight
    expected = small_net("reference")
    nn.init.zeros_(expected.cell.output.bias)
    torch.testing.assert_close(net(x)[0], expected(x)[0])


@feature("an `initial_state` of your own")
def own_start(engine: str) -> None:
    net, x = small_net(engine), inputs()
    usual = net.initial_state
    expected = net(x, usual(x.shape[1])._replace(memory=usual(x.shape[1]).memory + 1))
    net.initial_state = lambda batch: usual(batch)._replace(memory=usual(batch).memory + 1)
    assert_same(net(x), expected)


@feature("modes that watch operators (`TorchDispatchMode`)")
def watched(engine: str) -> None:
    class Counting(TorchDispatchMode):
        calls = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            self.calls += 1
            return function(*args, **(kwargs or {}))

    net, x = small_net(engine), inputs()
    expected = net(x)
    with Counting() as mode:
        found = net(x)
    assert mode.calls > 0
    assert_same(found, expected)


@feature("counted operations (`FlopCounterMode`)", refusal=r"global module hooks")
def counted(engine: str) -> None:
    x = inputs()
    for controller in ("feedforward", "lstm"):
        net = small_net(engine, controller=controller)
        expected, counts = net(x), []
        for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
            x.requires_grad_(mode is not torch.inference_mode)
            with mode(), FlopCounterMode(display=False) as counter:
                assert_same(net(x), expected, exactly=False)
            counts.append(counter.get_total_flops())
        assert counts[0] == counts[1] == counts[2] > 0


@feature("`torch.func.functional_call`")
def functional(engine: str) -> None:
    net, x = small_net(engine), inputs()
    values = {name: p.detach() * 0.5 for name, p in net.named_parameters()}
    found = functional_call(net, values, (x,))
    net.load_state_dict(values)
    assert_same(found, net(x))


@feature("`torch.func.grad`, `vjp`, `jacrev`", refusal=r"torch\.func\.grad.*engine='reference'")
def reverse(engine: str) -> None:
    net, x, direction = precise(engine)
    expected = slope(net, x, direction)
    for gradient in (
        grad(lambda x: loss_of(net, x))(x),
        jacrev(lambda x: loss_of(net, x))(x),
        vjp(lambda x: loss_of(net, x), x)[1](torch.ones((), dtype=x.dtype))[0],
    ):
        torch.testing.assert_close((gradient * direction).sum(), expected, rtol=1e-6, atol=1e-8)


@feature(
    "`torch.func.jvp`, `jacfwd`, forward-mode differentiation",
    refusal=r"torch\.func\.jvp.*engine='reference'",
)
def forward_mode(engine: str) -> None:
    net, x, direction = precise(engine)
    expected = slope(net, x, direction)
    tangent = jvp(lambda x: loss_of(net, x), (x,), (direction,))[1]
    jacobian = jacfwd(lambda x: loss_of(net, x))(x)
    with forward_ad.dual_level():
        loss = loss_of(net, forward_ad.make_dual(x, direction))
        dual = forward_ad.unpack_dual(loss).tangent
    for found in (tangent, (jacobian * direction).sum(), dual):
        torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-8)


@feature(
    "forward-mode differentiation with a `backward_clip`",
    refusal=r"engine='reference'|backward_clip bounds gradients that flow back",
)
def forward_mode_clipped(engine: str) -> None:
    net, x, direction = precise(engine, backward_clip=1.0)
    jvp(lambda x: loss_of(net, x), (x,), (direction,))


@feature("`torch.vmap`", refusal=r"torch\.func\.vmap.*engine='reference'")
def mapped(engine: str) -> None:
    net, x = small_net(engine), inputs()
    many = torch.stack([x, 2 * x, -x])
    found = vmap(lambda x: net(x)[0])(many)
    net.engine = "reference"
    torch.testing.assert_close(found, torch.stack([net(x)[0] for x in many]))


@feature("second derivatives", refusal=r"first derivatives only.*engine='reference'")
def second(engine: str) -> None:
    net, x, direction = precise(engine)
    x.requires_grad_()

    def gradient(x: Tensor) -> Tensor:
        return torch.autograd.grad(loss_of(net, x), x, create_graph=True)[0]

    found = torch.autograd.grad((gradient(x) * direction).sum(), x)[0]
    step = 1e-5 * direction
    expected = (gradient(x + step) - gradient(x - step)).detach() / 2e-5
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-7)

"""Features that concern a call: its form, its precision, its device, its gradients."""

import torch
from tests.torch_features.feature import (
    BATCH,
    STEPS,
    assert_same,
    feature,
    gradients,
    inputs,
    small_net,
)
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.checkpoint import checkpoint

from ntm import State, Weightings


@feature("one sequence without a batch axis")
def unbatched(engine: str) -> None:
    net, x = small_net(engine), inputs(batch=1)
    logits, state = net(x[:, 0])
    logits, state = net(x[:, 0], state)
    batched = net(x, net(x)[1])
    assert_same((logits[:, None], State(*(part[None] for part in state))), batched)


@feature("an empty batch")
def empty(engine: str) -> None:
    net = small_net(engine)
    logits, state = net(inputs(batch=0))
    logits, state = net(inputs(batch=0), state, lengths=[])
    assert logits.shape == (STEPS, 0, 2)
    assert [part.shape[0] for part in state] == [0] * 6
    assert not any(gradient.any() for gradient in gradients(net, logits))


@feature("`PackedSequence`")
def packed(engine: str) -> None:
    net, x, lengths = small_net(engine), inputs(), torch.tensor([2, 5, 3])
    logits, state = net(pack_padded_sequence(x, lengths, enforce_sorted=False))
    padded, final = net(x, lengths=lengths)
    assert_same((logits.data, state), (pack(padded, lengths), final))


def pack(logits: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    return pack_padded_sequence(logits, lengths, enforce_sorted=False).data


@feature("states as pytrees, `state.to(...)`")
def pytrees(engine: str) -> None:
    net, x = small_net(engine), inputs()
    _, state = net(x)
    assert len(tree_leaves(state)) == 6
    halves = tree_map(lambda part: part[:, :1], {"state": state})["state"]
    assert isinstance(halves, State)
    assert_same((x, state.to(torch.float64).to(torch.float32)), (x, state))


@feature("resets within a sequence, `net(x, state, resets=mask)`")
def resets(engine: str) -> None:
    net, x = small_net(engine), inputs()
    mask = torch.zeros(STEPS, BATCH)
    mask[2] = 1
    logits, state = net(x, resets=mask)
    assert_same((logits[2:], state), net(x[2:]), exactly=False)
    torch.testing.assert_close(logits[:2], net(x[:2])[0])
    assert net(inputs(batch=0), resets=torch.zeros(STEPS, 0))[0].shape == (STEPS, 0, 2)


@feature("parts of a batch of states, `state[mask]`, `State.where`")
def parts_of_a_batch(engine: str) -> None:
    for controller in ("feedforward", "lstm"):
        net, x = small_net(engine, controller=controller), inputs()
        _, state = net(x)
        mask = torch.tensor([True, False, True])
        logits, final = net(x, state)
        assert_same(net(x[:, mask], state[mask]), (logits[:, mask], final[mask]), exactly=False)
        mixed = State.where(mask, net.initial_state(BATCH), state.clone().cpu())
        chosen = [
            (net.initial_state(BATCH) if new else state)[i : i + 1] for i, new in enumerate(mask)
        ]
        expected = State(*(torch.cat(parts) for parts in zip(*chosen, strict=True)))
        assert_same((x, mixed), (x, expected))


@feature("an `initial_state` that is written to")
def written_start(engine: str) -> None:
    for controller in ("feedforward", "lstm"):
        net, x = small_net(engine, controller=controller), inputs()
        expected = net(x)
        start = net.initial_state(BATCH).detach()
        start.memory[0, 3] = 7.0
        logits, final = net(x, start)
        assert not torch.equal(logits[:, 0], expected[0][:, 0])
        assert_same(
            (logits[:, 1:], final[1:]), (expected[0][:, 1:], expected[1][1:]), exactly=False
        )
        assert_same(net(x), expected)


class Labelled(Tensor):
    """As libraries derive classes for images or audio."""


@feature("subclasses of `Tensor`")
def subclasses(engine: str) -> None:
    for controller in ("feedforward", "lstm"):
        net, x = small_net(engine, controller=controller), inputs()
        lengths = torch.tensor([5, 2, 0])
        _, state = net(x)
        given = State(*(part.as_subclass(Labelled) for part in state))
        ours = net(x.as_subclass(Labelled), given, lengths.as_subclass(Labelled))
        assert {type(part) for part in (ours[0], *ours[1])} == {Tensor}
        assert_same(ours, net(x, state, lengths))


@feature("weightings with gradients (`return_weightings=True`)")
def weightings(engine: str) -> None:
    net, x = small_net(engine), inputs()
    logits, state, found = net(x, lengths=[2, 5, 3], return_weightings=True)
    assert_same((logits, state), net(x, lengths=[2, 5, 3]))
    trace = net.trace(x, lengths=[2, 5, 3])
    assert torch.equal(found.read, torch.tensor(trace.read_weightings))
    assert torch.equal(found.write, torch.tensor(trace.write_weightings))
    assert isinstance(tree_map(torch.exp, found), Weightings)
    found.write.square().sum().backward()
    assert net.cell.heads.linear.weight.grad.abs().sum() > 0


@feature("`torch.autocast`")
def autocast(engine: str) -> None:
    net, before = small_net(engine), nn.Linear(3, 3)
    with torch.autocast("cpu", torch.bfloat16):
        x = before(inputs())
        result = net(x)
        result[0].mean().backward()
    assert x.dtype == torch.bfloat16
    assert before.weight.grad is not None
    assert_same(result, net(x.float()))


@feature("float64")
def double(engine: str) -> None:
    net, x = small_net(engine), inputs()
    single = net(x)
    logits, state = net.double()(x.double())
    assert logits.dtype == torch.float64
    assert_same((logits.float(), state.to(torch.float32)), single, exactly=False)


@feature("bfloat16 parameters")
def bfloat16(engine: str) -> None:
    net, x = small_net(engine), inputs()
    expected, _ = net.to(torch.bfloat16).float()(x.bfloat16().float())
    logits, _ = net.to(torch.bfloat16)(x.bfloat16())
    assert logits.dtype == torch.bfloat16
    torch.testing.assert_close(logits.float(), expected, rtol=0.1, atol=0.05)


@feature("float16 parameters", refusal="must be float32, float64 or bfloat16, got torch.float16")
def float16(engine: str) -> None:
    small_net(engine).half()(inputs().half())


@feature("meta device")
def meta(engine: str) -> None:
    net, x = small_net(engine), inputs()
    shapes = [part.shape for part in tree_leaves(net(x))]
    empty = small_net(engine, device="meta")
    assert [part.shape for part in tree_leaves(empty(x.to("meta"), lengths=[1, 5, 2]))] == shapes
    empty.to_empty(device="cpu").load_state_dict(net.state_dict())
    assert_same(empty(x), net(x))


@feature("CUDA")
def cuda(engine: str) -> None:
    """Where there is no GPU, a device that is not the CPU either stands in for it."""
    device = "cuda" if torch.cuda.is_available() else "meta"
    net, x = small_net(engine), inputs()
    logits, state = net.to(device)(x.to(device))
    assert {part.device.type for part in (logits, *state)} == {device}
    assert (logits.shape, state.memory.shape) == ((STEPS, BATCH, 2), (BATCH, 11, 5))
    if device == "cuda":
        assert_same((logits.cpu(), state.to("cpu")), net.cpu()(x), exactly=False)


@feature("`torch.no_grad`, `torch.inference_mode`")
def without_gradients(engine: str) -> None:
    x = inputs()
    for controller in ("feedforward", "lstm"):
        net = small_net(engine, controller=controller)
        expected = net(x)
        for mode in (torch.no_grad, torch.inference_mode):
            with mode():
                result, start = net(x, lengths=[STEPS] * BATCH), net.initial_state(BATCH)
            assert not any(part.requires_grad for part in (result[0], *result[1], *start))
            assert_same(result, expected)


@feature("frozen parameters")
def frozen(engine: str) -> None:
    net, x = small_net(engine), inputs().requires_grad_()
    whole = torch.autograd.grad(net(x)[0].sum(), [x, net.cell.output.bias])
    net.requires_grad_(False)
    net.cell.output.bias.requires_grad_()
    net(x)[0].sum().backward()
    assert torch.equal(x.grad, whole[0])
    assert torch.equal(net.cell.output.bias.grad, whole[1])
    assert net.cell.output.weight.grad is None


@feature("gradient checkpointing (`torch.utils.checkpoint`)")
def checkpointing(engine: str) -> None:
    net, x = small_net(engine), inputs()
    plain = gradients(net, net(x)[0])
    for reentrant in (False, True):
        leaf = x.clone().requires_grad_()  # the old kind gives gradients for inputs that need one
        logits, _ = checkpoint(net, leaf, use_reentrant=reentrant)
        net.zero_grad()
        logits.square().sum().backward()
        for parameter, expected in zip(net.parameters(), plain, strict=True):
            assert torch.equal(parameter.grad, expected)


@feature("anomaly mode")
def anomaly(engine: str) -> None:
    net, x = small_net(engine), inputs()
    expected = gradients(net, net(x)[0])
    with torch.autograd.set_detect_anomaly(True):
        found = gradients(net, net(x)[0])
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))


@feature("`torch.use_deterministic_algorithms`")
def deterministic(engine: str) -> None:
    net, x = small_net(engine), inputs()
    expected = gradients(net, net(x, lengths=[2, 5, 3])[0])
    torch.use_deterministic_algorithms(True)
    try:
        found = gradients(net, net(x, lengths=[2, 5, 3])[0])
    finally:
        torch.use_deterministic_algorithms(False)
    assert all(torch.equal(a, b) for a, b in zip(found, expected, strict=True))

"""Parts of the machine turned off, against the equations of section 3 without the part."""

import pytest
import torch
from torch import Tensor

import ntm.cell
from ntm import NTM, addressing, memory
from ntm.addressing import Addressing, Focus
from ntm.layer.switches import PARTS, Part, without


def build(controller: str, mode: str = "softmax", engine: str = "reference") -> NTM:
    torch.manual_seed(3)
    net = NTM(
        3,
        2,
        controller=controller,  # type: ignore[arg-type]
        controller_size=5,
        memory_locations=7,
        memory_width=4,
        read_heads=2,
        write_heads=3,
        shift_mode=mode,  # type: ignore[arg-type]
        engine=engine,  # type: ignore[arg-type]
    )
    for parameter in net.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    return net


def changed(focus: Focus, part: Part, shifts: tuple[int, ...]) -> Focus:
    """Replace a parameter of the heads by the value at which it does nothing."""
    still = torch.zeros_like(focus.shift)
    still[..., shifts.index(0)] = 1
    values: dict[Part, dict[str, Tensor]] = {
        "content": {"strength": torch.zeros_like(focus.strength)},
        "interpolation": {"gate": torch.ones_like(focus.gate)},
        "shift": {"shift": still},
        "sharpening": {"sharpness": torch.ones_like(focus.sharpness)},
        "erase": {},
    }
    return focus._replace(**values[part])


@pytest.mark.parametrize("mode", ["softmax", "scalar"])
@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_off_does_nothing(
    part: Part, controller: str, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    net, x = build(controller, mode), torch.randn(6, 2, 3)
    whole, off = net(x)[0], without(net, [part])(x)[0]

    def address(focus: Focus, held: Tensor, last: Tensor, shifts: tuple[int, ...]) -> Addressing:
        return addressing.address(changed(focus, part, shifts), held, last, shifts)

    def write(held: Tensor, weighting: Tensor, erase: Tensor, add: Tensor) -> Tensor:
        return memory.write(held, weighting, erase * (part != "erase"), add)

    monkeypatch.setattr(ntm.cell, "address", address)
    monkeypatch.setattr(ntm.cell, "write", write)
    torch.testing.assert_close(off, net(x)[0])
    assert not torch.allclose(off, whole, atol=1e-4)


@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
@pytest.mark.parametrize("part", PARTS)
def test_engines_agree(part: Part, controller: str) -> None:
    x = torch.randn(6, 2, 3)
    traces = [
        build(controller, engine=engine).trace(x, memory=True, without=[part])
        for engine in ("reference", "native")
    ]
    for name in ("outputs", "memory", "read_weightings", "write_weightings"):
        first, second = (torch.as_tensor(getattr(trace, name)) for trace in traces)
        torch.testing.assert_close(first, second, atol=1e-5, rtol=1e-4)


def test_the_network_itself_is_unchanged() -> None:
    net, x = build("lstm"), torch.randn(6, 2, 3)
    before = net(x)[0]
    net.trace(x, without=PARTS)
    assert torch.equal(net(x)[0], before)


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(ValueError, match=r"parts of the machine: 'content', .*; got 'gate'"):
        build("lstm").trace(torch.randn(6, 2, 3), without=["gate"])  # type: ignore[list-item]


def test_a_network_that_always_moves_cannot_stand_still() -> None:
    net = NTM(3, 2, shifts=(1, 2))
    with pytest.raises(ValueError, match="always moves"):
        without(net, ["shift"])

"""A function of section 3 that a user replaces takes effect, for every choice of engine."""

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from tests.engine.conftest import RunPython
from torch import Tensor, nn

import ntm
from ntm import NTM, addressing, cell, controllers, heads, memory, start
from ntm.models import family
from ntm.models.optimiser import GravesRMSprop
from ntm.tasks import Copy


def network(controller: str, engine: str) -> NTM:
    torch.manual_seed(0)
    sizes = {"controller_size": 7, "memory_locations": 11, "memory_width": 5}
    return NTM(3, 2, controller=controller, engine=engine, **sizes)


def inputs() -> Tensor:
    return torch.linspace(-1, 1, 24).reshape(4, 2, 3)


def scaled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with its first tensor halved."""

    def replacement(*arguments: Any) -> Any:
        first, *rest = arguments
        if isinstance(first, nn.Module):
            return function(first, 0.5 * rest[0], *rest[1:])
        return function(0.5 * first, *rest)

    return replacement


def start_elsewhere(self: Any, batch_size: int) -> Any:
    state = FORWARD_OF_START(self, batch_size)
    return state._replace(memory=state.memory + 1)


FORWARD_OF_START = start.StartState.forward
PLACES = {
    "ntm.cell.read": (cell, "read", scaled(cell.read)),
    "ntm.cell.write": (cell, "write", scaled(cell.write)),
    "ntm.memory.erase": (memory, "erase", scaled(memory.erase)),
    "ntm.addressing.sharpen": (addressing, "sharpen", lambda weighting, _: weighting),
    "ntm.addressing.SHARPENING_EPSILON": (addressing, "SHARPENING_EPSILON", 0.1),
    "ntm.heads.softplus": (heads, "softplus", scaled(heads.softplus)),
    "ntm.cell.Cell.forward": (cell.Cell, "forward", scaled(cell.Cell.forward)),
    "ntm.heads.Heads._shift": (heads.Heads, "_shift", scaled(heads.Heads._shift)),
    "ntm.start.StartState.forward": (start.StartState, "forward", start_elsewhere),
    "torch.nn.modules.linear.Linear.forward": (nn.Linear, "forward", scaled(nn.Linear.forward)),
}


@pytest.mark.parametrize("name", PLACES)
@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
def test_a_replaced_function_has_its_effect(
    controller: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    auto, native = network(controller, "auto"), network(controller, "native")
    plain, _ = auto(inputs())
    native(inputs())  # now the engine remembers both networks as unchanged
    monkeypatch.setattr(*PLACES[name])
    expected, _ = network(controller, "reference")(inputs())
    assert not torch.equal(expected, plain)
    with pytest.raises(RuntimeError, match=f"{name} was replaced.*engine='reference'"):
        native(inputs())
    with pytest.warns(UserWarning, match=f"{name} was replaced"):
        found, _ = auto(inputs())
    assert torch.equal(found, expected)
    monkeypatch.undo()
    assert torch.equal(auto(inputs())[0], plain)
    assert torch.equal(native(inputs())[0], plain)


def test_an_lstm_step_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controllers, "lstm_step", scaled(controllers.lstm_step))
    with pytest.raises(RuntimeError, match=r"ntm\.controllers\.lstm_step was replaced"):
        network("lstm", "native")(inputs())


def test_a_method_that_hides_an_inherited_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell.Cell, "__call__", scaled(nn.Module.__call__), raising=False)
    with pytest.raises(RuntimeError, match=r"ntm\.cell\.Cell\.__call__ was replaced"):
        network("lstm", "native")(inputs())


def doubled_logits(self: NTM, *arguments: Any, **options: Any) -> Any:
    logits, state = FORWARD_OF_NTM(self, *arguments, **options)
    return 2 * logits, state


FORWARD_OF_NTM = NTM.forward


@pytest.mark.parametrize("place", [PLACES["ntm.cell.read"], (NTM, "forward", doubled_logits)])
@pytest.mark.parametrize("controller", ["feedforward", "lstm"])
def test_a_training_step_uses_the_replaced_function(
    controller: str, place: tuple[Any, str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    block = Copy(bits=2, max_length=4).sample(3, torch.Generator().manual_seed(1))

    def cost(engine: str) -> float:
        net = network(controller, engine)
        optimiser = GravesRMSprop(net.parameters(), lr=1e-3)
        return family("ntm-ff").step(net, optimiser)(block, 0, 3)

    plain = cost("auto")
    monkeypatch.setattr(*place)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = cost("auto")
    assert found == pytest.approx(cost("reference"), rel=1e-5)
    assert found != pytest.approx(plain, rel=1e-4)


@pytest.mark.parametrize("replacement", ["lambda weighting, _: weighting", "f"])
def test_a_function_replaced_before_the_layer_is_imported(
    replacement: str, run_python: RunPython
) -> None:
    done = run_python(
        "import functools, torch, ntm\n"
        "usual = ntm.addressing.sharpen\n"
        "f = functools.wraps(usual)(lambda weighting, _: weighting)\n"
        f"ntm.addressing.sharpen = {replacement}\n"
        "ntm.NTM(3, 2, engine='native')(torch.zeros(1, 1, 3))"
    )
    assert "ntm.addressing.sharpen was replaced" in done.stderr


@torch.no_grad()
def test_a_compiled_call_uses_the_replaced_function(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.compiler.reset()
    monkeypatch.setattr(addressing, "sharpen", lambda weighting, _: weighting)
    expected, _ = network("feedforward", "reference")(inputs()[:1])
    compiled = torch.compile(network("feedforward", "auto"), backend="eager")
    torch.testing.assert_close(compiled(inputs()[:1])[0], expected)


def test_every_equation_is_watched() -> None:
    functions = ("cosine_similarity", "focus_by_content", "interpolate", "rotate", "sharpen")
    equations = {addressing: functions, memory: ("erase", "add"), cell: ("address",)}
    for module, names in equations.items():
        for name in names:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(module, name, lambda *_: None)
                assert ntm.engine.get("native").declines(network("feedforward", "auto"))

"""What several experiments share: the sizes of the paper's networks and how ours are trained.

Our protocol departs from the paper's: gradients are bounded at every step; mostly the learning rate
falls at the end, which is worth more than any number of further sequences; where noise is most of
the cost, weights are averaged. A bound also bends the gradient, so some networks drop it once they
are past the collapses of early training. docs/learning.md has the numbers.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ntm.paper.experiment import Beside, Changes, FigureSpec, Plan, later

NTMS = ("ntm-ff", "ntm-lstm")
AVERAGED = {"average_share": 0.1}
SHARP_AND_TOGETHER = {"start_spread": 4.0, "start_together": True}
FASTER = {"learning_rate": 1e-4}


def sizes(units: int = 100, heads: int = 1, layers: int = 1) -> dict[str, int]:
    """An NTM of the paper: 128 locations of 20 values, as many heads of either kind."""
    memory = {"memory_locations": 128, "memory_width": 20}
    controller = {"controller_size": units, "controller_layers": layers}
    return controller | memory | {"read_heads": heads, "write_heads": heads}


def baseline(units: int, learning_rate: float, parameters: int, quick: int) -> Plan:
    """The paper's LSTM, three layers of so many units; it is trained as in the paper.

    At batch size 1 large LSTMs wait for their weights to come from memory, sequence by sequence: a
    quick run would not see enough sequences to draw a curve.
    """
    layers = {"hidden_size": units, "layers": 3}
    return Plan(layers, learning_rate, parameters, quick=quick, quick_batch=16)


def tuned(
    sequences: int,
    halve_after: int = 0,
    halve_every: int = 0,
    backward_clip: float = 1.0,
    *,
    optimiser: Mapping[str, Any] | None = None,
    training: Mapping[str, Any] | None = None,
    model: Mapping[str, Any] | None = None,
) -> Changes:
    """A protocol of ours: the length, the falling rate, the bound, and any other settings."""
    falling = {"halve_after": halve_after, "halve_every": halve_every}
    return {
        "training": {"sequences": sequences, "validate_every": 2000} | dict(training or {}),
        "optimiser": {"backward_clip": backward_clip} | falling | dict(optimiser or {}),
        "model": dict(model or {}),
    }


ANY_TASK = tuned(20_000)
"""For tasks and models that have no protocol of their own."""


def curves_figure(number: int, name: str, caption: str) -> FigureSpec:
    """Learning curves, ours over the paper's."""
    draw = later("ntm.figures.kinds:learning")
    return FigureSpec(f"{name} learning curves", draw, number, caption, (Beside("curves"),))


def memory_figure(
    number: int,
    name: str,
    caption: str,
    draw: str = "ntm.figures.kinds:memory",
    models: tuple[str, ...] = NTMS,
    **options: Any,
) -> FigureSpec:
    """What the heads of one network do with one problem."""
    drawn = later(draw, models=models, **options)
    return FigureSpec(f"{name} memory use", drawn, number, caption, (Beside("heads", models),))


def published(name: str) -> Path:
    """A file of numbers that were read off the paper's figures."""
    return Path(__file__).parent / "curves" / f"{name}.csv"

"""Figures from data: functions that take numbers and return a matplotlib figure.

    from ntm.figures import save, task_memory_use
    recording = record(net, task.at(length=20), sequences=1)      # ntm.evaluation
    save(task_memory_use(recording), "copy")                      # copy.png and copy.svg

No function changes pyplot or any other global state. docs/figures.md shows all figures.
"""

from typing import TYPE_CHECKING

from ntm.common.lazy import lazily
from ntm.evaluation.curves import CostCurve
from ntm.figures.answers import Answer, draw_answers
from ntm.figures.diagrams import addressing_flow, architecture
from ntm.figures.memory_use import memory_use, task_memory_use
from ntm.figures.style import png, save
from ntm.trace import Trace

if TYPE_CHECKING:
    from ntm.paper.named import costs_along, learning_curves
    from ntm.paper.published import paper_costs, paper_curves

__all__ = [
    "Answer",
    "CostCurve",
    "addressing_flow",
    "architecture",
    "costs_along",
    "draw_answers",
    "learning_curves",
    "memory_use",
    "paper_costs",
    "paper_curves",
    "png",
    "save",
    "task_memory_use",
]


def trace_as_png(trace: Trace) -> bytes:
    """Draw the memory use of a trace of one sequence and return a PNG. Notebooks display it."""
    return png(memory_use(trace))


# These functions look up the experiment of a task by name, so they live a layer above.
_NAMES = {
    "ntm.paper.named": ("costs_along", "learning_curves"),
    "ntm.paper.published": ("paper_costs", "paper_curves"),
}

__getattr__, __dir__ = lazily(__name__, _NAMES)

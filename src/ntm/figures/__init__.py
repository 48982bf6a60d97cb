"""Figures from data: functions that take numbers and return a matplotlib figure.

    from ntm.figures import save, task_memory_use
    recording = record(net, task.at(length=20), sequences=1)      # ntm.evaluation
    save(task_memory_use(recording), "copy")                      # copy.png and copy.svg

No function here touches pyplot or any other global state. docs/figures.md shows them all.
"""

from ntm.figures.answers import Answer, draw_answers
from ntm.figures.curves import costs_along, learning_curves
from ntm.figures.diagrams import addressing_flow, architecture
from ntm.figures.memory_use import memory_use, task_memory_use
from ntm.figures.style import png, save
from ntm.paper.published import CostCurve, paper_costs, paper_curves

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

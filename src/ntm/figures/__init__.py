"""The paper's figures, one function each. They take data and return a matplotlib figure.

    from ntm.figures import copy_memory_use, save
    recording = record(net, task.at(length=20), sequences=1)      # ntm.evaluation
    save(copy_memory_use(recording), "copy")                      # copy.png and copy.svg

No function here touches pyplot or any other global state. docs/figures.md shows them all.
"""

from ntm.figures.answers import Answer
from ntm.figures.copy import copy_generalisation, copy_memory_use
from ntm.figures.curves import Curve, learning_curves, paper_curves, recall_generalisation
from ntm.figures.diagrams import addressing_flow, architecture
from ntm.figures.memory_use import memory_use
from ntm.figures.repeat_copy import repeat_copy_generalisation, repeat_copy_memory_use
from ntm.figures.style import png, save
from ntm.paper.drawings.associative_recall import recall_memory_use
from ntm.paper.drawings.ngrams import ngram_inference, ngram_memory_use
from ntm.paper.drawings.priority_sort import sort_example, sort_memory_use

__all__ = [
    "Answer",
    "Curve",
    "addressing_flow",
    "architecture",
    "copy_generalisation",
    "copy_memory_use",
    "learning_curves",
    "memory_use",
    "ngram_inference",
    "ngram_memory_use",
    "paper_curves",
    "png",
    "recall_generalisation",
    "recall_memory_use",
    "repeat_copy_generalisation",
    "repeat_copy_memory_use",
    "save",
    "sort_example",
    "sort_memory_use",
]

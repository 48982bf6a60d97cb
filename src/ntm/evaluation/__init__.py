"""Evaluation: costs, generalisation, and analysis of a network's heads. Numbers only."""

from typing import TYPE_CHECKING

from ntm.common.lazy import lazily
from ntm.evaluation.costs import Evaluation, costs, enlarged, evaluate, generalise, resized
from ntm.evaluation.findings import Analysis, Finding
from ntm.evaluation.predicting import predict
from ntm.evaluation.recording import Recording, record

if TYPE_CHECKING:
    from ntm.paper.analysis import analyse

__all__ = [
    "Analysis",
    "Evaluation",
    "Finding",
    "Recording",
    "analyse",
    "costs",
    "enlarged",
    "evaluate",
    "generalise",
    "predict",
    "record",
    "resized",
]

# `analyse` looks up the experiment of a task, so it lives with the experiments, a layer above.
__getattr__, __dir__ = lazily(__name__, {"ntm.paper.analysis": ("analyse",)})

"""Evaluation: costs, generalisation, and what the heads of a network do. Numbers only."""

from ntm.evaluation.costs import Evaluation, costs, enlarged, evaluate, generalise
from ntm.evaluation.heads import Analysis, Finding, Recording, analyse, record

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
    "record",
]

"""Evaluation: costs in bits per sequence, and how far a network generalises. Numbers only."""

from ntm.evaluation.costs import Evaluation, costs, evaluate
from ntm.evaluation.generalisation import enlarged, generalise

__all__ = ["Evaluation", "costs", "enlarged", "evaluate", "generalise"]

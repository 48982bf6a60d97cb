"""Module of the entry points: the tasks, with their experiments registered.

The files in `experiments` hold one setting per task and controller; `ntm.paper.experiment`
documents their keys. Importing `ntm_chomsky` alone registers nothing.
"""

from dataclasses import replace
from pathlib import Path

from ntm.paper import read_experiment, register_experiment
from ntm_chomsky import (
    ALL,
    BinaryAddition,
    BinaryMultiplication,
    BucketSort,
    ComputeSqrt,
    CycleNavigation,
    DuplicateString,
    EvenPairs,
    MissingDuplicate,
    ModularArithmetic,
    ModularArithmeticBrackets,
    OddsFirst,
    ParityCheck,
    ReverseString,
    SolveEquation,
    StackManipulation,
)
from ntm_chomsky.baseline import BASELINE

_EXPERIMENTS = Path(__file__).parent / "experiments"

for _task in ALL:
    _experiment = read_experiment(_EXPERIMENTS / f"{_task.name}.toml")
    _networks = {**_experiment.networks, "lstm": BASELINE}
    register_experiment(replace(_experiment, networks=_networks))

__all__ = [
    "BinaryAddition",
    "BinaryMultiplication",
    "BucketSort",
    "ComputeSqrt",
    "CycleNavigation",
    "DuplicateString",
    "EvenPairs",
    "MissingDuplicate",
    "ModularArithmetic",
    "ModularArithmeticBrackets",
    "OddsFirst",
    "ParityCheck",
    "ReverseString",
    "SolveEquation",
    "StackManipulation",
]

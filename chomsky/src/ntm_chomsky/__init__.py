"""The 15 tasks of "Neural Networks and the Chomsky Hierarchy" (Delétang et al., ICLR 2023).

After installation, `ntm train parity-check` trains a network on a task. Training uses inputs of 1
to 40 symbols; the benchmark's score is the mean accuracy per symbol over lengths 41 to 500.
"""

from ntm_chomsky.context_free import (
    ModularArithmeticBrackets,
    ReverseString,
    SolveEquation,
    StackManipulation,
)
from ntm_chomsky.context_sensitive import (
    BinaryAddition,
    BinaryMultiplication,
    BucketSort,
    ComputeSqrt,
    DuplicateString,
    MissingDuplicate,
    OddsFirst,
)
from ntm_chomsky.regular import CycleNavigation, EvenPairs, ModularArithmetic, ParityCheck
from ntm_chomsky.strings import StringTask

ALL: tuple[type[StringTask], ...] = (
    EvenPairs,
    ModularArithmetic,
    ParityCheck,
    CycleNavigation,
    StackManipulation,
    ReverseString,
    ModularArithmeticBrackets,
    SolveEquation,
    DuplicateString,
    MissingDuplicate,
    OddsFirst,
    BinaryAddition,
    BinaryMultiplication,
    ComputeSqrt,
    BucketSort,
)
"""The tasks in the order of the paper's table."""

__all__ = [
    "ALL",
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
    "StringTask",
]

"""Figures 1 and 2, which need no runs."""

from matplotlib.figure import Figure

from ntm.config import NTMConfig
from ntm.figures.diagrams import addressing_flow, architecture
from ntm.figures.runs import RunFolders
from ntm.paper.experiment import Experiment


def draw_architecture(_experiment: Experiment, _runs: RunFolders) -> Figure:
    """Draw figure 1, with the sizes of copy."""
    return architecture(NTMConfig(9, 8))


def draw_addressing_flow(_experiment: Experiment, _runs: RunFolders) -> Figure:
    """Draw figure 2."""
    return addressing_flow()

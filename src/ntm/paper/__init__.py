"""Section 4 of the paper: one experiment per task, and settings for its runs.

    for experiment in experiments():
        print(experiment.title, [case_name(case) for case in experiment.cases])

`ntm.paper.experiment` documents the fields of an experiment; docs/tasks.md shows how to add one.
"""

from ntm.paper.experiment import Experiment, FigureSpec, Goal, Plan
from ntm.paper.registry import (
    experiment_of,
    experiments,
    read_experiment,
    register_experiment,
)
from ntm.paper.settings import (
    PaperNetwork,
    full_runs,
    paper_network,
    paper_settings,
    paper_tables,
    quick_runs,
    select,
    settings_for,
)
from ntm.tasks.cases import case_name

__all__ = [
    "Experiment",
    "FigureSpec",
    "Goal",
    "PaperNetwork",
    "Plan",
    "case_name",
    "experiment_of",
    "experiments",
    "full_runs",
    "paper_network",
    "paper_settings",
    "paper_tables",
    "quick_runs",
    "read_experiment",
    "register_experiment",
    "select",
    "settings_for",
]

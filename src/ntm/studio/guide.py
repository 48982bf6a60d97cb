"""Texts about tasks and models for the page, from their experiments and families."""

from typing import Any

from ntm.models import MODELS
from ntm.paper import experiment_of
from ntm.studio.problems import PROBLEMS, Problem
from ntm.tasks import TASKS


def problem_kinds() -> dict[str, type[Problem]]:
    """Return the kind of problem by task; tasks whose problems cannot be drawn are left out."""
    drawings = {task: experiment_of(task).drawing for task in TASKS}
    return {task: PROBLEMS[drawing] for task, drawing in drawings.items() if drawing in PROBLEMS}


def to_json() -> dict[str, Any]:
    """Return all texts as the page receives them."""
    models = {
        name: {"title": family.title, "colours": family.page_colours}
        for name, family in MODELS.items()
    }
    return {"tasks": {task: experiment_of(task).to_json() for task in TASKS}, "models": models}

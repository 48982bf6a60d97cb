"""Texts about tasks and models for the page, from the experiments and model families."""

from typing import Any

from ntm.models import MODELS
from ntm.paper import experiment_of, settings_for
from ntm.tasks import TASKS


def to_json() -> dict[str, Any]:
    """Return all texts, by task and by model, as plain data for the page."""
    models = {
        name: {"title": family.title, "colours": family.page_colours}
        for name, family in MODELS.items()
    }
    tasks = {
        task: experiment_of(task).to_json() | {"sequences": _sequences(task)} for task in TASKS
    }
    return {"tasks": tasks, "models": models}


def _sequences(task: str) -> dict[str, int]:
    """Return the default number of training sequences, by model."""
    return {model: settings_for(task, model).training.sequences for model in MODELS}

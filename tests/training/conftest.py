from collections.abc import Callable

import pytest

from ntm.training import Settings, paper_settings


@pytest.fixture
def small() -> Callable[..., Settings]:
    """Settings of a run that takes a fraction of a second, with some changed by keyword."""

    def make(task: str = "copy", model: str = "lstm", **changes: object) -> Settings:
        typed: dict[str, object] = {
            "training.sequences": 60,
            "training.report_every": 20,
            "training.validate_every": 40,
            "training.validation_sequences": 5,
            "optimiser.learning_rate": 1e-3,
        }
        if model == "lstm":
            typed |= {"model.hidden_size": 5, "model.layers": 2}
        else:
            typed |= {"model.controller_size": 7, "model.memory_locations": 11}
            typed |= {"model.memory_width": 5}
        if task == "copy":
            typed |= {"task.bits": 3, "task.max_length": 3}
        typed |= {name.replace("__", "."): value for name, value in changes.items()}
        texts = {name: str(value) for name, value in typed.items()}
        return paper_settings(task, model).changed(texts)

    return make

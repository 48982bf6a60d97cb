"""For all tests: one thread per process, and the same examples every time."""

import os
import tempfile
from collections.abc import Callable

import pytest
import torch
from hypothesis import settings

from ntm.runs import Settings
from ntm.training import paper_settings

torch.set_num_threads(1)
os.environ["OMP_NUM_THREADS"] = "1"  # for the processes that tests start
os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()  # not the home folder of whoever runs the tests

# No deadline: a slow example is not a wrong result.
settings.register_profile("ntm", deadline=None, derandomize=True)
settings.load_profile("ntm")


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
        return paper_settings(task, model).with_text(texts)

    return make

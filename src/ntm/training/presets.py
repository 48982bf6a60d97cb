"""The paper's fifteen networks: its three tables as data, and the settings they give a run.

The tables print parameter counts that fit other input and output widths, and more shifts, than the
text describes. `TABLES` is at those widths, so that sizes can be compared; `paper_settings` trains
at the text's, with each task's default encoding and three shifts.

`settings_for` is what `ntm train` takes: the same networks, trained so that they arrive.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ntm.baseline import LSTMConfig
from ntm.config import NTMConfig
from ntm.tasks import Task, make_task
from ntm.training.fields import unknown
from ntm.training.settings import (
    MODELS,
    ModelConfig,
    OptimiserSettings,
    Settings,
    TrainingSettings,
    fitted,
    known_task,
)


@dataclass(frozen=True)
class PaperNetwork:
    """A row of one of the paper's tables."""

    task: str
    model: str
    config: ModelConfig
    """Sizes, at the widths and shifts that the printed parameter count suggests."""
    learning_rate: float
    parameters: int
    """The parameter count that the paper prints."""


@dataclass(frozen=True)
class Tuned:
    """How a task is trained where the paper's protocol is not asked for."""

    sequences: int
    halve_after: int = 0
    halve_every: int = 0
    backward_clip: float = 1.0
    changes: Mapping[str, str] = field(default_factory=dict)
    """Any other settings, as they would be typed."""

    def texts(self) -> dict[str, str]:
        """All of it, as it would be typed."""
        return {
            "training.sequences": str(self.sequences),
            "training.validate_every": "2000",
            "optimiser.halve_after": str(self.halve_after),
            "optimiser.halve_every": str(self.halve_every),
            "optimiser.backward_clip": str(self.backward_clip),
            **self.changes,
        }


def _tried(
    trial: int, enough: float, beyond: str = "", starts: int = 10, validation: int = 100
) -> dict[str, str]:
    """Starts on trial, as settings that are typed."""
    return {
        "training.starts": str(starts),
        "training.trial_sequences": str(trial),
        "training.enough_bits": str(enough),
        "training.validate_beyond": beyond,
        "training.validation_sequences": str(validation),
    }


def _baseline(rate: str) -> dict[str, str]:
    """Batches of like lengths, with a rate to match, as settings that are typed."""
    return {
        "optimiser.learning_rate": rate,
        "training.batch_size": "16",
        "training.bucketed": "true",
        "training.validate_every": "10000",
        "training.average_share": "0.1",
    }


_SEVEN_SHIFTS = (-3, -2, -1, 0, 1, 2, 3)
_FOUR_SHIFTS = (-1, 0, 1, 2)

# Inputs, outputs and shifts that the parameter counts suggest.
_WIDTHS = {
    "copy": (10, 9, _SEVEN_SHIFTS),
    "repeat-copy": (8, 7, _SEVEN_SHIFTS),
    "associative-recall": (8, 6, _SEVEN_SHIFTS),
    "ngrams": (1, 1, _FOUR_SHIFTS),
    "priority-sort": (10, 8, _SEVEN_SHIFTS),
}

# Heads, controller size, controller layers, learning rate, printed parameters.
_FEEDFORWARD = {
    "copy": (1, 100, 1, 1e-4, 17_162),
    "repeat-copy": (1, 100, 1, 1e-4, 16_712),
    "associative-recall": (4, 256, 1, 1e-4, 146_845),
    "ngrams": (1, 100, 1, 3e-5, 14_656),
    "priority-sort": (8, 512, 1, 3e-5, 508_305),
}
_LSTM_CONTROLLER = {
    "copy": (1, 100, 1, 1e-4, 67_561),
    "repeat-copy": (1, 100, 1, 1e-4, 66_111),
    "associative-recall": (1, 100, 1, 1e-4, 70_330),
    "ngrams": (1, 100, 1, 3e-5, 61_749),
    "priority-sort": (5, 100, 2, 3e-5, 269_038),
}

# Hidden units of each of three layers, learning rate, printed parameters.
_LSTM = {
    "copy": (256, 3e-5, 1_352_969),
    "repeat-copy": (512, 3e-5, 5_312_007),
    "associative-recall": (256, 1e-4, 1_344_518),
    "ngrams": (128, 1e-4, 331_905),
    "priority-sort": (128, 3e-5, 384_424),
}

_SHARP_AND_TOGETHER = {"start_spread": 4.0, "start_together": True}

# How the weights begin, of which the paper says nothing, where it matters.
_STARTS: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("copy", "ntm-ff"): {"head_gain": 0.25},
    ("associative-recall", "ntm-ff"): _SHARP_AND_TOGETHER,
    ("ngrams", "ntm-ff"): _SHARP_AND_TOGETHER,
}

# Otherwise than in the paper: gradients are bounded at every step, mostly the rate falls at the
# end, which is worth more than any number of further sequences, and where noise is most of the
# cost, weights are averaged. A bound bends the gradient, too, so some networks let it go once they
# are past the collapses of the beginning. docs/learning.md has the numbers.
# Which networks learn, and which go on to longer sequences, is settled by how they begin and shows
# early: several starts are tried where it does. The baseline takes batches of like lengths and, as
# these ask for, larger steps.
_UNKNOWN = Tuned(20_000)
_COPY_TRIALS = {"training.validate_every": "4000", "training.validation_sequences": "400"}
_COPY = Tuned(20_000, changes=_tried(20_000, enough=0.05, beyond="length=100") | _COPY_TRIALS)
_REPEAT_COPY = Tuned(100_000, halve_after=50_000, halve_every=10_000, backward_clip=10)
_COPY_LSTM = {
    "optimiser.learning_rate": "2e-4",
    **_tried(20_000, enough=0.2, beyond="length=100"),
    **_COPY_TRIALS,
}
_AVERAGED = {"training.average_share": "0.1"}
_RECALL = {
    "optimiser.learning_rate": "2e-4",
    "optimiser.backward_clip_until": "60000",
    "training.batch_size": "4",
    **_tried(20_000, enough=1.0, beyond="items=15", starts=8, validation=400),
}
_RECALL_LSTM = {
    "optimiser.learning_rate": "4e-4",
    "training.batch_size": "16",
    "training.validate_every": "5000",
    **_AVERAGED,
    **_tried(75_000, enough=5.0, starts=8),
}
_SORT = {
    "optimiser.learning_rate": "1e-4",
    "training.batch_size": "16",
    "training.validate_every": "10000",
    "optimiser.backward_clip_until": "1310000",
    **_AVERAGED,
}
_SORT_LSTM = {
    "optimiser.learning_rate": "3e-4",
    "training.batch_size": "16",
    "training.validate_every": "10000",
    **_AVERAGED,
}
_NGRAMS = {"optimiser.learning_rate": "1e-4", "model.start_memory": "random"}
_TUNED = {
    ("copy", "ntm-ff"): _COPY,
    ("copy", "ntm-lstm"): Tuned(20_000, 12_000, 2_000, changes=_COPY_LSTM),
    ("repeat-copy", "ntm-ff"): _REPEAT_COPY,
    ("repeat-copy", "ntm-lstm"): _REPEAT_COPY,
    ("associative-recall", "ntm-ff"): Tuned(100_000, 60_000, 7_000, changes=_RECALL),
    ("associative-recall", "ntm-lstm"): Tuned(400_000, 250_000, 20_000, changes=_RECALL_LSTM),
    ("ngrams", "ntm-ff"): Tuned(400_000, 300_000, 20_000, changes=_NGRAMS | _AVERAGED),
    ("ngrams", "ntm-lstm"): Tuned(100_000, 60_000, 10_000, changes=_NGRAMS),
    ("priority-sort", "ntm-ff"): Tuned(1_800_000, 450_000, 400_000, 10, _SORT),
    ("priority-sort", "ntm-lstm"): Tuned(600_000, 300_000, 80_000, 10, _SORT_LSTM),
    ("copy", "lstm"): Tuned(1_000_000, 600_000, 60_000, 0, _baseline("3e-4")),
    ("priority-sort", "lstm"): Tuned(1_000_000, 600_000, 60_000, 0, _baseline("1e-3")),
}

# How far the learning curves of the paper's figures go.
_SEQUENCES = {"repeat-copy": 500_000}


def _ntm(task: str, model: str) -> PaperNetwork:
    feedforward = model == "ntm-ff"
    row = (_FEEDFORWARD if feedforward else _LSTM_CONTROLLER)[task]
    heads, size, layers, learning_rate, parameters = row
    inputs, outputs, shifts = _WIDTHS[task]
    config = NTMConfig(
        inputs,
        outputs,
        controller="feedforward" if feedforward else "lstm",
        controller_size=size,
        controller_layers=layers,
        memory_locations=128,
        memory_width=20,
        read_heads=heads,
        write_heads=heads,
        shifts=shifts,
    )
    return PaperNetwork(task, model, config, learning_rate, parameters)


def _lstm(task: str) -> PaperNetwork:
    size, learning_rate, parameters = _LSTM[task]
    inputs, outputs, _ = _WIDTHS[task]
    config = LSTMConfig(inputs, outputs, hidden_size=size, layers=3)
    return PaperNetwork(task, "lstm", config, learning_rate, parameters)


TABLES: tuple[PaperNetwork, ...] = (
    *(_ntm(task, "ntm-ff") for task in _FEEDFORWARD),
    *(_ntm(task, "ntm-lstm") for task in _LSTM_CONTROLLER),
    *(_lstm(task) for task in _LSTM),
)


def paper_network(task: str, model: str) -> PaperNetwork:
    """The row of the tables for a task and a model."""
    for network in TABLES:
        if (network.task, network.model) == (task, model):
            return network
    if model not in MODELS:
        raise ValueError(unknown("model", model, MODELS))
    raise ValueError(unknown("task in the paper", task, _WIDTHS))


def paper_settings(task: str | Task, model: str = "ntm-ff") -> Settings:
    """The paper's own settings for a task and a model; a task of yours gets those of copy.

    How the weights begin, which the paper does not say, is ours.
    """
    if isinstance(task, str):
        known_task(task)
        task = make_task(task)
    network = paper_network(task.name if task.name in _WIDTHS else "copy", model)
    config = fitted(network.config, task)
    if isinstance(config, NTMConfig):
        starts = _STARTS.get((network.task, model), {})
        config = replace(config, shifts=(-1, 0, 1), **starts)
    return Settings(
        task,
        config,
        OptimiserSettings(learning_rate=network.learning_rate),
        TrainingSettings(sequences=_SEQUENCES.get(task.name, 1_000_000)),
    )


def settings_for(task: str | Task, model: str = "ntm-ff") -> Settings:
    """The settings that we train a network with; the paper's for most of the baselines."""
    settings = paper_settings(task, model)
    tuned = _TUNED.get((settings.task.name, model), None if model == "lstm" else _UNKNOWN)
    return settings.changed(tuned.texts()) if tuned else settings

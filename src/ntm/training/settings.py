"""Everything that decides a run: task, model, optimiser and training, as values.

    settings = paper_settings("copy", "ntm-ff")
    settings = settings.changed({"training.batch_size": "16", "task.max_length": "10"})

The four sections are frozen dataclasses. The fields of a task and of a model config are settings as
they are; the channels of the model follow from the task.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, get_type_hints

from ntm.baseline import LSTMConfig
from ntm.config import NTMConfig
from ntm.tasks import TASKS, Task
from ntm.tasks.settings import check_setting
from ntm.training.fields import from_json, from_text, setting, unknown

SECTIONS = ("task", "model", "optimiser", "training")
MODELS = ("ntm-ff", "ntm-lstm", "lstm")
FOLLOWS_FROM_TASK = ("input_size", "output_size")

ModelConfig = NTMConfig | LSTMConfig


@dataclass(frozen=True)
class _Checked:
    """Values are held against what their fields declare."""

    def __post_init__(self) -> None:
        kinds = get_type_hints(type(self))
        for f in fields(self):
            value = getattr(self, f.name)
            check_setting(f.name, value, kinds[f.name], f.metadata)
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"{f.name} is {value}; give a finite number.")


@dataclass(frozen=True)
class OptimiserSettings(_Checked):
    """Graves' RMSProp; the defaults are the paper's."""

    learning_rate: float = setting(1e-4, "size of a step", at_least=0)
    halve_every: int = setting(
        0, "sequences in which the size of a step halves, smoothly; 0 keeps it", at_least=0
    )
    halve_after: int = setting(0, "sequences before that begins", at_least=0)
    decay: float = setting(
        0.95, "how slowly the means of the gradient and its square forget", at_least=0, at_most=1
    )
    momentum: float = setting(0.9, "share of the last step in the next", at_least=0, at_most=1)
    epsilon: float = setting(1e-4, "added to the variance, inside the root", at_least=1e-12)
    clip: float = setting(
        10.0, "every component of the gradient is clipped to +- this first", at_least=1e-12
    )
    backward_clip: float = setting(
        0.0,
        "what flows back through an NTM's controller and heads at one step of one sequence is "
        "clipped to +- this; 0 clips nothing",
        at_least=0,
    )
    backward_clip_until: int = setting(
        0, "sequences after which that clip is let go; 0 keeps it", at_least=0
    )

    def rate_after(self, sequences: int) -> float:
        """The size of a step after so many sequences."""
        if self.halve_every == 0:
            return self.learning_rate
        halvings = max(0, sequences - self.halve_after) / self.halve_every
        return float(self.learning_rate * 0.5**halvings)

    def clips_backward(self, sequences: int) -> bool:
        """Whether `backward_clip` still holds after so many sequences."""
        return self.backward_clip_until == 0 or sequences < self.backward_clip_until


@dataclass(frozen=True)
class TrainingSettings(_Checked):
    """How long, in what portions and how closely watched."""

    sequences: int = setting(
        1_000_000, "sequences to train on, rounded up to whole batches", at_least=1
    )
    batch_size: int = setting(1, "sequences per update", at_least=1)
    bucketed: bool = setting(
        False, "batches of nearly equal lengths, which the LSTM baseline runs faster"
    )
    seed: int = setting(1, "decides the initial weights and all data", at_least=0)
    engine: str = setting("auto", "what runs an NTM", choices=("auto", "native", "reference"))
    device: str = setting("cpu", "where to train: cpu, cuda, cuda:1, ...")
    threads: int = setting(0, "threads for torch; 0 leaves the number to torch", at_least=0)
    report_every: int = setting(1000, "sequences between two lines of metrics.jsonl", at_least=1)
    validate_every: int = setting(
        10_000,
        "sequences between two validations, made at the next report; 0 never validates",
        at_least=0,
    )
    validation_sequences: int = setting(
        100,
        "fresh sequences, always the same, whose mean cost chooses best.safetensors",
        at_least=1,
    )
    validate_beyond: str = setting(
        "",
        "axes of the task, such as length=60: validation adds the cost of as many sequences fixed "
        "at these values, beyond what is trained on; nothing adds none",
    )
    starts: int = setting(
        1, "initialisations to try: each has a trial, and the best goes on", at_least=1
    )
    trial_sequences: int = setting(10_000, "sequences of a trial", at_least=1)
    enough_bits: float = setting(
        0.0, "a start whose validation is below this goes on at once", at_least=0
    )
    average_share: float = setting(
        0.0,
        "what is validated, and kept as best, is a mean of the weights over about this share of "
        "the training so far; 0 takes the weights as they are",
        at_least=0,
        at_most=1,
    )
    checkpoint_seconds: float = setting(30.0, "seconds between two checkpoints", at_least=0)
    picture_seconds: float = setting(
        30.0, "seconds between two pictures of an answer on a terminal; 0 shows none", at_least=0
    )
    stop_when_solved: bool = setting(False, "stop early, once the task is solved")
    solved_bits: float = setting(
        0.01, "solved means: every report below this many bits per sequence ...", at_least=0
    )
    solved_window: int = setting(10_000, "... over this many sequences", at_least=1)
    stop_after_seconds: float = setting(
        0.0, "stop, ready to resume, after this time; 0 sets no limit", at_least=0
    )

    @property
    def has_trials(self) -> bool:
        """Whether several starts are tried: a run that is shorter than a trial has one."""
        return self.starts > 1 and self.sequences >= self.trial_sequences

    @property
    def trial_length(self) -> int:
        """Sequences of a trial, in whole batches."""
        return -(-self.trial_sequences // self.batch_size) * self.batch_size

    @property
    def most_sequences(self) -> int:
        """Sequences of the whole run, in whole batches, if every start is tried."""
        whole = -(-self.sequences // self.batch_size) * self.batch_size
        return whole + (self.starts - 1) * self.trial_length if self.has_trials else whole


def beyond_task(task: Task, at: str) -> Task | None:
    """The task at a place beyond the range it is trained on, such as `length=60`; None for none."""
    if not at:
        return None
    pairs = [pair.partition("=") for pair in at.replace(" ", "").split(",")]
    if not all(value.isdecimal() for _, _, value in pairs):
        raise ValueError(
            f"training.validate_beyond is {at!r}, but it takes axes of the task with their values, "
            f"such as length=60 or length=15,repeats=10."
        )
    return task.at(**{axis: int(value) for axis, _, value in pairs})


@dataclass(frozen=True)
class Settings:
    """One run, completely: two runs with equal settings compute the same numbers."""

    task: Task
    model: ModelConfig
    optimiser: OptimiserSettings = OptimiserSettings()
    training: TrainingSettings = TrainingSettings()

    def __post_init__(self) -> None:
        sizes = (self.task.input_size, self.task.output_size)
        if (self.model.input_size, self.model.output_size) != sizes:
            raise ValueError(
                f"The {self.task.name} task has {sizes[0]} inputs and {sizes[1]} outputs, but the "
                f"model has {self.model.input_size} and {self.model.output_size}; give them the "
                f"same sizes."
            )
        beyond_task(self.task, self.training.validate_beyond)

    @property
    def model_name(self) -> str:
        """What the command line calls this kind of model: ntm-ff, ntm-lstm or lstm."""
        return model_name(self.model)

    def changed(self, texts: Mapping[str, str]) -> "Settings":
        """The same with some settings typed anew: `{"section.key": "value"}`."""
        sections: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
        for key, text in texts.items():
            section, name = _split(key)
            owner = type(getattr(self, section))
            sections[section][name] = from_text(owner, section, name, text)
            if section == "model" and name in FOLLOWS_FROM_TASK:
                raise ValueError(f"model.{name} follows from the task; change the task instead.")
        task = replace(self.task, **sections["task"])
        return Settings(
            task,
            replace(fitted(self.model, task), **sections["model"]),
            replace(self.optimiser, **sections["optimiser"]),
            replace(self.training, **sections["training"]),
        )

    def to_json(self) -> dict[str, Any]:
        """The settings as plain data."""
        return {
            "task": {"name": self.task.name, **asdict(self.task)},
            "model": {"name": self.model_name, **asdict(self.model)},
            "optimiser": asdict(self.optimiser),
            "training": asdict(self.training),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Settings":
        """What `to_json` gave, or an error that names the key that is wrong."""
        sections = {name: dict(data[name]) if name in data else {} for name in SECTIONS}
        for key in data:
            if key not in SECTIONS:
                raise ValueError(unknown("section of settings", key, SECTIONS))
        task_kind = known_task(sections["task"].pop("name", None))
        model_kind = model_class(sections["model"].pop("name", None))
        return cls(
            _rebuilt(task_kind, "task", sections["task"]),
            _rebuilt(model_kind, "model", sections["model"]),
            _rebuilt(OptimiserSettings, "optimiser", sections["optimiser"]),
            _rebuilt(TrainingSettings, "training", sections["training"]),
        )


def model_name(config: ModelConfig) -> str:
    """What the command line calls this kind of model: ntm-ff, ntm-lstm or lstm."""
    if isinstance(config, LSTMConfig):
        return "lstm"
    return "ntm-ff" if config.controller == "feedforward" else "ntm-lstm"


def model_class(name: str | None) -> type[NTMConfig] | type[LSTMConfig]:
    """The config class behind a model's name."""
    if name not in MODELS:
        raise ValueError(unknown("model", str(name), MODELS))
    return LSTMConfig if name == "lstm" else NTMConfig


def known_task(name: str | None) -> type[Task]:
    """The class of a task by its name."""
    if name not in TASKS:
        raise ValueError(unknown("task", str(name), TASKS))
    return TASKS[name]


def fitted(config: ModelConfig, task: Task) -> ModelConfig:
    """The config with the channels of the task."""
    return replace(config, input_size=task.input_size, output_size=task.output_size)


def _split(key: str) -> tuple[str, str]:
    section, dot, name = key.partition(".")
    if section not in SECTIONS:
        raise ValueError(unknown("section of settings", section, SECTIONS))
    if not dot or not name:
        raise ValueError(f"A setting is named section.key, such as training.seed; got {key!r}.")
    return section, name


def _rebuilt(owner: type, section: str, values: Mapping[str, Any]) -> Any:
    for f in fields(owner):
        if f.name in FOLLOWS_FROM_TASK and f.name not in values:
            raise ValueError(f"The settings lack {section}.{f.name}.")
    return owner(**{name: from_json(owner, section, name, v) for name, v in values.items()})

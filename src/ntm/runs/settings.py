"""Everything that decides a run: task, model, optimiser and training, as values.

    settings = paper_settings("copy", "ntm-ff")
    settings = settings.with_(training={"batch_size": 16}, task={"max_length": 10})
    settings = settings.with_text({"training.batch_size": "16"})    # as typed on a command line

The five sections are frozen dataclasses. The fields of a task and of a model config are settings as
they are; the channels of the model follow from the task.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ntm import engine
from ntm.common.fields import Checked, check_value, named_field, parsed, setting
from ntm.common.registry import source_of
from ntm.common.text import nearest, unknown
from ntm.models.family import MODELS, Family, ModelConfig, family, family_of
from ntm.runs.formats import FORMAT, modernised
from ntm.tasks import TASKS, Task

SECTIONS = ("task", "model", "initialisation", "optimiser", "training")
FOLLOWS_FROM_TASK = ("input_size", "output_size")
SOURCE = "from"
"""Where a task or a model from outside the package is found: a module, or a file."""


@dataclass(frozen=True)
class OptimiserSettings(Checked):
    """Graves' RMSProp; the defaults are the paper's."""

    learning_rate: float = setting(1e-4, "learning rate", at_least=0)
    halve_every: int = setting(
        0, "half-life of the learning rate, in sequences (0: constant)", at_least=0
    )
    halve_after: int = setting(0, "sequences before the learning rate begins to fall", at_least=0)
    decay: float = setting(
        0.95, "decay of the running means of the gradient and its square", at_least=0, at_most=1
    )
    momentum: float = setting(0.9, "momentum", at_least=0, at_most=1)
    epsilon: float = setting(1e-4, "added to the variance, inside the root", above=0)
    clip: float | None = setting(
        10.0, "every component of the gradient is clipped to +- this first", above=0
    )
    backward_clip: float | None = setting(
        None,
        "bound on the gradient that flows back through an NTM's controller and heads, per step and "
        "sequence",
        above=0,
    )
    backward_clip_until: int | None = setting(
        None, "sequences after which backward_clip no longer applies", at_least=1
    )

    def rate_after(self, sequences: int) -> float:
        """The learning rate after so many sequences."""
        if self.halve_every == 0:
            return self.learning_rate
        halvings = max(0, sequences - self.halve_after) / self.halve_every
        return float(self.learning_rate * 0.5**halvings)

    def backward_clip_after(self, sequences: int) -> float | None:
        """The bound on the backward pass after so many sequences."""
        until = self.backward_clip_until
        return self.backward_clip if until is None or sequences < until else None


@dataclass(frozen=True)
class TrainingSettings(Checked):
    """How long, in what batches, and how often to report, validate and save."""

    sequences: int = setting(
        1_000_000, "sequences to train on, rounded up to whole batches", at_least=1
    )
    batch_size: int = setting(1, "sequences per update", at_least=1)
    bucketed: bool = setting(
        False, "batches of nearly equal lengths, which torch runs an LSTM faster on"
    )
    memory_locations: int | None = setting(
        None,
        "memory locations while a network trains, at most; it is validated and saved with all that "
        "it has",
        at_least=1,
    )
    seed: int = setting(1, "decides the initial weights and all data", at_least=0)
    engine: str = setting(
        "auto", "engine that runs an NTM, or trains an LSTM", choices=engine.names
    )
    device: str = setting("cpu", "where to train: cpu, cuda, cuda:1, ...")
    threads: int = setting(0, "threads for torch (0: torch's own choice)", at_least=0)
    report_every: int = setting(1000, "sequences between lines of metrics.jsonl", at_least=1)
    validate_every: int = setting(
        10_000,
        "sequences between validations, made at the next report (0: never)",
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
    start_from: str | None = setting(
        None,
        "network whose weights the run starts from, instead of fresh ones: a run folder, a saved "
        "network or a packaged one",
    )
    starts: int = setting(
        1, "initialisations to try: each has a trial, and the best continues", at_least=1
    )
    trial_sequences: int = setting(10_000, "sequences of a trial", at_least=1)
    enough_bits: float = setting(
        0.0, "a start whose validation cost is below this continues at once", at_least=0
    )
    average_share: float = setting(
        0.0,
        "validate a running mean of the weights, too, over about this share of the training so "
        "far, and keep the better one (0: no mean)",
        at_least=0,
        at_most=1,
    )
    checkpoint_seconds: float = setting(30.0, "seconds between checkpoints", at_least=0)
    picture_seconds: float = setting(
        30.0, "seconds between pictures of an answer on a terminal (0: none)", at_least=0
    )
    stop_when_solved: bool = setting(False, "stop early, once the task is solved")
    solved_bits: float = setting(
        0.01, "solved means: every report below this many bits per sequence ...", at_least=0
    )
    solved_window: int = setting(10_000, "... over this many sequences", at_least=1)
    stop_after_seconds: float | None = setting(
        None, "stop after this many seconds; the run can be resumed", above=0
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
    """The task at a size beyond its trained range, such as `length=60`; None if `at` is empty."""
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
    initialisation: Any = None
    """How the weights begin, of the type that the model's family has for that; None: as usual."""
    model_name: str = ""
    """Name of the model's family on the command line; empty: the family of the config."""

    def __post_init__(self) -> None:
        self._require_family()
        sizes = (self.task.input_size, self.task.output_size)
        if (self.model.input_size, self.model.output_size) != sizes:
            raise ValueError(
                f"The {self.task.name} task has {sizes[0]} inputs and {sizes[1]} outputs, but the "
                f"model has {self.model.input_size} and {self.model.output_size}; give them the "
                f"same sizes."
            )
        beyond_task(self.task, self.training.validate_beyond)
        self._require_trainable_memory()
        self._require_one_start()
        if self.initialisation is None:
            object.__setattr__(self, "initialisation", self.family.initialisation())

    def _require_family(self) -> None:
        if not self.model_name:
            object.__setattr__(self, "model_name", family_of(self.model).name)
        if not self.family.fits(self.model):
            raise ValueError(
                f"The model {self.model_name} has a {_described_config(self.family)}, got "
                f"{self.model}; give it such a config, or name another model."
            )

    def _require_trainable_memory(self) -> None:
        most = self.training.memory_locations
        if most is not None and not hasattr(self.model, "memory_locations"):
            raise ValueError(
                f"training.memory_locations is {most}, but {self.model_name} has no memory; "
                f"leave it out, or train an NTM."
            )

    def _require_one_start(self) -> None:
        chosen = self.training
        if chosen.start_from is None:
            return
        for name, usual in (("starts", 1), ("memory_locations", None)):
            if (value := getattr(chosen, name)) != usual:
                raise ValueError(
                    f"training.{name} is {value}, but the run starts from the weights of "
                    f"{chosen.start_from}, which are all there is to start with; leave "
                    f"training.{name} out."
                )

    @property
    def trained_model(self) -> ModelConfig:
        """The model while it trains, which may have fewer memory locations."""
        most = self.training.memory_locations
        if most is None or most >= self.model.memory_locations:
            return self.model
        return replace(self.model, memory_locations=most)

    @property
    def family(self) -> Family:
        """The family of the model."""
        return family(self.model_name)

    @property
    def network(self) -> tuple[str, str]:
        """What is trained on what: the names of the task and the model."""
        return self.task.name, self.model_name

    def with_(self, **sections: Mapping[str, Any]) -> "Settings":
        """The same with other values: `settings.with_(training={"sequences": 20_000})`."""
        for section, values in sections.items():
            _require_section(section)
            for name in values:
                self._require_setting(section, name)
        changes = {section: sections.get(section, {}) for section in SECTIONS}
        task = replace(self.task, **changes.pop("task"))
        model = replace(fitted(self.model, task), **changes.pop("model"))
        others = {name: replace(getattr(self, name), **values) for name, values in changes.items()}
        return Settings(task, model, **others, model_name=self._name_with(model))

    def _name_with(self, model: ModelConfig) -> str:
        """The family with another config: the same or, where another of its class fits, that."""
        own = self.family
        kin = [other for other in MODELS.values() if type(other) is type(own)]
        fitting = [other.name for other in (own, *kin) if other.fits(model)]
        return fitting[0] if fitting else own.name

    def with_text(self, texts: Mapping[str, str]) -> "Settings":
        """The same with some settings as text: `{"section.key": "value"}`."""
        sections: dict[str, dict[str, Any]] = {}
        for key, text in texts.items():
            section, name = self._named(key)
            value = parsed(type(getattr(self, section)), section, name, text)
            sections.setdefault(section, {})[name] = value
        return self.with_(**sections)

    def flat(self) -> dict[str, Any]:
        """All of it as `section.key` and value, without what follows from the task."""
        data = self.to_json()
        return {
            f"{section}.{name}": value
            for section in data
            for name, value in data[section].items()
            if name not in (*FOLLOWS_FROM_TASK, SOURCE)
        }

    def to_json(self) -> dict[str, Any]:
        """The settings as plain data."""
        heads = {
            "task": _head(self.task.name, type(self.task)),
            "model": _head(self.model_name, self.family),
        }
        return {name: heads.get(name, {}) | asdict(getattr(self, name)) for name in SECTIONS}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], format: int = FORMAT) -> "Settings":  # noqa: A002
        """What `to_json` gave, or an error that names the key that is wrong.

        format: that of the file it was read from.
        """
        for key in data:
            _require_section(key)
            if not isinstance(data[key], Mapping):
                raise ValueError(
                    f"The section {key} must have settings by name, got {data[key]!r}."
                )
        sections = {name: dict(data.get(name, {})) for name in SECTIONS}
        if format == 1:
            sections = modernised(sections)
        task = TASKS.find(*_taken(sections["task"]))
        kind = family(*_taken(sections["model"]))
        owners = {
            "task": task,
            "model": kind.config,
            "initialisation": kind.initialisation,
            "optimiser": OptimiserSettings,
            "training": TrainingSettings,
        }
        values = {name: _rebuilt(owners[name], name, sections[name]) for name in SECTIONS}
        return cls(**values, model_name=kind.name)

    def _named(self, key: str) -> tuple[str, str]:
        section, dot, name = key.partition(".")
        if not dot:
            likely = nearest(key, self.flat()) or "training.seed"
            raise ValueError(f"A setting is named section.key, such as {likely}; got {key!r}.")
        _require_section(section)
        self._require_setting(section, name)
        return section, name

    def _require_setting(self, section: str, name: str) -> None:
        named_field(type(getattr(self, section)), section, name)
        if section == "model" and name in FOLLOWS_FROM_TASK:
            raise ValueError(f"model.{name} follows from the task; change the task instead.")


def fitted(config: ModelConfig, task: Task) -> ModelConfig:
    """The config with the channels of the task."""
    return replace(config, input_size=task.input_size, output_size=task.output_size)


def _described_config(kind: Family) -> str:
    fixed = " and ".join(f"{name}={value}" for name, value in kind.fixed.items())
    return kind.config.__name__ + (f" with {fixed}" if fixed else "")


def _head(name: str, entry: object) -> dict[str, str]:
    """The name of a task or a model and, if it is not the package's own, where it comes from."""
    source = source_of(entry)
    return {"name": name} if source is None else {"name": name, SOURCE: source}


def _taken(section: dict[str, Any]) -> tuple[str | None, str | None]:
    name, source = section.pop("name", None), section.pop(SOURCE, None)
    for word in (name, source):
        check_value("A name in the settings", word, str | None)
    return name, source


def _require_section(name: str) -> None:
    if name not in SECTIONS:
        raise ValueError(unknown("section of settings", name, SECTIONS))


def _rebuilt(owner: type, section: str, values: Mapping[str, Any]) -> Any:
    for f in fields(owner):
        if f.name in FOLLOWS_FROM_TASK and f.name not in values:
            raise ValueError(f"The settings lack {section}.{f.name}.")
    for name in values:
        named_field(owner, section, name)
    # Tuples are lists in JSON.
    return owner(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})

"""Settings of a run: task, model, initialisation, optimiser and training.

    settings = paper_settings("copy", "ntm-ff")
    settings = settings.with_(training={"batch_size": 16}, task={"max_length": 10})
    settings = settings.with_text({"training.batch_size": "16"})    # as typed on a command line

The five sections are frozen dataclasses. Every field of a task and of a model config is a setting,
except the model's input and output sizes, which follow from the task.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from ntm.common.fields import check_value, named_field, parsed
from ntm.common.registry import source_of
from ntm.common.text import nearest, unknown
from ntm.models.family import MODELS, Family, ModelConfig, family, family_of
from ntm.runs.sections import OptimiserSettings, TrainingSettings, beyond_task
from ntm.tasks import TASKS, Task
from ntm.tasks.mixture import mixture_of

SECTIONS = ("task", "model", "initialisation", "optimiser", "training")
FOLLOWS_FROM_TASK = ("input_size", "output_size")
SOURCE = "from"
"""Key for the module or file of a task or model from outside the package."""
FORMAT = 2
READABLE = (1, FORMAT)
"""Readable formats. Format 1 had the initialisation in the model section, and 0 for "no bound"."""

_INITIALISATION = ("start_memory", "start_spread", "start_together", "head_gain")
_NO_BOUND = {
    "optimiser": ("clip", "backward_clip", "backward_clip_until"),
    "training": ("stop_after_seconds",),
}
_Sections = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Settings:
    """All settings of one run: two runs with equal settings compute equal numbers."""

    task: Task
    model: ModelConfig
    optimiser: OptimiserSettings = field(default_factory=OptimiserSettings)
    training: TrainingSettings = field(default_factory=TrainingSettings)
    initialisation: Any = None
    """Initialisation of the weights, of the family's own type; None for the family's default."""
    model_name: str = ""
    """Name of the model's family on the command line; empty for the family of the config."""

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
        mixture_of(self.task, self.training.mixture)
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
                    f"{chosen.start_from}, so it has one start with its full memory; leave "
                    f"training.{name} out."
                )

    @property
    def trained_model(self) -> ModelConfig:
        """Config of the model during training, which may have fewer memory locations."""
        most = self.training.memory_locations
        if most is None or most >= self.model.memory_locations:
            return self.model
        return replace(self.model, memory_locations=most)

    @property
    def family(self) -> Family:
        """Family of the model."""
        return family(self.model_name)

    @property
    def network(self) -> tuple[str, str]:
        """Names of the task and the model."""
        return self.task.name, self.model_name

    def with_(self, **sections: Mapping[str, Any]) -> "Settings":
        """Return a copy with other values: `settings.with_(training={"sequences": 20_000})`."""
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
        """Return the first family that fits a config: this family, or another one of its class."""
        own = self.family
        kin = [other for other in MODELS.values() if type(other) is type(own)]
        fitting = [other.name for other in (own, *kin) if other.fits(model)]
        return fitting[0] if fitting else own.name

    def with_text(self, texts: Mapping[str, str]) -> "Settings":
        """Return a copy with some settings parsed from text: `{"section.key": "value"}`."""
        sections: dict[str, dict[str, Any]] = {}
        for key, text in texts.items():
            section, name = self._named(key)
            value = parsed(type(getattr(self, section)), section, name, text)
            sections.setdefault(section, {})[name] = value
        return self.with_(**sections)

    def flat(self) -> dict[str, Any]:
        """Return settings as `{"section.key": value}`, without sizes that follow from the task."""
        data = self.to_json()
        return {
            f"{section}.{name}": value
            for section in data
            for name, value in data[section].items()
            if name not in (*FOLLOWS_FROM_TASK, SOURCE)
        }

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain data."""
        heads = {
            "task": _head(self.task.name, type(self.task)),
            "model": _head(self.model_name, self.family),
        }
        return {name: heads.get(name, {}) | asdict(getattr(self, name)) for name in SECTIONS}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], format: int = FORMAT) -> "Settings":  # noqa: A002
        """Rebuild settings from the result of `to_json`; an error names the wrong key.

        format: format number of the file that the data comes from (the current format).
        """
        for key in data:
            _require_section(key)
            if not isinstance(data[key], Mapping):
                raise ValueError(
                    f"The section {key} must have settings by name, got {data[key]!r}."
                )
        sections = {name: dict(data.get(name, {})) for name in SECTIONS}
        if format == 1:
            sections = _modernised(sections)
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
    """Return the config with the input and output sizes of the task."""
    return replace(config, input_size=task.input_size, output_size=task.output_size)


def _described_config(kind: Family) -> str:
    fixed = " and ".join(f"{name}={value}" for name, value in kind.fixed.items())
    return kind.config.__name__ + (f" with {fixed}" if fixed else "")


def _head(name: str, entry: object) -> dict[str, str]:
    """Return the name of a task or model, and its source if it is not part of the package."""
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


def _modernised(sections: _Sections) -> _Sections:
    """Convert sections of settings from format 1 to the current format."""
    begin = {k: v for k, v in sections["model"].items() if k in _INITIALISATION}
    model = {k: v for k, v in sections["model"].items() if k not in begin}
    bounded = {
        name: {k: None if k in keys and v == 0 else v for k, v in sections[name].items()}
        for name, keys in _NO_BOUND.items()
    }
    initialisation = begin | sections["initialisation"]
    return sections | bounded | {"model": model, "initialisation": initialisation}

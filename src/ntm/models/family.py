"""The kinds of model that a run can train, by name."""

from ntm.common.text import unknown
from ntm.config import NTMConfig
from ntm.layer import NTM
from ntm.models.lstm import LSTMBaseline, LSTMConfig

MODELS = ("ntm-ff", "ntm-lstm", "lstm")
ModelConfig = NTMConfig | LSTMConfig
Model = NTM | LSTMBaseline


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


def model_of(config: ModelConfig, engine: str = "auto") -> Model:
    """The network that a config describes, freshly initialised."""
    if isinstance(config, LSTMConfig):
        return LSTMBaseline.from_config(config)
    return NTM.from_config(config, engine=engine)

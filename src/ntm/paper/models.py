"""What models are called and how they are coloured, until the families say so themselves."""

from ntm.config import NTMConfig
from ntm.models.family import MODELS, model_class

_TITLES = {
    "ntm-ff": "NTM, feedforward controller",
    "ntm-lstm": "NTM, LSTM controller",
    "lstm": "LSTM",
}
# Okabe and Ito's colours, which stay apart under every common colour blindness.
_COLOURS = {"ntm-ff": "#0072B2", "ntm-lstm": "#009E73", "lstm": "#D55E00"}
FIXED = {
    "ntm-ff": {"controller": "feedforward"},
    "ntm-lstm": {"controller": "lstm"},
    "lstm": {},
}
WITH_HEADS = tuple(model for model in MODELS if model_class(model) is NTMConfig)


def model_title(model: str) -> str:
    """A model in words."""
    return _TITLES.get(model, model)


def model_colour(model: str) -> str:
    """The colour of a model's lines."""
    return _COLOURS.get(model, "#222222")

"""Conversion of settings files from earlier versions to the current format.

Format 1 stored the initialisation in the model section, and wrote 0 for "no bound".
"""

from typing import Any

FORMAT = 2
READABLE = (1, FORMAT)

_INITIALISATION = ("start_memory", "start_spread", "start_together", "head_gain")
_NO_BOUND = {
    "optimiser": ("clip", "backward_clip", "backward_clip_until"),
    "training": ("stop_after_seconds",),
}

Sections = dict[str, dict[str, Any]]


def modernised(sections: Sections) -> Sections:
    """Convert sections of settings from format 1 to the current format."""
    begin = {k: v for k, v in sections["model"].items() if k in _INITIALISATION}
    model = {k: v for k, v in sections["model"].items() if k not in begin}
    bounded = {
        name: {k: None if k in keys and v == 0 else v for k, v in sections[name].items()}
        for name, keys in _NO_BOUND.items()
    }
    initialisation = begin | sections["initialisation"]
    return sections | bounded | {"model": model, "initialisation": initialisation}

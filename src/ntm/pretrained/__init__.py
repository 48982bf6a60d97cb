"""Trained networks that come with the package.

    net = NTM.from_pretrained("copy-ff")

Each safetensors file in this folder holds the weights of one network. The metadata hold the
training settings and the costs on fresh sequences, within and beyond the trained range; `ntm
pretrained` shows them. Several seeds were trained, and the seed with the lowest validation cost was
published. If the run also validates beyond the trained range, the validation cost includes the cost
beyond it. The published costs were measured on other sequences. The two networks of the copy task
were then trained further with drawings among the data (task.structured), so that they copy any
drawing. `ntm.runs.packaged` reads and loads the files.
"""

from typing import TYPE_CHECKING

from ntm.common.lazy import lazily
from ntm.runs.packaged import (
    FOLDER,
    SEED,
    SEQUENCES,
    Ability,
    Card,
    facts,
    is_packaged,
    load,
    load_as,
    load_network,
    name_of,
    names,
    read_facts,
    settings,
)

if TYPE_CHECKING:
    from ntm.paper.publishing import measure_again, publish, publish_best

__all__ = [
    "FOLDER",
    "SEED",
    "SEQUENCES",
    "Ability",
    "Card",
    "facts",
    "is_packaged",
    "load",
    "load_as",
    "load_network",
    "measure_again",
    "name_of",
    "names",
    "publish",
    "publish_best",
    "read_facts",
    "settings",
]

# Publishing needs the experiments, which belong to a higher layer.
__getattr__, __dir__ = lazily(
    __name__, {"ntm.paper.publishing": ("measure_again", "publish", "publish_best")}
)

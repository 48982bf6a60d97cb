"""Parameter counts: the paper's and ours."""

from typing import Any

import torch

from ntm.models import family
from ntm.paper.settings import paper_tables

NOTE = """
Counted at the widths that the paper's counts imply (copy: 10 inputs, 9 outputs; repeat copy: 8, 7;
recall: 8, 6; n-grams: 1, 1; sort: 10, 8), with seven shifts, four for n-grams. The LSTMs match to
the parameter, except for sort: the paper's 384,424 is most likely 348,424 with two digits swapped.
The paper does not give enough detail to count its NTMs exactly."""


def parameter_counts() -> list[dict[str, Any]]:
    """Return a row per network of the paper's tables: the printed count and ours."""
    rows = []
    with torch.device("meta"):  # counting needs no initialised weights
        for network in paper_tables():
            kind = family(network.model)
            model = kind.build(network.config, kind.initialisation(), "auto")
            ours = sum(parameter.numel() for parameter in model.parameters())
            names = {"task": network.task, "model": network.model}
            counts = {"paper": network.parameters, "ours": ours}
            rows.append(names | counts | {"difference": ours - network.parameters})
    return rows

"""A family from outside the package that says no more than how a network is built."""

from typing import Any

from ntm import NTM, NTMConfig
from ntm.config import Initialisation
from ntm.models import register
from ntm.models.ntm import NTMFamily


class Louder(NTM):
    """An NTM whose logits are three times as large."""

    def forward(self, *arguments: Any, **options: Any) -> Any:
        logits, state = super().forward(*arguments, **options)
        return 3 * logits, state


class LouderFamily(NTMFamily):
    """An NTM that is surer of its answers."""

    def build(self, config: NTMConfig, initialisation: Initialisation, engine: str) -> Louder:
        return Louder.from_config(config, initialisation, engine=engine)


register(LouderFamily("ntm-louder", "A louder NTM", "#CC79A7"))
register(LouderFamily("ntm-louder-ff", "A louder NTM", "#CC79A7", {"controller": "feedforward"}))

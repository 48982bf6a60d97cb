"""The studio: a page on which a person watches the memory work.

    ntm studio runs                           # draw problems, watch training
    ntm trace runs/copy --html copy.html      # one trace as a file that opens anywhere

    from ntm.studio import show               # the same view in a notebook
    show(net, batch, task)

The page needs an extra: pip install 'neural-turing-machines[studio]'. The rest does without.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ntm.studio.documents import trace_document
    from ntm.studio.server import create_app
    from ntm.studio.sharing import View, show

__all__ = ["View", "create_app", "show", "trace_document"]

_HOMES = {
    "View": "sharing",
    "create_app": "server",
    "show": "sharing",
    "trace_document": "documents",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is: the command line needs nothing of it to start."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ntm.studio' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ntm.studio.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__

"""The studio: a page on which a person watches the memory work.

    ntm studio runs                           # draw problems, watch training
    ntm trace runs/copy --html copy.html      # one trace as a file that opens anywhere

    from ntm.studio import show, traced       # the same view in a notebook
    show(net, batch, task)
    traced(net, batch, task).save("t.npz")    # record now, look later: show, ntm trace t.npz

The page needs an extra: pip install 'neural-turing-machines[studio]'. The rest does without.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ntm.studio.documents import trace_document
    from ntm.studio.server import create_app
    from ntm.studio.sharing import View, show
    from ntm.studio.terminal import as_text
    from ntm.studio.tracing import traced

__all__ = ["View", "as_text", "create_app", "show", "trace_document", "traced"]

_HOMES = {
    "View": "sharing",
    "as_text": "terminal",
    "create_app": "server",
    "show": "sharing",
    "trace_document": "documents",
    "traced": "tracing",
}


def __getattr__(name: str) -> object:
    """Import what is asked for when it is: the command line needs nothing of it to start."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ntm.studio' has no attribute {name!r}")
    return getattr(importlib.import_module(f"ntm.studio.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__

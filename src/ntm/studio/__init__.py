"""The studio: a page on which a person watches the memory work.

    ntm studio runs                           # draw problems, watch training
    ntm trace runs/copy --html copy.html      # one trace as a file that opens anywhere

    from ntm.studio import show, traced       # the view of the page, in a notebook
    show(net, batch, task)
    traced(net, batch, task).save("t.npz")    # record now, look later: show, ntm trace t.npz

The page needs more packages: pip install 'neural-turing-machines[studio]'. Files and notebooks do
not need these packages.
"""

from typing import TYPE_CHECKING

from ntm.common.lazy import lazily

if TYPE_CHECKING:
    from ntm.studio.documents import trace_document
    from ntm.studio.server import create_app
    from ntm.studio.sharing import View, show
    from ntm.studio.terminal import as_text
    from ntm.studio.tracing import traced

__all__ = ["View", "as_text", "create_app", "show", "trace_document", "traced"]

_NAMES = {
    "ntm.studio.documents": ("trace_document",),
    "ntm.studio.server": ("create_app",),
    "ntm.studio.sharing": ("View", "show"),
    "ntm.studio.terminal": ("as_text",),
    "ntm.studio.tracing": ("traced",),
}

__getattr__, __dir__ = lazily(__name__, _NAMES)

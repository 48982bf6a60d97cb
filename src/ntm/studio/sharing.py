"""A trace as one self-contained HTML file, to share or to show in a notebook.

The file contains the viewer's modules, joined into one script, and its style sheet. The
Content-Security-Policy of the file allows only this script and this style sheet, by their hashes,
and no connections.
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch

from ntm.common.files import write_atomically
from ntm.models.family import Model
from ntm.report.rendering import rendered
from ntm.studio.documents import Document, trace_document
from ntm.studio.tracing import traced
from ntm.tasks import Batch, Task
from ntm.trace import Trace

VIEWER, STYLE = "viewer.js", "viewer.css"

_IMPORT = re.compile(r'^import\s*\{([^{}]*)\}\s*from\s*"\./([\w-]+\.js)";?[ \t]*\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*/\*\*.*?\*/\n", re.MULTILINE | re.DOTALL)
_MODULE_WORD = re.compile(r"^\s*(?:import|export)\b.*$", re.MULTILINE)

_START = """
const place = document.getElementById("viewer");
$viewer.mountViewer(place, JSON.parse(document.getElementById("trace").textContent), {
  view: JSON.parse(place.dataset.view),
});
"""


def static_folder() -> Path:
    """Return the folder with the files of the page."""
    return Path(__file__).parent / "static"


def as_html(document: Document, view: Mapping[str, int] | None = None) -> str:
    """Return a trace document as a self-contained page.

    view: step and head that the page shows first, counted from 0, such as {"step": 12, "head": 1}
        (None: first step, first head).
    """
    style = (static_folder() / STYLE).read_text(encoding="utf-8")
    script = joined_modules(static_folder(), VIEWER) + _START
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        f"img-src data:; base-uri 'none'; form-action 'none'"
    )
    return rendered(
        "shared.html",
        package="ntm.studio",
        policy=policy,
        title=document["title"],
        style=style,
        # A title may contain "</script>" or "<!--"; escaped, it cannot end the script element.
        trace=json.dumps(document, allow_nan=False).replace("<", "\\u003c"),
        view=json.dumps(view or {}),
        script=script,
    )


def without_comments(source: str) -> str:
    """Return the source of a module without the comments /** ... */, which declare types."""
    return _COMMENT.sub("", source)


def joined_modules(folder: Path, name: str) -> str:
    """Return an ES module and all its imports as one script, each module after its imports.

    Every module becomes a function that is called once and returns the exports. The modules import
    `{names} from "./file.js"` and export declarations. No bundler is used, because pages are
    written on machines without node: the package would have to contain the bundle as well as the
    modules, and a check that both are equal.
    """
    modules: dict[str, str] = {}
    _collect(folder, name, modules, above=())
    return "\n".join(modules.values())


def _collect(folder: Path, name: str, modules: dict[str, str], above: tuple[str, ...]) -> None:
    if name in modules:
        return
    if name in above:
        raise ValueError(f"{name} cannot be joined with other modules: {above[-1]} imports it too.")
    source = without_comments((folder / name).read_text(encoding="utf-8"))
    for _, needed in _IMPORT.findall(source):
        _collect(folder, needed, modules, (*above, name))
    exported = ", ".join(_EXPORT.findall(source))
    source = _EXPORT.sub("", _IMPORT.sub(_taken, source))
    if left := _MODULE_WORD.search(source):
        raise ValueError(f"{name} cannot be joined with other modules: {left[0].strip()}")
    modules[name] = f"const {_variable(name)} = (() => {{\n{source}return {{ {exported} }};\n}})();"


def _taken(imported: re.Match[str]) -> str:
    """Return a declaration, to replace an import, that reads the exports of an earlier module."""
    names = imported[1].replace(" as ", ": ")
    return f"const {{{names}}} = {_variable(imported[2])};\n"


def _variable(name: str) -> str:
    """Return the name of the variable that holds the exports of a module."""
    return f"${name.removesuffix('.js').replace('-', '_')}"


def _digest(text: str) -> str:
    """Return the hash with which a Content-Security-Policy allows an inline script or style."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@dataclass(frozen=True)
class View:
    """A trace document that a notebook shows with the studio's viewer."""

    document: Document
    height: int = 900

    def html(self) -> str:
        """Return the whole page, self-contained."""
        return as_html(self.document)

    def save(self, path: str | Path) -> None:
        """Write the page to a file, which opens offline in any browser."""
        write_atomically(Path(path), self.html().encode())

    def __repr__(self) -> str:
        return f"View({self.document['title']!r}, height={self.height})"

    def _repr_html_(self) -> str:
        # A frame keeps the notebook's styles and scripts apart from the viewer's.
        return (
            f'<iframe sandbox="allow-scripts" title="{html.escape(self.document["title"])}" '
            f'style="width: 100%; height: {self.height}px; border: 0" '
            f'srcdoc="{html.escape(self.html())}"></iframe>'
        )


def show(
    shown: Model | Trace,
    problem: Batch | torch.Tensor | None = None,
    task: Task | None = None,
    *,
    title: str = "",
    height: int = 900,
) -> View:
    """Show a trace, or a network at work on a problem, as the studio draws it.

        show(net, task.at(length=12).sample(1, generator), task)
        show(Trace.load("copy.npz"))

    shown: a network, or a trace (then `problem`, `task` and `title` have no effect).
    problem: a batch of one, or inputs (time, 1, input_size) if there is no target.
    task: the task that names the channels (None: the channels are numbered).
    title: title of the trace ("": the task's name).
    height: height of the frame in a notebook, in pixels (900).
    """
    if isinstance(shown, Trace):
        return View(trace_document(shown), height)
    if problem is None:
        raise ValueError("Give the network a problem: show(net, batch, task).")
    return View(trace_document(traced(shown, problem, task, title)), height)

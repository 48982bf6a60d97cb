"""Write the site: the studio's modules, the engine, the networks, and the catalogue."""

import hashlib
import html
import json
import re
from pathlib import Path

import torch
from safetensors import torch as safetensors

import ntm
from ntm import pretrained
from ntm.common.files import write_atomically
from ntm.layer import NTM
from ntm.paper.baseline import FILE, as_ntm, baseline
from ntm.runs import FolderError
from ntm.site.catalogue import catalogue
from ntm.studio.curves import paper_curves
from ntm.studio.sharing import as_html, without_comments

_PACKAGE = Path(ntm.__file__).parent
_PAGE = "site/static/site.js"
_WORKER = "site/static/worker.js"
_STYLES = ("studio/static/viewer.css", "studio/static/studio.css", "site/static/site.css")
_OTHERS = ("studio/static/icon.svg", "engine/web/engine.wasm")
_MARK = "data/site.json"
_PREVIEW = "preview.png"
_IMPORT = re.compile(r'^(?:import|export)[^;]*?from "(\.[^"]+)";', re.MULTILINE)
_PLAY = re.compile(r'<section id="play".*?</section>', re.DOTALL)


def build(out: Path, *, address: str = "", repository: str = "") -> int:
    """Write the site into a new or existing folder; return its size in bytes.

    address: address of the site, for previews of links ("": previews have no picture).
    repository: address of the repository, for links ("": the page only names the package).
    """
    if out.exists() and not (out / _MARK).exists() and any(out.iterdir()):
        raise FolderError(f"{out} contains other files than a site; give a new or empty folder.")
    files = _files(address, repository)
    files["offline.js"] = _offline(files)
    for name, content in files.items():
        file = out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, content)
    return sum(map(len, files.values()))


def _files(address: str, repository: str) -> dict[str, bytes]:
    """Return the contents of all files by path, except the service worker."""
    known = catalogue()
    modules = _modules(_PAGE)
    files = {name: (_PACKAGE / name).read_bytes() for name in (*_STYLES, *_OTHERS)}
    for name in (*modules, *_modules(_WORKER)):
        source = (_PACKAGE / name).read_text(encoding="utf-8")
        files[name] = without_comments(source).encode()
    page = _index(modules).replace("<!-- address -->", _preview(address))
    files["index.html"] = page.replace("<!-- links -->", _links(repository)).encode()
    files[_PREVIEW] = (_PACKAGE / "site/static/preview.png").read_bytes()
    files[_MARK] = json.dumps(known).encode()
    files["data/curves.json"] = json.dumps({t: paper_curves(t) for t in known["tasks"]}).encode()
    files["data/shared.html"] = as_html({"title": "trace"}).encode()
    for name in pretrained.names():
        files[f"data/{name}.safetensors"] = _half(pretrained.load(name))
    files[f"data/{FILE.name}"] = _half(as_ntm(baseline()[0]))
    return files


def _half(net: NTM) -> bytes:
    """Return a safetensors file with the weights of a network in half precision."""
    state = net.state_dict()
    return safetensors.save({key: tensor.to(torch.float16) for key, tensor in state.items()})


def _modules(name: str) -> list[str]:
    """Return the paths, relative to the package, of a module and of all modules that it imports."""
    found: list[str] = []
    waiting = [name]
    while waiting:
        name = waiting.pop()
        found.append(name)
        folder = (_PACKAGE / name).parent
        for needed in _IMPORT.findall((_PACKAGE / name).read_text(encoding="utf-8")):
            path = (folder / needed).resolve().relative_to(_PACKAGE).as_posix()
            if path not in (*found, *waiting):
                waiting.append(path)
    return found


def _index(modules: list[str]) -> str:
    """Return the page, with the studio's play view and links that preload modules and data."""
    page = (_PACKAGE / "site/static/index.html").read_text(encoding="utf-8")
    studio = (_PACKAGE / "studio/static/index.html").read_text(encoding="utf-8")
    play = _PLAY.search(studio)
    if play is None:
        raise ValueError("The studio's page has no play view.")
    preloads = [f'<link rel="modulepreload" href="{name}">' for name in modules]
    preloads.append(f'<link rel="preload" href="{_MARK}" as="fetch" crossorigin>')
    page = page.replace("<!-- play -->", play[0])
    return page.replace("<!-- preloads -->", "\n".join(preloads))


def _preview(address: str) -> str:
    """Return the tags for the preview of links to the page; the address must be absolute."""
    if not address:
        return ""
    base = html.escape(address.rstrip("/"))
    return (
        f'<meta property="og:url" content="{base}/">\n'
        f'<meta property="og:image" content="{base}/{_PREVIEW}">\n'
        '<meta name="twitter:card" content="summary_large_image">'
    )


def _links(repository: str) -> str:
    """Return a sentence with links to the repository, or with the name of the package."""
    if not repository:
        return " The software behind this page: <code>pip install neural-turing-machines</code>."
    url = html.escape(repository.rstrip("/"))
    return (
        f' The software behind this page: <a href="{url}">repository</a> and '
        f'<a href="{url}/tree/main/docs">documentation</a>.'
    )


def _offline(files: dict[str, bytes]) -> bytes:
    """Return the service worker with the list of files and a version that depends on them."""
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    facts = {"VERSION": digest.hexdigest()[:16], "FILES": ["./", *sorted(files)]}
    lines = "\n".join(f"const {name} = {json.dumps(value)};" for name, value in facts.items())
    script = (_PACKAGE / "site/static/offline.js").read_text(encoding="utf-8")
    return script.replace("/* FILES */", lines).encode()

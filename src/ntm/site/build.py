"""Write the site: the studio's modules, the engine, the networks, and the catalogue."""

import hashlib
import json
import re
from pathlib import Path

import torch
from safetensors import torch as safetensors

import ntm
from ntm import pretrained
from ntm.common.files import write_atomically
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
_IMPORT = re.compile(r'^(?:import|export)[^;]*?from "(\.[^"]+)";', re.MULTILINE)
_PLAY = re.compile(r'<section id="play".*?</section>', re.DOTALL)


def build(out: Path) -> int:
    """Write the site into a new or existing folder; return its size in bytes."""
    if out.exists() and not (out / _MARK).exists() and any(out.iterdir()):
        raise FolderError(f"{out} contains other files than a site; give a new or empty folder.")
    files = _files()
    files["offline.js"] = _offline(files)
    for name, content in files.items():
        file = out / name
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, content)
    return sum(map(len, files.values()))


def _files() -> dict[str, bytes]:
    """Return all files by their paths, except the service worker."""
    known = catalogue()
    modules = _modules(_PAGE)
    files = {name: (_PACKAGE / name).read_bytes() for name in (*_STYLES, *_OTHERS)}
    for name in (*modules, *_modules(_WORKER)):
        source = (_PACKAGE / name).read_text(encoding="utf-8")
        files[name] = without_comments(source).encode()
    files["index.html"] = _index(modules).encode()
    files[_MARK] = json.dumps(known).encode()
    files["data/curves.json"] = json.dumps({t: paper_curves(t) for t in known["tasks"]}).encode()
    files["data/shared.html"] = as_html({"title": "trace"}).encode()
    for name in pretrained.names():
        files[f"data/{name}.safetensors"] = _half(name)
    return files


def _half(name: str) -> bytes:
    """Return the weights of a packaged network in half precision."""
    state = pretrained.load(name).state_dict()
    return safetensors.save({key: tensor.to(torch.float16) for key, tensor in state.items()})


def _modules(name: str) -> list[str]:
    """Return a module and all its imports, as paths below the package."""
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
    """Return the page, with the studio's play view and preload links for all its files."""
    page = (_PACKAGE / "site/static/index.html").read_text(encoding="utf-8")
    studio = (_PACKAGE / "studio/static/index.html").read_text(encoding="utf-8")
    play = _PLAY.search(studio)
    if play is None:
        raise ValueError("The studio's page has no play view.")
    preloads = [f'<link rel="modulepreload" href="{name}">' for name in modules]
    preloads.append(f'<link rel="preload" href="{_MARK}" as="fetch" crossorigin>')
    page = page.replace("<!-- play -->", play[0])
    return page.replace("<!-- preloads -->", "\n".join(preloads))


def _offline(files: dict[str, bytes]) -> bytes:
    """Return the service worker with its list of files; any changed file changes its version."""
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    facts = {"VERSION": digest.hexdigest()[:16], "FILES": ["./", *sorted(files)]}
    lines = "\n".join(f"const {name} = {json.dumps(value)};" for name, value in facts.items())
    script = (_PACKAGE / "site/static/offline.js").read_text(encoding="utf-8")
    return script.replace("/* FILES */", lines).encode()

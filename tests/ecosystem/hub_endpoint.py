"""A local server that speaks the part of the Hugging Face hub's API that pushing and loading use.

Repositories are kept in memory: a list of commits, each with all files of the repository.
"""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlparse

Files = dict[str, bytes]


class Endpoint(ThreadingHTTPServer):
    """The server, its repositories and the requests that it has answered."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repositories: dict[str, list[Files]] = {}
        self.requests: list[str] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def commit(self, name: str, files: Files) -> str:
        """Add files to a repository; return the name of the commit."""
        commits = self.repositories.setdefault(name, [])
        commits.append({**(commits[-1] if commits else {}), **files})
        return commit_name(len(commits) - 1)

    def files(self, name: str, revision: str) -> Files | None:
        """Return the files of a commit, or None if there is no such repository or commit."""
        commits = self.repositories.get(name)
        if commits is None:
            return None
        names = {commit_name(index): files for index, files in enumerate(commits)}
        return (commits[-1] if commits else {}) if revision == "main" else names.get(revision)


def commit_name(index: int) -> str:
    return f"{index:040x}"


class Handler(BaseHTTPRequestHandler):
    """Answers of the hub, as huggingface_hub requests them."""

    protocol_version = "HTTP/1.1"
    server: Endpoint

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def do_POST(self) -> None:
        body = self._body()
        match self._words():
            case ["api", "repos", "create"]:
                asked = json.loads(body)
                name = f"{asked['organization']}/{asked['name']}"
                self.server.repositories.setdefault(name, [])
                self._answer({"url": f"{self.server.address}/{name}"})
            case ["api", "validate-yaml"]:
                self._answer({"warnings": [], "errors": []})
            case ["api", "models", _, _, "preupload", _]:
                names = [file["path"] for file in json.loads(body)["files"]]
                kind = {"uploadMode": "regular", "shouldIgnore": False}
                self._answer({"files": [{"path": name, **kind} for name in names]})
            case ["api", "models", org, name, "commit", _]:
                parts = [json.loads(line) for line in body.splitlines()]
                sent = [part["value"] for part in parts if part["key"] == "file"]
                files = {file["path"]: base64.b64decode(file["content"]) for file in sent}
                made = self.server.commit(f"{org}/{name}", files)
                address = f"{self.server.address}/{org}/{name}/commit/{made}"
                self._answer({"commitUrl": address, "commitOid": made})
            case _:
                self._answer({"error": f"no POST {self.path}"}, 404)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        match self._words():
            case ["api", "models", org, name]:
                self._about(f"{org}/{name}", "main", tree=False)
            case ["api", "models", org, name, "revision", revision]:
                self._about(f"{org}/{name}", revision, tree=False)
            case ["api", "models", org, name, "tree", revision]:
                self._about(f"{org}/{name}", revision, tree=True)
            case [org, name, "resolve", revision, *path]:
                self._file(f"{org}/{name}", revision, "/".join(path))
            case _:
                self._answer({"error": f"no GET {self.path}"}, 404)

    def _about(self, name: str, revision: str, *, tree: bool) -> None:
        """Answer with the commit, or with the list of its files."""
        files = self.server.files(name, revision)
        if files is None:
            self._missing(name)
            return
        shown = [
            {"type": "file", "path": path, "size": len(data), "oid": _hash(data)}
            for path, data in files.items()
        ]
        latest = commit_name(len(self.server.repositories[name]) - 1)
        made = latest if revision == "main" else revision
        about = {"id": name, "sha": made, "siblings": [{"rfilename": path} for path in files]}
        self._answer(shown if tree else about)

    def _file(self, name: str, revision: str, path: str) -> None:
        files = self.server.files(name, revision)
        if files is None:
            self._missing(name)
        elif path not in files:
            self._answer({}, 404, {"X-Error-Code": "EntryNotFound"})
        else:
            latest = commit_name(len(self.server.repositories[name]) - 1)
            made = latest if revision == "main" else revision
            known = {"X-Repo-Commit": made, "ETag": f'"{_hash(files[path])}"'}
            self._send(files[path], 200, known)

    def _missing(self, name: str) -> None:
        there = name in self.server.repositories
        code = "RevisionNotFound" if there else "RepoNotFound"
        self._answer({"error": code}, 404, {"X-Error-Code": code})

    def _words(self) -> list[str]:
        self.server.requests.append(f"{self.command} {self.path}")
        return [unquote(part) for part in urlparse(self.path).path.strip("/").split("/")]

    def _body(self) -> bytes:
        if "Content-Length" in self.headers:
            return self.rfile.read(int(self.headers["Content-Length"]))
        body = b""
        while size := int(self.rfile.readline(), 16):  # chunked
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _answer(self, value: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self._send(json.dumps(value).encode(), status, headers or {})

    def _send(self, data: bytes, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _hash(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


@contextmanager
def running() -> Iterator[Endpoint]:
    """Serve within this context."""
    with Endpoint() as endpoint:
        thread = threading.Thread(target=endpoint.serve_forever)
        thread.start()
        try:
            yield endpoint
        finally:
            endpoint.shutdown()
            thread.join()

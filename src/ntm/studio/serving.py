"""Run the studio's server: listen on a port, open the browser, and serve until interrupted."""

import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import uvicorn

from ntm.runs import Run, RunError
from ntm.studio.connections import ImpatientProtocol
from ntm.studio.security import is_local
from ntm.studio.server import create_app
from ntm.studio.token import lasting_token


def serve(
    folder: Path,
    host: str,
    port: int,
    open_browser: bool,
    view: str = "",
    *,
    networks: Sequence[Run] = (),
) -> None:
    """Serve the studio until the process is interrupted.

    port: port to listen on (0: any free port).
    view: first view of the page: the part of the address after "#" ("": the default view).
    networks: saved networks to show in addition to the networks of the folder.
    """
    listening, token = _listen(host, port), lasting_token()
    address = _address(host, listening.getsockname()[1])
    invitation = f"{address}?token={token}{f'#{view}' if view else ''}"
    print(invitation, flush=True)
    if not is_local(host):
        print(
            f"ntm: anyone who can reach {host} and knows this address can see the runs in "
            f"{folder} and start new ones; the connection is not encrypted.",
            file=sys.stderr,
        )
    config = uvicorn.Config(
        create_app(folder, host, token=token, networks=networks),
        http=ImpatientProtocol,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
    )
    try:
        with _opening(invitation if open_browser else None):
            uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:  # raised again by the server once it has ended
        return


@contextmanager
def _opening(address: str | None) -> Iterator[None]:
    """Open an address in the browser, through a temporary file that redirects to it.

    Only the owner can read the file; a command line with the token would be visible to all users.
    """
    if address is None:
        yield
        return
    with tempfile.NamedTemporaryFile("w", suffix=".html") as file:
        file.write(f'<meta http-equiv="refresh" content="0; url={address}">')
        file.flush()
        opened = Path(file.name).as_uri()
        threading.Thread(target=webbrowser.open, args=(opened,), daemon=True).start()
        yield


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise RunError(
            f"The studio cannot listen on {host} port {port} ({error}); "
            f"choose another --port, or 0 for any free port."
        ) from error


def _address(host: str, port: int) -> str:
    """Return the studio's address for a browser on this machine."""
    if host in {"0.0.0.0", "::"}:
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"

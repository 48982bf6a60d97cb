"""The studio as a process: a socket, a browser, and an orderly end."""

import ipaddress
import socket
import sys
import threading
import webbrowser
from pathlib import Path

import uvicorn

from ntm.runs import RunError
from ntm.studio.server import create_app


def serve(folder: Path, host: str, port: int, open_browser: bool) -> None:
    """Serve the studio until somebody interrupts it; port 0 takes any that is free."""
    listening = _listen(host, port)
    address = _address(host, listening.getsockname()[1])
    print(address, flush=True)
    if not _is_local(host):
        print(
            f"ntm: whoever can reach {host} can look at the runs in {folder} and start new ones.",
            file=sys.stderr,
        )
    if open_browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    config = uvicorn.Config(
        create_app(folder, host), log_level="warning", access_log=False, server_header=False
    )
    try:
        uvicorn.Server(config).run(sockets=[listening])
    except KeyboardInterrupt:  # raised again by the server once it has ended
        return


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise RunError(
            f"The studio cannot listen on {host} port {port} ({error}); "
            f"name another --port, or 0 for any that is free."
        ) from error


def _address(host: str, port: int) -> str:
    """Where a browser on this machine finds it."""
    if host in {"0.0.0.0", "::"}:
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

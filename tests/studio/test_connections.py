"""Who takes too long is hung up on: real sockets, with less patience than usual."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any

import pytest
import uvicorn

from ntm.studio.connections import ImpatientProtocol
from ntm.studio.security import ANSWER_HEADERS

GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n"
PATIENCE = 30  # seconds until a test gives up; the server gives up long before
PAUSE = 0.02  # seconds between the bytes of somebody slow
LARGE = 50_000_000


class Hasty(ImpatientProtocol):
    seconds_to_ask = 1.0
    seconds_to_read = 1.0


async def app(scope: Any, receive: Any, send: Any) -> None:
    """Reads what is sent, waits longer than any request may take to arrive, and answers."""
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    while (message := await receive()).get("more_body"):
        pass
    if message["type"] == "http.disconnect":
        return
    await asyncio.sleep(1.5)
    body = bytes(LARGE) if scope["path"] == "/large" else b"done"
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def connect() -> Iterator[Callable[[], socket.socket]]:
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, http=Hasty, ws="none", log_level="critical", timeout_keep_alive=1)
    server = uvicorn.Server(config)
    running = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    running.start()
    yield lambda: socket.create_connection(listening.getsockname(), timeout=PATIENCE)
    server.should_exit = True
    running.join()


def rest(connection: socket.socket) -> bytes:
    """All that comes until the other end hangs up."""
    received = b""
    try:
        while part := connection.recv(1_000_000):
            received += part
    except ConnectionResetError:
        pass
    return received


@pytest.mark.parametrize("sent", [b"", b"G", GET[:-2], POST, POST + b"a body that ends too"])
def test_a_request_that_does_not_come_is_not_waited_for(
    connect: Callable[[], socket.socket], sent: bytes
) -> None:
    with connect() as connection:
        connection.sendall(sent)
        assert rest(connection) == b""


def test_nor_one_that_comes_a_byte_at_a_time(connect: Callable[[], socket.socket]) -> None:
    def drip(connection: socket.socket) -> None:
        for byte in islice(cycle(GET[:-1]), int(PATIENCE / PAUSE)):
            connection.sendall(bytes([byte]))
            threading.Event().wait(PAUSE)

    with connect() as connection, pytest.raises(OSError, match=r"reset|pipe"):
        drip(connection)


def test_an_answer_may_take_its_time_and_another_request_may_follow(
    connect: Callable[[], socket.socket],
) -> None:
    with connect() as connection:
        for request in (GET, POST + bytes(100), GET):
            connection.sendall(request)
            answer = b""
            while not answer.endswith(b"done"):
                part = connection.recv(1000)
                assert part, "it hung up"
                answer += part
        assert rest(connection) == b""  # and an idle connection is not kept


def test_half_a_request_behind_a_whole_one_is_not_waited_for(
    connect: Callable[[], socket.socket],
) -> None:
    with connect() as connection:
        connection.sendall(GET + POST)
        assert rest(connection).count(b"done") == 1


def test_an_answer_that_nobody_reads_is_dropped(connect: Callable[[], socket.socket]) -> None:
    with connect() as connection:
        connection.sendall(GET.replace(b"/ ", b"/large ", 1))
        threading.Event().wait(4)
        assert len(rest(connection)) < LARGE


def test_what_is_no_http_is_refused_with_all_headers(
    connect: Callable[[], socket.socket],
) -> None:
    with connect() as connection:
        connection.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        head, _, body = rest(connection).partition(b"\r\n\r\n")
    status, *headers = head.decode().split("\r\n")
    assert status.startswith("HTTP/1.1 400")
    named = dict(header.split(": ", 1) for header in headers)
    assert named.items() >= ANSWER_HEADERS.items()
    assert json.loads(body)["error"].endswith(".")

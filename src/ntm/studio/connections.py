"""HTTP connections that are closed if the client takes too long."""

import asyncio
import json
from http import HTTPStatus

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ntm.studio.security import ANSWER_HEADERS

SECONDS_TO_ASK = 10.0
SECONDS_TO_READ = 30.0


class Deadline:
    """Timer that closes a connection unless `lift` is called in time."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None

    def set(self, protocol: H11Protocol, seconds: float) -> None:
        """Start the timer, unless it is running."""
        if self._timer is None:
            self._timer = protocol.loop.call_later(seconds, protocol.transport.abort)

    def lift(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class ImpatientProtocol(H11Protocol):
    """uvicorn's HTTP protocol, with time limits for sending a request and reading the answer.

    uvicorn only closes connections that are idle after an answer. It would wait for ever for
    clients that send nothing, send a byte at a time, or do not read the answer.
    """

    seconds_to_ask = SECONDS_TO_ASK
    seconds_to_read = SECONDS_TO_READ

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer for the first request."""
        super().connection_made(transport)
        self._asking, self._reading = Deadline(), Deadline()
        self._asking.set(self, self.seconds_to_ask)

    def data_received(self, data: bytes) -> None:
        """Stop the timer once a request is complete; the first byte of the next starts it again."""
        super().data_received(data)
        if self.conn.their_state in {h11.IDLE, h11.SEND_BODY}:
            self._asking.set(self, self.seconds_to_ask)
        else:
            self._asking.lift()

    def on_response_complete(self) -> None:
        """Stop the timer; after an answer, uvicorn's timer for idle connections is used."""
        self._asking.lift()
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:  # the next request has already started
            self._asking.set(self, self.seconds_to_ask)

    def pause_writing(self) -> None:
        """Start a timer when the client reads more slowly than the studio writes."""
        super().pause_writing()
        self._reading.set(self, self.seconds_to_read)

    def resume_writing(self) -> None:
        """Stop the timer when the client has caught up."""
        super().resume_writing()
        self._reading.lift()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop all timers."""
        self._asking.lift()
        self._reading.lift()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer a malformed request with status 400, an error message and the usual headers."""
        headers = {"content-type": "application/json", "connection": "close", **ANSWER_HEADERS}
        status = HTTPStatus.BAD_REQUEST
        answer = h11.Response(status_code=status, headers=[*headers.items()], reason=status.phrase)
        body = h11.Data(data=json.dumps({"error": msg}).encode())
        for event in (answer, body, h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

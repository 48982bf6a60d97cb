"""Checks of every request, and security headers of every answer.

The studio listens on this machine. Every user of the machine, and any page in the owner's browser,
can send requests. So every request must

- contain the token that `ntm studio` printed: once in the address of the page, later in a cookie
  or in an Authorization header;
- name this machine as its host, which stops foreign names that point here (DNS rebinding);
- come from the studio's own page, as far as the browser tells;
- if it is a POST, have a body of JSON, of limited size.
"""

import html
import ipaddress
import json
import re
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ntm.studio.errors import RefusedError

MAX_BODY = 1_000_000
_YEAR = 365 * 24 * 3600  # seconds that a browser keeps the cookie

ANSWER_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>ntm studio</title>
<h1>ntm studio</h1>
<p>{sentence}</p>
</html>
"""

_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?")


class Guard:
    """ASGI middleware that answers forbidden requests with an error and sets security headers.

    host: address that the server is bound to.
    token: token that every request must contain (None: no token is needed).
    """

    def __init__(self, app: ASGIApp, host: str, token: str | None = None) -> None:
        self._app, self._host, self._token = app, host, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            begun = True
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_ENCODED_HEADERS]
            await send(message)

        try:
            app, receive = await self._admitted(scope, receive)
            await app(scope, receive, answer)
        except RefusedError as error:
            await _refusal_for(scope, error)(scope, receive, answer)
        except Exception:
            # The server's log has the details; the client only learns that an error happened.
            if not begun:
                sentence = "Internal error; see the terminal that runs the studio."
                await refusal(500, sentence)(scope, receive, answer)
            raise

    async def _admitted(self, scope: Scope, receive: Receive) -> tuple[ASGIApp, Receive]:
        """Check a request; return the application that answers it, and the receiver of its body."""
        headers = Headers(scope=scope)
        self._check_host(headers)
        _check_origin(scope, headers)
        if self._token is not None:
            if self._is_invited(scope):
                return _welcome(cookie_name(headers["host"]), self._token), receive
            self._check_token(headers, self._token)
        if scope["method"] != "POST":
            return self._app, receive
        _check_kind(headers)
        return self._app, _replaying(await _body(headers, receive), receive)

    def _is_invited(self, scope: Scope) -> bool:
        """Return whether this request opens the address that the studio printed, with the token."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        opens = scope["method"] == "GET" and scope["path"] == "/" and len(given) == 1
        return opens and _is_same(given[0], self._token or "")

    def _check_token(self, headers: Headers, token: str) -> None:
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(cookie_name(headers["host"]))
        except CookieError:
            cookie = None
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        offered = [cookie.value] if cookie else []
        offered += [credentials.strip()] if scheme.lower() == "bearer" else []
        if not any(_is_same(text, token) for text in offered):
            raise RefusedError(
                403,
                "The token is missing or wrong; open the whole address that the studio printed.",
            )

    def _check_host(self, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not is_own_host(hosts[0], self._host):
            raise RefusedError(
                403, "This studio has another name; open the address that the studio printed."
            )


def is_own_host(header: str, bound: str) -> bool:
    """Return whether a Host header may name the server that is bound to the address `bound`.

    Accepted names are localhost and `bound`: an attacker can make any other name point to this
    machine. A server that is bound to a network address also accepts every numeric address.
    """
    matched = _HOST.fullmatch(header)
    if matched is None:
        return False
    name = matched["name"].strip("[]").lower()
    if name in {"localhost", bound.lower()}:
        return True
    return is_local(name) or (_address(name) is not None and not is_local(bound))


def is_local(host: str) -> bool:
    """Return whether only this machine can reach a server that is bound to this host."""
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def cookie_name(host: str) -> str:
    """Return the cookie's name, with the port: browsers send cookies to all ports of a host."""
    return f"ntm-studio-{host.rpartition(':')[2] if host[-1:].isdecimal() else 80}"


def _is_same(text: str, token: str) -> bool:
    """Compare two texts in a time that does not depend on the place of a difference."""
    return compare_digest(text.encode(), token.encode())


def _welcome(name: str, token: str) -> Response:
    """Exchange the token in an address for a cookie that no script and no other site can use.

    The browser keeps the part of the address after "#".
    """
    answer = RedirectResponse("/", 303)
    answer.set_cookie(name, token, max_age=_YEAR, httponly=True, samesite="lax")
    return answer


def refusal(status: int, sentence: str) -> Response:
    """Return the answer to a request that is not accepted, as JSON."""
    later = {"retry-after": "1"} if status in {429, 503} else None
    return Response(json.dumps({"error": sentence}), status, later, media_type="application/json")


def _refusal_for(scope: Scope, error: RefusedError) -> Response:
    """Return an error as a page for a browser that opens an address, as JSON in other cases."""
    kinds = Headers(scope=scope).get("accept", "")
    if "text/html" not in kinds or scope["path"].startswith("/api/"):
        return refusal(error.status, str(error))
    return HTMLResponse(_PAGE.format(sentence=html.escape(str(error))), error.status)


def _check_origin(scope: Scope, headers: Headers) -> None:
    own = f"{scope['scheme']}://{headers['host']}"
    foreign = any(origin != own for origin in headers.getlist("origin"))
    # Browsers send no Origin with a GET; this header says where the request comes from. A link on
    # another site may open the page, but nothing else.
    site = headers.get("sec-fetch-site", "none")
    followed = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
    opens_page = followed and not scope["path"].startswith("/api/")
    if foreign or (site not in {"none", "same-origin"} and not opens_page):
        raise RefusedError(403, "Requests from other sites are refused; use the studio's own page.")


def _check_kind(headers: Headers) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(415, "Send JSON, with the header Content-Type: application/json.")


async def _body(headers: Headers, receive: Receive) -> bytes:
    """Return the whole body; raise RefusedError as soon as it is too long."""
    announced = headers.get("content-length", "0")
    size = int(announced) if announced.isdecimal() else 0
    body, more = b"", True
    while more and max(size, len(body)) <= MAX_BODY:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    if max(size, len(body)) > MAX_BODY:
        raise RefusedError(413, f"The request is longer than {MAX_BODY:,} bytes; send less.")
    return body


def _replaying(body: bytes, receive: Receive) -> Receive:
    """Return a function like `receive` that first returns a body that was already read."""
    unread = [body]

    async def replay() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        return await receive()

    return replay


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


_ENCODED_HEADERS = [(name.encode(), value.encode()) for name, value in ANSWER_HEADERS.items()]

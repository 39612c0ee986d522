"""Lets through the requests of who has the token, to this very address and from no other site; adds
what a browser is to refuse on its side, where an answer does not say otherwise itself.

Any page that a browser of this machine shows can send requests to 127.0.0.1, and a name of that
page's own may lead here (DNS rebinding). So the token is never in a cookie, which a browser would
add by itself and give to servers on other ports too: it stands in the address, which no other page
knows, and for what changes anything in a header, which no other page can send.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN_HEADER = "x-assay-token"
MOST_BODY_BYTES = 65_536
_MOST_FIELDS = 20
_TOO_LONG = f"expected at most {MOST_BODY_BYTES} bytes"
_READING = ("GET", "HEAD")
_HEADERS: Mapping[str, str] = {
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_OWN_SITE = ("same-origin", "none")
"""``none``: a user typed the address, or clicked it outside of a browser."""


class Guard:
    """Around the application."""

    def __init__(self, inner: ASGIApp, port: int, token: str) -> None:
        self._inner = inner
        self._hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refused = self._refused(scope)
        if refused is not None:
            await refused(scope, receive, _with_headers(send))
            return
        if scope["method"] == "POST":
            body = await _body(receive)
            if body is None:
                await _no(413, _TOO_LONG)(scope, receive, _with_headers(send))
                return
            receive = _again(body, receive)
        await self._inner(scope, receive, _with_headers(send))

    def _refused(self, scope: Scope) -> Response | None:
        headers = _Headers(scope)
        method = scope["method"]
        host = headers.only("host")
        if host not in self._hosts:
            return _no(421, f"expected the host {self._hosts[0]}, found another")
        if method not in (*_READING, "POST"):
            return _no(405, "expected GET or POST", allow="GET, HEAD, POST")
        origin = headers.only("origin")
        if origin is not None and origin != f"http://{host}":
            return _no(403, "the request comes from another site")
        is_page = method in _READING and headers.only("sec-fetch-mode") == "navigate"
        site = headers.only("sec-fetch-site")
        if site is not None and site not in _OWN_SITE and not is_page:
            return _no(403, "the request comes from another site")
        given = headers.only(TOKEN_HEADER)
        if given is None and method in _READING:
            given = _of_address(scope)
        if given is None or not hmac.compare_digest(given.encode(), self._token):
            return _no(
                403, "the token is missing or wrong: open the address that assay watch printed"
            )
        length = headers.only("content-length") or "0"
        if not length.isdecimal() or int(length) > MOST_BODY_BYTES:
            return _no(413, _TOO_LONG)
        return None


class _Headers:
    def __init__(self, scope: Scope) -> None:
        self._all: list[tuple[bytes, bytes]] = scope["headers"]

    def only(self, name: str) -> str | None:
        """None: it was not sent. Sent more than once, its values are joined by commas, which is
        equal to no value that is accepted."""
        found = [value.decode("latin-1") for key, value in self._all if key == name.encode()]
        return ", ".join(found) if found else None


def _of_address(scope: Scope) -> str | None:
    try:
        fields = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=_MOST_FIELDS)
    except ValueError:  # more of them
        return None
    found = fields.get("token", [])
    return found[0] if len(found) == 1 else None


def _no(status: int, text: str, **headers: str) -> Response:
    return PlainTextResponse(f"{text}\n", status, headers=headers)


def _with_headers(send: Send) -> Send:
    added = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = list(message.get("headers", []))
            names = {name for name, _ in own}
            message["headers"] = [*own, *(one for one in added if one[0] not in names)]
        await send(message)

    return sent


async def _body(receive: Receive) -> bytes | None:
    """None where it goes on behind its limit."""
    body = b""
    while (message := await receive())["type"] == "http.request":
        body += message.get("body", b"")
        if len(body) > MOST_BODY_BYTES:
            return None
        if not message.get("more_body"):
            break
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    """As it was received."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return left.pop() if left else await receive()

    return received

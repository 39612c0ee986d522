"""Takes an address and a record; serves the live page until the process is asked to end."""

from __future__ import annotations

import asyncio
import hmac
import os
import secrets
import signal
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from functools import cache
from pathlib import Path
from types import FrameType
from urllib.parse import parse_qs

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from assay import registry
from assay.cli.output.inventory import storage_rows, system_rows
from assay.cli.watching.address import PageAddress
from assay.cli.watching.commands import Answers, Over, Starting, Vega, ended_command, vega_name
from assay.cli.watching.follower import Cursor, Follower
from assay.errors import ArgumentError, AssayError
from assay.provision.machine.signals import expects, run_signal
from assay.record.runs.records import END_STATES
from assay.report.live.page import Suggestion, experiments_page, live_page, new_page
from assay.text.secrets import without_secrets
from assay.workload import reader

# Lets through the requests of who has the token, to this very address and from no other site;
# adds what a browser is to refuse on its side, where an answer does not say otherwise itself.
#
# Any page that a browser of this machine shows can send requests to 127.0.0.1, and a name of that
# page's own may lead here (DNS rebinding). So the token is never in a cookie, which a browser
# would add by itself and give to servers on other ports too: it stands in the address, which no
# other page knows, and for what changes anything in a header, which no other page can send.

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


_NICER = 10
"""The experiment has the processor first."""
_MOST_CONNECTIONS = 128
_MOST_IDLE = 64
"""Connections on which no request is answered; the rest of the limit is for the others."""


def serve(address: PageAddress, records: Path) -> None:
    starting = Starting(records)
    with suppress(OSError):
        os.nice(_NICER)
    follower = Follower(records)
    options = uvicorn.Config(
        Guard(application(follower, starting, records), address.port, address.token),
        loop="asyncio",
        http=_Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=1,
    )
    try:
        _Server(options, follower).run(sockets=[address.socket])
    finally:
        follower.close()
        starting.close()


class _Server(uvicorn.Server):
    def __init__(self, options: uvicorn.Config, follower: Follower) -> None:
        super().__init__(options)
        self._follower = follower

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Open streams end at once; an own connection would be waited for."""
        super().handle_exit(sig, frame)
        self._follower.end()


class _Connection(H11Protocol):
    """Any program of this machine may connect, and then send nothing: the oldest of such
    connections are closed, so that the page always has one."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.made_s = self.loop.time()
        idle = [one for one in self.connections if isinstance(one, _Connection) and one.is_idle]
        for oldest in sorted(idle, key=lambda connection: connection.made_s)[
            : max(0, len(idle) - _MOST_IDLE)
        ]:
            oldest.transport.close()

    @property
    def is_idle(self) -> bool:
        """Whether no whole request has come since the last answer."""
        is_asked = self.cycle is not None and not self.cycle.response_complete
        return not is_asked and not self.transport.is_closing()


# Takes a follower of a record; returns the application: the page, its stream, and reports.

# A response of server-sent events that ends with its reader: at once where that has gone, and
# where it takes nothing for a minute. Nothing is kept for a reader that does not read: the next
# piece is made when the one before it was taken.

_LONGEST_SEND_S = 60.0


class EventStream(Response):
    media_type = "text/event-stream"

    def __init__(self, messages: AsyncGenerator[str]) -> None:
        self._messages = messages
        self.status_code = 200
        self.background = None
        self.body = b""
        self.init_headers({"x-accel-buffering": "no"})

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        sending = asyncio.create_task(self._send(send))
        gone = asyncio.create_task(_gone(receive))
        try:
            await asyncio.wait((sending, gone), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, gone):
                task.cancel()
            for task in (sending, gone):
                with suppress(asyncio.CancelledError, TimeoutError, OSError):
                    await task

    async def _send(self, send: Send) -> None:
        headers = [one for one in self.raw_headers if one[0] != b"content-length"]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async with aclosing(self._messages) as messages:
            async for text in messages:
                piece = {"type": "http.response.body", "body": text.encode(), "more_body": True}
                await asyncio.wait_for(send(piece), _LONGEST_SEND_S)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


_FRAMES = "base-uri 'none'; frame-ancestors 'none'"
_OF_A_REPORT = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    f"form-action 'none'; {_FRAMES}"
)
_MOST_DIGITS = 12


def application(follower: Follower, starting: Starting, records: Path) -> Starlette:
    reports = _Reports(records, follower.over)
    vega = Vega(follower.over)

    async def live(_request: Request) -> Response:
        return _own_page(lambda nonce: live_page(str(records), vega_name(), nonce))

    async def drawing(_request: Request) -> Response:
        try:
            text = await vega.text()
        except ArgumentError as error:
            return PlainTextResponse(f"{error}\n", 503)
        kept = {"cache-control": "private, max-age=31536000, immutable"}
        return Response(text, media_type="text/javascript", headers=kept)

    async def new(_request: Request) -> Response:
        try:
            systems, tests, storages = await asyncio.to_thread(_choices)
            default_system = reader.read(registry.workloads()[0]).default_system
        except AssayError as error:  # a workload of a package that cannot be read
            return PlainTextResponse(f"{error}\n", 500)
        return _own_page(lambda nonce: new_page(default_system, systems, tests, storages, nonce))

    async def plan(request: Request) -> Response:
        try:
            answers = msgspec.json.decode(await request.body(), type=Answers)
            file, text = await starting.planned(answers, follower.over)
        except (msgspec.MsgspecError, UnicodeDecodeError, AssayError) as error:
            return PlainTextResponse(f"{error}\n", 400)
        return JSONResponse({"file": file, "plan": text})

    async def start(request: Request) -> Response:
        before = await follower.look()
        if before.process is not None:
            number = before.status.experiment
            return PlainTextResponse(
                f"experiment {number} is under way: two at once would measure each other\n", 409
            )

        async def has_begun() -> bool:
            return (await follower.look()).status.experiment != before.status.experiment

        try:
            asked = msgspec.json.decode(await request.body(), type=_File)
            await starting.start(asked.file, has_begun)
        except (msgspec.MsgspecError, UnicodeDecodeError, AssayError) as error:
            return PlainTextResponse(f"{error}\n", 400)
        return JSONResponse({"file": asked.file}, 202)

    async def events(request: Request) -> Response:
        # A browser names the last event itself when it comes back.
        last = request.headers.get("last-event-id") or request.query_params.get("last")
        return EventStream(follower.messages(Cursor.of(last)))

    async def latest(_request: Request) -> Response:
        """Whether there is something new to follow."""
        seen = await follower.look()
        status = seen.status
        names = ("experiment", "begun_ms", "is_over")
        return JSONResponse({name: getattr(status, name) for name in names})

    async def report(request: Request) -> Response:
        number = str(request.path_params["experiment"])
        if not _is_number(number):
            return PlainTextResponse("expected a number, as in /report/3\n", 404)
        return await reports.page("report", number)

    async def experiments(request: Request) -> Response:
        found = await follower.experiments()
        policy = f"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; {_FRAMES}"
        token = request.query_params.get("token") or request.headers[TOKEN_HEADER]
        text = experiments_page(found, token)
        return HTMLResponse(text, headers={"content-security-policy": policy})

    async def compare(request: Request) -> Response:
        sides = [request.query_params.get(name, "") for name in ("a", "b")]
        if not all(map(_is_number, sides)):
            return PlainTextResponse("expected two experiments, a=3 and b=5\n", 400)
        return await reports.page("compare", *sides)

    async def stop(request: Request) -> Response:
        """The experiment, as SIGTERM stops it, or a run of it: what was measured so far is kept,
        all is taken down in order."""
        asked = _asked(await request.body())
        seen = await follower.look()
        if seen.process is None or asked is None or asked.experiment != seen.status.experiment:
            return PlainTextResponse("this experiment is not under way\n", 409)
        number: int = signal.SIGTERM
        if asked.run:
            stage = seen.status.stage
            number = run_signal(asked.run)
            if stage is None or stage.run != asked.run or stage.state in END_STATES:
                return PlainTextResponse("this run is not under way\n", 409)
            if not expects(seen.process.pid, number):
                text = "expected an assay run that can stop a single run, found one that cannot\n"
                return PlainTextResponse(text, 409)
        seen.process.send(number)
        return JSONResponse(msgspec.structs.asdict(asked), 202)

    return Starlette(
        routes=[
            Route("/", live, methods=["GET"]),
            Route(f"/{vega_name()}", drawing, methods=["GET"]),
            Route("/events", events, methods=["GET"]),
            Route("/latest", latest, methods=["GET"]),
            Route("/experiments", experiments, methods=["GET"]),
            Route("/compare", compare, methods=["GET"]),
            Route("/new", new, methods=["GET"]),
            Route("/plan", plan, methods=["POST"]),
            Route("/start", start, methods=["POST"]),
            Route("/stop", stop, methods=["POST"]),
            Route("/report/{experiment}", report, methods=["GET"]),
        ]
    )


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < _MOST_DIGITS


def _own_page(made: Callable[[str], str]) -> Response:
    """With a script of its own, which its answer names by a nonce."""
    nonce = secrets.token_urlsafe(16)
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; "
        f"img-src data:; connect-src 'self'; form-action 'none'; {_FRAMES}"
    )
    return HTMLResponse(made(nonce), headers={"content-security-policy": policy})


@cache
def _choices() -> tuple[tuple[Suggestion, ...], ...]:
    """Databases, tests and storages."""
    systems = (
        Suggestion(str(row["system"]), str(row["available"]))
        for row in system_rows(with_versions=False)
    )
    tests = (
        Suggestion(f"{name}.{test}" if test != workload.default_test else name, workload.title)
        for name in registry.workloads()
        for workload in [reader.read(name)]
        for test in workload.tests
    )
    storages = (Suggestion(str(row["storage"]), str(row["what"])) for row in storage_rows())
    return tuple(systems), tuple(tests), tuple(storages)


class _File(msgspec.Struct, forbid_unknown_fields=True):
    file: str


class _Asked(msgspec.Struct, forbid_unknown_fields=True):
    experiment: int
    run: int = 0
    """That alone is to end; 0: the whole experiment."""


def _asked(body: bytes) -> _Asked | None:
    """What a request names; None: nothing that can be stopped."""
    try:
        return msgspec.json.decode(body, type=_Asked)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


class _Reports:
    """Made by the commands of a user, each in a process of its own, one at a time: the machine may
    be at work for an experiment."""

    def __init__(self, records: Path, over: Over) -> None:
        self._records = records
        self._over = over
        self._one = asyncio.Lock()

    async def page(self, *words: str) -> Response:
        words = (*words, "--format", "html", "--records", str(self._records))
        async with self._one:
            try:
                done = await ended_command(words, self._over)
            except ArgumentError as error:
                return PlainTextResponse(f"{error}\n", 503)
        if not done.written:
            text = without_secrets(done.said.decode(errors="replace"))
            return PlainTextResponse(text, 404 if done.status == 2 else 500)
        return HTMLResponse(done.written, headers={"content-security-policy": _OF_A_REPORT})

"""Takes a follower of a record; returns the application: the page, its stream, and reports."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from assay import registry
from assay.cli.output.storage_rows import storage_rows
from assay.cli.output.system_rows import system_rows
from assay.cli.watching.commands import Over, ended
from assay.cli.watching.follower import Cursor, Follower
from assay.cli.watching.guard import TOKEN_HEADER
from assay.cli.watching.starting import Answers, Starting
from assay.cli.watching.stream import EventStream
from assay.cli.watching.vega import Vega
from assay.cli.watching.vega import name as vega_name
from assay.errors import ArgumentError, AssayError
from assay.provision.machine.signals import expects, run_signal
from assay.record.runs.records import END_STATES
from assay.report.live.experiments import experiments_page
from assay.report.live.new import Suggestion, new_page
from assay.report.live.page import page
from assay.text.secrets import without_secrets
from assay.workload import reader

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
        return _own_page(lambda nonce: page(str(records), vega_name(), nonce))

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
                done = await ended(words, self._over)
            except ArgumentError as error:
                return PlainTextResponse(f"{error}\n", 503)
        if not done.written:
            text = without_secrets(done.said.decode(errors="replace"))
            return PlainTextResponse(text, 404 if done.status == 2 else 500)
        return HTMLResponse(done.written, headers={"content-security-policy": _OF_A_REPORT})

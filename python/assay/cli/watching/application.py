"""Takes a follower of a record; returns the application: the page, its stream, and reports."""

from __future__ import annotations

import asyncio
import secrets
import signal
import sys
from pathlib import Path

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from assay.cli.watching.follower import Cursor, Follower
from assay.cli.watching.stream import EventStream
from assay.provision.machine.identity import ProcessIdentity
from assay.report.live.experiments import experiments_page
from assay.report.live.page import page
from assay.text.secrets import without_secrets

_FRAMES = "base-uri 'none'; frame-ancestors 'none'"
_OF_A_REPORT = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    f"form-action 'none'; {_FRAMES}"
)
_MOST_DIGITS = 12


def application(follower: Follower, records: Path) -> Starlette:
    reports = _Reports(records)

    async def live(_request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        policy = (
            f"default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; "
            f"img-src data:; connect-src 'self'; form-action 'none'; {_FRAMES}"
        )
        return HTMLResponse(page(str(records), nonce), headers={"content-security-policy": policy})

    async def events(request: Request) -> Response:
        # A browser names the last event itself when it comes back.
        last = request.headers.get("last-event-id") or request.query_params.get("last")
        return EventStream(follower.messages(Cursor.of(last)))

    async def latest(_request: Request) -> Response:
        """Whether there is something new to follow."""
        seen = await follower.look()
        one = {"experiment": seen.status.experiment, "is_over": seen.status.is_over}
        return JSONResponse(one)

    async def report(request: Request) -> Response:
        return await reports.page("report", str(request.path_params["experiment"]))

    async def experiments(request: Request) -> Response:
        found = await follower.experiments()
        policy = f"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; {_FRAMES}"
        text = experiments_page(found, request.query_params["token"])
        return HTMLResponse(text, headers={"content-security-policy": policy})

    async def compare(request: Request) -> Response:
        sides = [request.query_params.get(name, "") for name in ("a", "b")]
        if not all(side.isdecimal() and len(side) < _MOST_DIGITS for side in sides):
            return PlainTextResponse("expected two experiments, a=3 and b=5\n", 400)
        return await reports.page("compare", *sides)

    async def stop(request: Request) -> Response:
        """As SIGTERM stops it: what was measured so far is kept, all is taken down in order."""
        asked = _number(await request.body())
        seen = await follower.look()
        if seen.process is None or asked != seen.status.experiment:
            return PlainTextResponse("this experiment is not under way\n", 409)
        identity = ProcessIdentity(*seen.process)
        identity.send(signal.SIGTERM)
        return JSONResponse({"asked": asked}, 202)

    return Starlette(
        routes=[
            Route("/", live, methods=["GET"]),
            Route("/events", events, methods=["GET"]),
            Route("/latest", latest, methods=["GET"]),
            Route("/experiments", experiments, methods=["GET"]),
            Route("/compare", compare, methods=["GET"]),
            Route("/stop", stop, methods=["POST"]),
            Route("/report/{experiment:int}", report, methods=["GET"]),
        ]
    )


class _Asked(msgspec.Struct, forbid_unknown_fields=True):
    experiment: int


def _number(body: bytes) -> int | None:
    """Of the experiment that a request names; None: it names none."""
    try:
        return msgspec.json.decode(body, type=_Asked).experiment
    except msgspec.MsgspecError:
        return None


class _Reports:
    """Made by the commands of a user, each in a process of its own, one at a time: the machine may
    be at work for an experiment."""

    def __init__(self, records: Path) -> None:
        self._records = records
        self._one = asyncio.Lock()

    async def page(self, command: str, *words: str) -> Response:
        async with self._one:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "assay", command, *words),
                *("--format", "html", "--records", str(self._records)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                written, said = await process.communicate()
            except asyncio.CancelledError:
                process.terminate()
                raise
        if not written:
            text = without_secrets(said.decode(errors="replace"))
            return PlainTextResponse(text, 404 if process.returncode == 2 else 500)
        return HTMLResponse(written, headers={"content-security-policy": _OF_A_REPORT})

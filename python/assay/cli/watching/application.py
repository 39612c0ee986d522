"""Takes a follower of a record; returns the application: the page, its stream, and reports."""

from __future__ import annotations

import asyncio
import secrets
import sys
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from assay.cli.watching.follower import Cursor, Follower
from assay.cli.watching.stream import EventStream
from assay.report.live.page import page
from assay.text.secrets import without_secrets

_OF_A_REPORT = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def application(follower: Follower, records: Path) -> Starlette:
    reports = _Reports(records)

    async def live(_request: Request) -> Response:
        nonce = secrets.token_urlsafe(16)
        policy = (
            f"default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-{nonce}'; "
            "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
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

    return Starlette(
        routes=[
            Route("/", live, methods=["GET"]),
            Route("/events", events, methods=["GET"]),
            Route("/latest", latest, methods=["GET"]),
            Route("/report/{experiment:int}", report, methods=["GET"]),
        ]
    )


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
                *("--format", "html", "--output", "-", "--records", str(self._records)),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            try:
                written, said = await process.communicate()
            except asyncio.CancelledError:
                process.terminate()
                raise
        if process.returncode or not written:
            text = without_secrets(said.decode(errors="replace"))
            return PlainTextResponse(text, 404 if process.returncode == 2 else 500)
        return HTMLResponse(written, headers={"content-security-policy": _OF_A_REPORT})

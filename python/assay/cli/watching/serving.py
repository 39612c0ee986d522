"""Takes an address and a record; serves the live page until the process is asked to end."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from types import FrameType

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from assay.cli.watching.address import PageAddress
from assay.cli.watching.application import application
from assay.cli.watching.follower import Follower
from assay.cli.watching.guard import Guard
from assay.cli.watching.starting import Starting

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

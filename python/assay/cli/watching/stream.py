"""A response of server-sent events that ends with its reader: at once where that has gone, and
where it takes nothing for a minute. Nothing is kept for a reader that does not read: the next piece
is made when the one before it was taken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

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

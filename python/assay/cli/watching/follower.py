"""Looks at the record once a second while anyone reads; gives each reader what it has not had. One
look serves all, and no reader is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

from assay.cli.watching.look import Look, Passed, Seen
from assay.errors import AssayError
from assay.record.progress.under_way import ListedExperiment, Place
from assay.report.live.charts import Drawn, charts_text

_EVERY_S = 1.0
_SIGN_OF_LIFE_S = 15.0
_AT_ONCE = 300
"""Seconds in one piece of the stream."""


class Cursor:
    """The last second that a reader has had: ``17:1:42:1795835222000`` is second 42 of step 1 of
    run 17, of the experiment that was begun at that millisecond."""

    def __init__(self, place: Place | None = None, second: int = -1, record: int = 0) -> None:
        self.place, self.second, self.record = place, second, record

    @classmethod
    def of(cls, text: str | None) -> Cursor:
        """From the beginning where it is no such id."""
        parts = (text or "").split(":")
        if len(parts) == 4 and all(part.isdecimal() and len(part) < 16 for part in parts):
            run, step, second, record = map(int, parts)
            return cls((run, step), second, record)
        return cls()


class Follower:
    """Of one record. Belongs to one event loop."""

    def __init__(self, path: Path) -> None:
        self._look = Look(path)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="record")
        self._readers = 0
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._seen: Seen | None = None
        self._is_closed = False

    async def messages(self, cursor: Cursor) -> AsyncGenerator[str]:
        """Server-sent events, until the experiment is over or the server ends. What is ready is
        given in pieces, each when the one before it was taken. When a step has ended, all its
        seconds are given again, as they were observed."""
        shown: Seen | None = None
        drawn: Drawn = {}
        generators = ""
        observed: Place | None = None
        async with self._reading():
            yield "retry: 1000\n\n"
            while not self._is_closed:
                changed, seen = self._changed, self._seen
                if seen is not None:
                    if seen.passed is not None and seen.passed.record != cursor.record:
                        cursor.place, cursor.second = None, -1
                        cursor.record = seen.passed.record
                    async for piece in self._rest(seen, cursor):
                        yield piece
                    if shown is None or seen.text != shown.text:
                        yield _message("status", seen.text)
                    if shown is None or seen.warnings != shown.warnings:
                        yield _message("warnings", seen.warnings)
                    shown = seen
                    if seen.passed is not None:
                        if seen.passed.is_whole and observed != seen.passed.place:
                            observed, cursor.second = seen.passed.place, -1
                        async for piece in _behind(seen.passed, cursor):
                            yield piece
                    if seen.passed is not None and seen.passed.generators != generators:
                        generators = seen.passed.generators
                        yield _message("generators", generators or "null")
                    if text := charts_text(seen.charts, drawn):
                        yield _message("charts", text)
                    if seen.status.is_over:
                        yield _message("end", f'{{"experiment":{seen.status.experiment}}}')
                        return
                try:
                    await asyncio.wait_for(changed.wait(), _SIGN_OF_LIFE_S)
                except TimeoutError:
                    yield ": still here\n\n"

    async def _rest(self, seen: Seen, cursor: Cursor) -> AsyncIterator[str]:
        """What the reader has not had of the step before the one that is shown: it belongs to the
        status before."""
        place = None if seen.passed is None else seen.passed.place
        if place is None or cursor.place == place:
            return
        if cursor.place is not None:
            async for piece in _behind(await self._before(cursor.place, cursor.second), cursor):
                yield piece
        cursor.place, cursor.second = place, -1

    async def _before(self, place: Place, second: int) -> Passed:
        """A step that is not shown any more."""
        before = self._look.before
        if before is not None and before.place == place:
            return before
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._look.seconds_of, place, second)
        except AssayError:
            return Passed(place)

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[None]:
        self._readers += 1
        if self._task is None:
            self._seen = None  # what was seen when there was a reader may have passed
            self._task = asyncio.create_task(self._work())
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers and self._task is not None:
                self._task.cancel()
                self._task = None

    async def look(self) -> Seen:
        """At the record, now."""
        loop = asyncio.get_running_loop()
        self._seen = await loop.run_in_executor(self._thread, self._look.again)
        self._wake()
        return self._seen

    async def experiments(self) -> list[ListedExperiment]:
        """The newest of the record; none while it cannot be read."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._thread, self._look.experiments)
        except AssayError:
            return []

    async def _work(self) -> None:
        loop = asyncio.get_running_loop()
        due_s = loop.time()
        while True:
            await self.look()
            due_s = max(due_s + _EVERY_S, loop.time())
            await asyncio.sleep(due_s - loop.time())

    def end(self) -> None:
        """All streams end now; browsers come back when the server is there again."""
        self._is_closed = True
        self._wake()

    async def over(self) -> None:
        """Returns when the server is asked to end."""
        while not self._is_closed:
            await self._changed.wait()

    def close(self) -> None:
        self._thread.submit(self._look.close)
        self._thread.shutdown()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


async def _behind(passed: Passed, cursor: Cursor) -> AsyncIterator[str]:
    """The seconds behind the cursor, which goes on with them."""
    run, step = passed.place
    at = passed.place_behind(cursor.second)
    while at < len(passed.texts):
        numbers = passed.numbers[at : at + _AT_ONCE]
        texts = passed.texts[at : at + _AT_ONCE]
        yield "".join(
            _message("second", text, f"{run}:{step}:{number}:{passed.record}")
            for number, text in zip(numbers, texts, strict=True)
        )
        cursor.second = numbers[-1]
        at += len(numbers)


def _message(event: str, text: str, number: str | None = None) -> str:
    id_line = "" if number is None else f"id: {number}\n"
    return f"{id_line}event: {event}\ndata: {text}\n\n"

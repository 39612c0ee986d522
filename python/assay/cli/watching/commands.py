"""Runs a command of Assay for a page, in a process of its own that ends with the server."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from msgspec import Struct

from assay.errors import ArgumentError

Over = Callable[[], Awaitable[None]]
"""Returns when the server is asked to end."""


class EndedCommand(Struct, frozen=True):
    status: int
    written: bytes
    said: bytes


async def ended(
    words: tuple[str, ...],
    over: Over,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> EndedCommand:
    """A command of Assay. Raises `ArgumentError` where it cannot be started, or was ended with the
    server."""
    words = ("-m", "assay", *words)
    return await python_ended(words, over, folder=folder, environment=environment)


async def python_ended(
    words: tuple[str, ...],
    over: Over,
    *,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> EndedCommand:
    """This interpreter with these arguments; raises as `ended` does."""
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *words,
            cwd=folder,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
    except OSError as error:
        raise ArgumentError(f"{' '.join(words)} cannot be started: {error}") from error
    working = asyncio.ensure_future(process.communicate())
    ending = asyncio.ensure_future(over())
    try:
        await asyncio.wait((working, ending), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ArgumentError("assay watch was ended: start it again")
        written, said = working.result()
        assert process.returncode is not None
        return EndedCommand(process.returncode, written, said)
    finally:
        ending.cancel()
        if not working.done():
            # Its own clean end may take longer than the server waits.
            process.kill()
            await working

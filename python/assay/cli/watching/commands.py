"""Runs what a page asks for in processes of their own: commands of Assay, `assay run` of an
experiment that was put together there, and the program that draws charts in a browser."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import msgspec
from msgspec import Struct

from assay.errors import ArgumentError, AssayError
from assay.provision.install.cache import cache_folder
from assay.text.output_file import write_file
from assay.text.secrets import without_secrets

Over = Callable[[], Awaitable[None]]
"""Returns when the server is asked to end."""


class EndedCommand(Struct, frozen=True):
    status: int
    written: bytes
    said: bytes


async def ended_command(
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


_LONGEST_ANSWER = 500
_LONGEST_START_S = 60.0
_LOOK_EVERY_S = 0.3
_SAID_BYTES = 4_000
"""Of the end of what a command that failed has said."""


class Answers(msgspec.Struct, forbid_unknown_fields=True):
    """Empty: its default."""

    on: str = ""
    test: str = ""
    size: str = ""
    storage: str = ""
    clients: str = ""

    def words(self) -> list[str]:
        """As options; a value is never one itself."""
        given = msgspec.structs.asdict(self)
        for name, value in given.items():
            if len(value) > _LONGEST_ANSWER or not value.isprintable():
                raise ArgumentError(
                    f"{name}: expected at most {_LONGEST_ANSWER} characters of text, found others"
                )
        return [f"--{name}={value}" for name, value in given.items() if value]


class Starting:
    """Of one record. Made before this process is nice to others: an experiment is not."""

    def __init__(self, records: Path) -> None:
        self._records = records
        self._folder = records.absolute().parent
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="starting")
        self._thread.submit(os.getpid).result()  # the thread is there now
        self._one = asyncio.Lock()
        self._written: Path | None = None
        """The file that was planned last, and has not been started."""

    async def planned(self, answers: Answers, over: Over) -> tuple[str, str]:
        """The name of the file that is written, and its plan with what it takes. Raises
        `ArgumentError` with what the command says."""
        words = tuple(answers.words())
        async with self._one:
            self._forget()
            file = self._free_name()
            environment = {
                **os.environ,
                "ASSAY_RECORDS": str(self._records.absolute()),
                "COLUMNS": "110",
            }
            words = ("new", file.name, *words)
            done = await ended_command(words, over, folder=self._folder, environment=environment)
            said = done.said.decode(errors="replace")
            if done.status:
                raise ArgumentError(without_secrets(said.strip()))
            self._written = file
            # What it takes stands on standard error, with how to start it on a command line.
            lines = [one for one in said.splitlines() if "assay run " not in one]
            text = "\n".join(lines).strip() + "\n\n" + done.written.decode(errors="replace")
            return file.name, without_secrets(text.lstrip())

    async def start(self, name: str, has_begun: Callable[[], Awaitable[bool]]) -> None:
        """The file of that name, if it is the one that was planned last. Returns when the
        experiment has begun or is being prepared; raises `ArgumentError` where it ends before."""
        async with self._one:
            file = self._written
            if file is None or file.name != name:
                raise ArgumentError(
                    "expected the file that was planned last: see the estimate again"
                )
            self._written = None
            loop = asyncio.get_running_loop()
            process = await loop.run_in_executor(self._thread, self._run, file)
            until_s = time.monotonic() + _LONGEST_START_S
            while time.monotonic() < until_s:
                if await has_begun():
                    return
                if process.poll():
                    raise ArgumentError(_end_of(_log(file)))
                await asyncio.sleep(_LOOK_EVERY_S)

    def _run(self, file: Path) -> subprocess.Popen[bytes]:
        """In a session of its own: Ctrl-C in the terminal of this one does not reach it."""
        with _log(file).open("wb") as log:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "assay", "run", file.name),
                    "--records",
                    str(self._records.absolute()),
                ],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        threading.Thread(target=process.wait, name="run", daemon=True).start()
        return process

    def _free_name(self) -> Path:
        number = 1
        while (file := self._folder / f"experiment-{number}.toml").exists() or _log(file).exists():
            number += 1
        return file

    def _forget(self) -> None:
        """What was planned and not started."""
        if self._written is not None:
            self._written.unlink(missing_ok=True)
            self._written = None

    def close(self) -> None:
        self._forget()
        self._thread.shutdown()


def _log(file: Path) -> Path:
    return file.with_suffix(".log")


def _end_of(log: Path) -> str:
    text = log.read_bytes()[-_SAID_BYTES:].decode(errors="replace").strip()
    return without_secrets(text) or f"assay run ended and said nothing; see {log.name}"


_MADE = "import sys, vl_convert; sys.stdout.write(vl_convert.javascript_bundle())"


def vega_name() -> str:
    """Of the file: another one for each version."""
    return f"vega-{version('vl-convert-python')}.js"


class Vega:
    """Made once for each version, in seconds, and kept in the cache folder."""

    def __init__(self, over: Over) -> None:
        self._over = over
        self._one = asyncio.Lock()
        self._text = b""

    async def text(self) -> bytes:
        """Raises `ArgumentError` where it cannot be made."""
        async with self._one:
            with suppress(OSError, AssayError):
                self._text = self._text or (cache_folder() / vega_name()).read_bytes()
            if not self._text:
                done = await python_ended(("-c", _MADE), self._over)
                if done.status or not done.written:
                    said = done.said.decode(errors="replace").strip()
                    raise ArgumentError(f"vl_convert did not give its JavaScript: {said}")
                self._text = done.written
                with suppress(OSError, AssayError):
                    cache_folder().mkdir(parents=True, exist_ok=True)
                    write_file(cache_folder() / vega_name(), self._text, force=True)
            return self._text

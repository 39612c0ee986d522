"""Takes a command of Assay that serves until it is stopped; starts it and returns the first line it
writes.

It runs as we do: it is our own program, which another user may not be able to read.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator, Sequence

from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import AssayError, SystemDied
from assay.provision.processes import process, programs
from assay.provision.processes.process import ServerProcess

_PROGRAM = "from assay.cli import main; main()"
_REFUSAL = "error: "


@contextlib.contextmanager
def own_program(
    words: Sequence[str], directory: ServerDirectory, log_name: str, refusal: type[AssayError]
) -> Iterator[tuple[ServerProcess, str]]:
    """The process, and its first line; it is stopped at the end of the block. Raises ``refusal`` in
    the program's own words where it refuses to start."""
    with process.start(
        [sys.executable, "-P", "-c", _PROGRAM, *words],
        directory,
        stop=((signal.SIGTERM, 10.0),),
        as_ourselves=True,
        log_name=log_name,
    ) as server:

        def first_line() -> str:
            """Once it is whole; a program that refuses to start begins otherwise."""
            line, end, _ = server.log.read_text(encoding="utf-8").partition("\n")
            return line if end and not line.startswith(_REFUSAL) else ""

        try:
            server.wait_ready(lambda: None if first_line() else "it has not reported its address")
        except SystemDied as error:
            first, _, _ = programs.last_lines(server.log).partition("\n")
            raise refusal(first.removeprefix(_REFUSAL) or error.message) from error
        yield server, first_line()

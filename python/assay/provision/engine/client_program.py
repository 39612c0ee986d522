"""Runs a client program of a system, such as its dump program, from files and into files.

It runs as we do and outside the limits of the server: what it needs is not the server's. Only for a
capsule it is confined as the server is, and runs as its user: what it reads is anyone's. It carries
the tag of the server's directory, so that it ends with it (see `process_tags`).
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from assay.contracts.stop import look
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import RunFailed
from assay.provision.engine.silence import Silence, ticks_of_children
from assay.provision.processes.programs import (
    command,
    ending,
    last_lines,
    surroundings,
    with_last_words,
)

_LOOK_EVERY_S = 0.05


@contextlib.contextmanager
def started(
    words: Sequence[str],
    environment: Mapping[str, str],
    directory: ServerDirectory,
    *,
    reads: Path | None,
    writes: Path,
    errors: Path,
) -> Iterator[subprocess.Popen[bytes]]:
    """The program, with its standard input, output and error in files; at the end of the block it
    is killed if it still runs. Raises `SystemMissing` if it is not there."""
    as_ourselves = not directory.is_confined
    around = surroundings(directory, environment, as_ourselves)
    unlimited = replace(directory, control_groups=())
    with contextlib.ExitStack() as files:
        if reads is not None:
            around["stdin"] = files.enter_context(reads.open("rb"))
        child = subprocess.Popen(
            command(words, None, signal.SIGKILL, unlimited, as_ourselves),
            stdout=files.enter_context(writes.open("wb")),
            stderr=files.enter_context(errors.open("wb")),
            **around,
        )
    try:
        yield child
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()


def run_to_end(
    words: Sequence[str],
    environment: Mapping[str, str],
    directory: ServerDirectory,
    *,
    reads: Path | None,
    writes: Path,
) -> None:
    """Raises `RunFailed` with the end of what it wrote to standard error, where its status is
    not 0, and `SystemDied` where neither it nor its server works any more."""
    errors = directory.run / "client-program.log"
    with started(words, environment, directory, reads=reads, writes=writes, errors=errors) as child:
        program = Path(words[0]).name
        silence = Silence(program, None, ticks_of_children, "it has written nothing")
        while (status := child.poll()) is None:
            look()
            silence.progressed(writes.stat().st_size)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(_LOOK_EVERY_S)
    if status != 0:
        raise RunFailed(with_last_words(ending(program, status), last_lines(errors)))

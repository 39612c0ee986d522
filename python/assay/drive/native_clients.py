"""Takes the command of a client program and a file of statements; runs a process for each client,
all at once, and returns how each ended and the most that it used."""

from __future__ import annotations

import contextlib
import hashlib
import resource
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.drive.sampler import TimedSample
from assay.errors import SystemDied
from assay.provision import sampling
from assay.provision.client_program import started
from assay.provision.programs import ending, last_lines
from assay.systems.protocol import ProcessSample, ServerDirectory

_INTERVAL_S = 0.02
_SAMPLED_EVERY_S = 0.05
_SHARE = 20
"""Sampling takes at most this part of one processor."""
_ASKED_EVERY_S = 0.5
_FOLDER = "native-clients"


@dataclass
class Ended:
    """One process. Memory and threads are the most of its samples."""

    program: str
    status: int = 0
    elapsed_ns: int = 0
    rows: int = 0
    """Lines that it wrote."""
    digest: str = ""
    """Of what it wrote."""
    error: str = ""
    threads: int = 0
    virtual_bytes: int = 0
    resident_bytes: int = 0


@dataclass(frozen=True)
class Found:
    program: Path
    elapsed_ns: int
    """From before the first process was started until the last one had ended."""
    cpu_ns: int
    """User and system time of all of them."""
    ended: tuple[Ended, ...]
    samples: tuple[TimedSample, ...] = ()
    """Of all of them together, the largest of each second."""


def observe(
    client: tuple[list[str], Mapping[str, str]],
    directory: ServerDirectory,
    statements: str,
    clients: int,
    why_it_died: Callable[[], str | None],
    data_directory: Path | None = None,
) -> Found:
    """They end with the block, whatever happens. ``data_directory``: where they open the data
    themselves. Raises `SystemDied` where the system ends before they do."""
    words, environment = client
    folder = directory.run / _FOLDER
    folder.mkdir(mode=0o700)
    try:
        file = folder / "statements.sql"
        file.write_text(statements, encoding="utf-8")
        ended = [Ended(Path(words[0]).name) for _ in range(clients)]
        with contextlib.ExitStack() as running:
            began_ns, before_ns = time.monotonic_ns(), _cpu_of_children_ns()
            children = [
                running.enter_context(
                    started(
                        words,
                        environment,
                        directory,
                        reads=file,
                        writes=folder / f"out.{number}",
                        errors=folder / f"err.{number}",
                    )
                )
                for number in range(clients)
            ]
            samples = _wait(children, ended, began_ns, why_it_died, data_directory)
            elapsed_ns = time.monotonic_ns() - began_ns
            cpu_ns = _cpu_of_children_ns() - before_ns
        for number, one in enumerate(ended):
            _read(one, folder / f"out.{number}", folder / f"err.{number}")
        return Found(Path(words[0]), elapsed_ns, cpu_ns, tuple(ended), samples)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(
    children: Sequence[subprocess.Popen[bytes]],
    ended: Sequence[Ended],
    began_ns: int,
    why_it_died: Callable[[], str | None],
    data_directory: Path | None,
) -> tuple[TimedSample, ...]:
    """The samples, until all have ended."""
    left = dict(zip(children, ended, strict=True))
    largest: dict[int, TimedSample] = {}
    sampled_s = asked_s = 0.0
    while left:
        now_s = time.monotonic()
        if now_s >= sampled_s:
            seen = [_sample(child.pid, one, data_directory) for child, one in left.items()]
            whole = sampling.total([one for one in seen if one is not None])
            if whole is not None and whole.processes:
                at_s = now_s - began_ns / 1e9
                timed = TimedSample(at_s, whole)
                largest[int(at_s)] = max(largest.get(int(at_s), timed), timed, key=_resident_bytes)
            took_s = time.monotonic() - now_s
            sampled_s = now_s + max(_SAMPLED_EVERY_S, _SHARE * took_s)
        for child in [child for child in left if child.poll() is not None]:
            one = left.pop(child)
            one.status, one.elapsed_ns = child.returncode, time.monotonic_ns() - began_ns
        if now_s - asked_s >= _ASKED_EVERY_S:
            asked_s = now_s
            if (died := why_it_died()) is not None:
                raise SystemDied(died)
        time.sleep(_INTERVAL_S)
    return tuple(largest.values())


def _cpu_of_children_ns() -> int:
    """Of those that have ended: no other child of this process ends meanwhile."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((used.ru_utime + used.ru_stime) * 1e9)


def _sample(pid: int, one: Ended, data_directory: Path | None) -> ProcessSample | None:
    found = sampling.sample(pid, data_directory, with_descendants=False)
    if found is not None:
        one.threads = max(one.threads, found.threads)
        one.virtual_bytes = max(one.virtual_bytes, found.virtual_bytes)
        one.resident_bytes = max(one.resident_bytes, found.resident_bytes)
    return found


def _resident_bytes(timed: TimedSample) -> int:
    return timed.sample.resident_bytes


def _read(one: Ended, output: Path, errors: Path) -> None:
    hashed = hashlib.sha256()
    with output.open("rb") as file:
        while part := file.read(1 << 20):
            hashed.update(part)
            one.rows += part.count(b"\n")
    one.digest = hashed.hexdigest()[:16]
    if one.status != 0:
        said = " ".join(last_lines(errors, 3).split())
        one.error = f"{ending(one.program, one.status)}: {said}".rstrip(": ")

"""Takes the command of a client program and a file of statements; runs a process for each client,
all at once, and returns how each ended and the most that it used."""

from __future__ import annotations

import contextlib
import hashlib
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from assay.contracts.deployment import Deployment
from assay.contracts.events import Sink
from assay.contracts.stop import Stop
from assay.contracts.systems.protocol import ProcessSample, ServerDirectory
from assay.drive.sampling import TimedSample
from assay.drive.watched import ASK_EVERY_S, DeathWatch, silence_of_programs
from assay.errors import SystemDied
from assay.provision.engine.silence import started_client
from assay.provision.machine import sampling
from assay.provision.processes import ending_of_output, last_lines

_SAMPLED_EVERY_S = 0.05
_PAUSE_FACTOR = 20
"""The next sample comes at least 20 times as long after one as that took: at most 5 % of a
processor."""
_FOLDER = "native-clients"
_LARGEST = ("threads", "virtual_bytes", "resident_bytes")


class ClientProcess(Struct):
    """One client."""

    program: str
    status: int = 0
    elapsed_ns: int = 0
    cpu_ns: int = 0
    """User and system time."""
    rows: int = 0
    """Lines that it wrote."""
    digest: str = ""
    """Of what it wrote."""
    error: str = ""
    most: ProcessSample | None = None
    """With the most threads and memory of all its samples; None: it ended before the first."""


class ClientsReport(Struct, frozen=True):
    program: Path
    clients: tuple[ClientProcess, ...]
    samples: tuple[TimedSample, ...] = ()
    """Of all of them together, the largest of each second."""

    @property
    def elapsed_ns(self) -> int:
        """From before the first process was started until the last one had ended."""
        return max(client.elapsed_ns for client in self.clients)


def observe(
    client: tuple[list[str], Mapping[str, str]],
    directory: ServerDirectory,
    deployment: Deployment,
    statements: str,
    clients: int,
    why_it_died: Callable[[], str | None],
    emit: Sink,
    stop: Stop,
    look: Callable[[int], object],
) -> ClientsReport:
    """They end with the block, whatever happens; ``look`` gets now and then how long they have
    worked, in nanoseconds. Raises `SystemDied` where the system ends before they do, or no longer
    responds."""
    words, environment = client
    folder = directory.run / _FOLDER
    folder.mkdir(mode=0o700)
    try:
        file = folder / "statements.sql"
        file.write_text(statements, encoding="utf-8")
        outputs = [folder / f"out.{number}" for number in range(clients)]
        errors = [folder / f"err.{number}" for number in range(clients)]
        with contextlib.ExitStack() as block:
            running = _Running(block, deployment)
            for output, error in zip(outputs, errors, strict=True):
                running.add(
                    block.enter_context(
                        started_client(
                            words, environment, directory, reads=file, writes=output, errors=error
                        )
                    ),
                    Path(words[0]).name,
                )
            silence = silence_of_programs(deployment, emit)
            watch = DeathWatch(why_it_died)
            block.enter_context(stop.looked_at())
            while not running.have_ended(ASK_EVERY_S):
                look(running.elapsed_ns)
                stop.check()
                if not watch.is_alive():
                    raise SystemDied(str(watch.reason))
                silence.progressed(running.ended + sum(one.stat().st_size for one in outputs))
        for one, output, error in zip(running.clients, outputs, errors, strict=True):
            _read(one, output, error)
        return ClientsReport(
            Path(words[0]), tuple(running.clients), tuple(running.largest.values())
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Running:
    """The processes: waited for by their descriptors, so that each has the time at which it ended,
    and sampled meanwhile."""

    def __init__(self, block: contextlib.ExitStack, deployment: Deployment) -> None:
        self.clients: list[ClientProcess] = []
        self.largest: dict[int, TimedSample] = {}
        """Second → the sample of all of them with the most memory."""
        self._block = block
        # Where a library works in the clients, these open the data themselves.
        self._data = deployment.data_directory if deployment.is_embedded else None
        self._left: dict[int, tuple[subprocess.Popen[bytes], ClientProcess]] = {}
        self._poll = select.poll()
        self._began_ns = time.monotonic_ns()
        # Early, so that clients of some milliseconds have one too.
        self._sample_s = time.monotonic() + _SAMPLED_EVERY_S / 4

    @property
    def elapsed_ns(self) -> int:
        return time.monotonic_ns() - self._began_ns

    @property
    def ended(self) -> int:
        return len(self.clients) - len(self._left)

    def add(self, child: subprocess.Popen[bytes], program: str) -> None:
        descriptor = os.pidfd_open(child.pid)
        self._block.callback(os.close, descriptor)
        self.clients.append(ClientProcess(program))
        self._left[descriptor] = child, self.clients[-1]
        self._poll.register(descriptor, select.POLLIN)
        self._reap()

    def have_ended(self, within_s: float) -> bool:
        """Whether all have, once they have or the time is over."""
        until_s = time.monotonic() + within_s
        while self._left and (now_s := time.monotonic()) < until_s:
            self._reap(min(until_s, self._sample_s) - now_s)
            if self._left and time.monotonic() >= self._sample_s:
                self._sample()
        return not self._left

    def _reap(self, wait_s: float = 0.0) -> None:
        for descriptor, _ in self._poll.poll(max(0.0, wait_s) * 1000):
            at_ns = time.monotonic_ns()
            self._poll.unregister(descriptor)
            child, one = self._left.pop(descriptor)
            # Not by the child's own wait: only this has the CPU time. Not the memory, which begins
            # with that of Assay, of which the process is a copy at first.
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = one.status = os.waitstatus_to_exitcode(status)
            one.elapsed_ns = at_ns - self._began_ns
            one.cpu_ns = int((used.ru_utime + used.ru_stime) * 1e9)

    def _sample(self) -> None:
        began_s = time.monotonic()
        seen = []
        for child, one in list(self._left.values()):
            if (found := _sample(child.pid, one, self._data)) is not None:
                seen.append(found)
            self._reap()  # a client's time is not longer by the sampling of the others
        if (whole := sampling.total(seen)) is not None and whole.processes:
            at_s = began_s - self._began_ns / 1e9
            timed = TimedSample(at_s, whole)
            before = self.largest.get(int(at_s), timed)
            self.largest[int(at_s)] = max(before, timed, key=_resident_bytes)
        took_s = time.monotonic() - began_s
        self._sample_s = began_s + max(_SAMPLED_EVERY_S, _PAUSE_FACTOR * took_s)


def _sample(pid: int, process: ClientProcess, data_directory: Path | None) -> ProcessSample | None:
    found = sampling.sample(pid, data_directory, with_descendants=False)
    if found is None or not found.virtual_bytes:  # it has ended
        return None
    before = process.most or found
    process.most = replace(
        found, **{name: max(getattr(one, name) for one in (before, found)) for name in _LARGEST}
    )
    return found


def _resident_bytes(timed: TimedSample) -> int:
    return timed.sample.resident_bytes


def _read(process: ClientProcess, output: Path, errors: Path) -> None:
    hashed = hashlib.sha256()
    with output.open("rb") as file:
        while part := file.read(1 << 20):
            hashed.update(part)
            process.rows += part.count(b"\n")
    process.digest = hashed.hexdigest()[:16]
    if process.status != 0:
        said = " ".join(last_lines(errors, 3).split())
        process.error = f"{ending_of_output(process.program, process.status)}: {said}".rstrip(": ")

"""A server says what it is, how large its data are and what it uses; it keeps what it has committed
through a stop and through a crash."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import psutil

from assay.contracts.dialects.protocol import Column, SingleRows, Table
from assay.contracts.engine.deployment import DeploymentDocument
from assay.contracts.systems.abilities import BufferSize, CrashReport, Restartable, Sampled, Sized
from assay.lab.conformance.failures import CannotBeTried, NotMet
from assay.lab.conformance.requirement import requirement
from assay.lab.conformance.subject import TIMEOUT_S, Subject
from assay.systems.options import BUFFER, size_bytes

_STORED = ("tables", "stored rows")


@requirement()
def its_version_and_settings_are_read(subject: Subject) -> None:
    deployment = subject.deployment
    with subject.session() as opened:
        if not deployment.version.strip():
            raise NotMet("it does not say its version")
        # A deployment may name further programs behind that of the session.
        if deployment.is_private and not deployment.version.startswith(opened.server_version):
            raise NotMet(
                f"a session says the version {opened.server_version!r}, the deployment "
                f"{deployment.version!r}"
            )
    asked = {name.lower() for name in deployment.settings_asked}
    if unread := asked - {name.lower() for name in deployment.settings}:
        raise NotMet(f"settings that were asked for are not read back: {', '.join(unread)}")


@requirement(abilities=(BufferSize,))
def its_buffer_has_the_size_that_was_asked_for(subject: Subject) -> None:
    assert isinstance(subject.system, BufferSize)
    found = subject.system.buffer_bytes(subject.deployment)
    if found is None:
        raise CannotBeTried(f"{subject.system.name} does not report the size of its buffer")
    word = subject.running.choice.options.get(BUFFER.name)
    asked = size_bytes(BUFFER.name, word) if word else None
    # Some round it up to whole pages or chunks, or show it rounded.
    if found <= 0 or (asked is not None and abs(found - asked) > asked / 20):
        raise NotMet(f"asked for {word or 'none'}, it reports {found} bytes")


@requirement(*_STORED, abilities=(Sized,))
def its_size_on_disk_grows_with_its_data(subject: Subject) -> None:
    system = subject.system
    assert isinstance(system, Sized)
    table = subject.made("size", Column("b", "bytes"))
    before = system.size_on_disk_bytes(subject.deployment)
    subject.load(table, [(number, os.urandom(4000)) for number in range(1000)])
    subject.execute(*subject.dialect.after_load([table]))
    on_disk, data = (
        system.size_on_disk_bytes(subject.deployment),
        system.data_bytes(subject.deployment),
    )
    if on_disk - before < 3_000_000 or data < 3_000_000:
        raise NotMet(
            f"4 MB that cannot be compressed made {on_disk - before} bytes on disk, and "
            f"data of {data} bytes"
        )


@requirement(abilities=(Sampled,))
def what_its_processes_use_is_seen(subject: Subject) -> None:
    assert isinstance(subject.system, Sampled)
    sample = subject.system.sample(subject.deployment)
    if sample is None:
        raise CannotBeTried("its processes are not on this machine")
    if min(sample.processes, sample.threads, sample.resident_bytes, sample.cpu_ns) <= 0:
        raise NotMet(f"expected processes, threads, memory and CPU time, found {sample}")


@requirement(*_STORED, "restart", abilities=(Restartable,))
def a_stopped_server_keeps_its_rows(subject: Subject) -> None:
    subject.insist_on_a_private_server()
    table = _kept(subject, "stopped")
    if not subject.running.stop():
        raise NotMet("it did not stop in order, and had to be killed")
    subject.running.start()
    subject.insist_on_count(table, 100)


@requirement(*_STORED, "restart", abilities=(Restartable, CrashReport))
def a_killed_server_keeps_what_was_committed(subject: Subject) -> None:
    """By SIGKILL, with a transaction under way where there are transactions. A library is killed
    with the process that it works in."""
    subject.insist_on_a_private_server()
    if lowered := subject.deployment.durability_lowered_by:
        raise CannotBeTried(f"a commit may be lost in a crash with {', '.join(lowered)}")
    table = _kept(subject, "killed")
    if subject.deployment.is_embedded:
        # Some libraries let one process at a time have a file open.
        deployment, statements = subject.address.for_engine(), _under_way(subject, table)
        subject.running.stop()
        _killed_beside_us(deployment, statements)
        subject.running.start()
    else:
        _kill_the_server(subject, _under_way(subject, table))
        subject.running.stop()
        subject.running.start()
    subject.insist_on_count(table, 100)
    subject.load(subject.made("killed_after", Column("value", "int")), [(1, 1)])


def _kept(subject: Subject, name: str) -> Table:
    table = subject.made(name, Column("value", "int"))
    subject.load(table, [(number, 0) for number in range(100)])
    return table


def _under_way(subject: Subject, table: Table) -> list[str]:
    dialect = subject.dialect
    begin = dialect.begin()
    if not begin or not isinstance(dialect, SingleRows):
        return []
    return [*begin, dialect.insert_row(table, ["1000", "1"])]


def _kill_the_server(subject: Subject, statements: list[str]) -> None:
    system = subject.system
    assert isinstance(system, CrashReport)
    deployment = subject.deployment
    with contextlib.suppress(Exception), subject.session() as opened:
        for statement in statements:
            opened.execute(statement)
        for node in deployment.nodes:
            family = psutil.Process(node.pid)
            for process in [family, *family.children(recursive=True)]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
    deadline = time.monotonic() + TIMEOUT_S
    while system.why_it_died(deployment) is None:
        if time.monotonic() > deadline:
            raise NotMet("it was killed, and it is not noticed that it is dead")
        time.sleep(0.02)


_CHILD = """
import json, os, signal, sys
from assay import _engine
asked = json.load(sys.stdin)
session = _engine.Session(asked["deployment"])
for statement in asked["statements"]:
    session.execute(statement)
os.kill(os.getpid(), signal.SIGKILL)
"""


def _killed_beside_us(deployment: DeploymentDocument, statements: list[str]) -> None:
    asked = {"deployment": deployment.json, "statements": statements}
    ended = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if ended.returncode != -signal.SIGKILL:
        raise NotMet(f"another process cannot work with its files: {ended.stderr.strip()[-300:]}")


REQUIREMENTS = (
    its_size_on_disk_grows_with_its_data,
    its_version_and_settings_are_read,
    its_buffer_has_the_size_that_was_asked_for,
    what_its_processes_use_is_seen,
    a_stopped_server_keeps_its_rows,
    a_killed_server_keeps_what_was_committed,
)

"""The process that serves a modelled disk: its options, how it is started, and its commands."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from assay import _engine
from assay.contracts.documents import convert, read_answer
from assay.contracts.plugins import OptionSpec
from assay.contracts.storages.abilities import RequestCounts
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import (
    FULL_DISK_HINT,
    ArgumentError,
    Bug,
    SystemDied,
    SystemUnderTestError,
    says_disk_is_full,
)
from assay.provision import processes
from assay.provision.processes import ServerProcess

_PROGRAM = "import sys; from assay import _engine; sys.exit(_engine.disk_model(sys.argv[1:]))"
_COMMAND = (sys.executable, "-P", "-c", _PROGRAM)
_REFUSAL = "error: "
_CALIBRATION_S = 60.0
"""It takes about two seconds; a disk whose reads take a second each needs longer."""


PathCost = Mapping[str, str | int]
"""The mean time of one kind of request (`assay.judge.storage_checks.Calibrated`)."""


class ServedDisk(Struct, frozen=True):
    """A modelled disk, served as a file."""

    process: ServerProcess
    file: Path
    control: Control
    account: Path
    """Every request with its times (see ``crates/disk-model``)."""

    def calibrate(self, device: Path) -> list[PathCost]:
        """Has the disk subtract what the way through ``device`` costs; returns for each operation
        and depth that cost, and how long requests took then by the model and by the clock."""
        places = ["--device", str(device), "--control", str(self.control.path)]
        try:
            done = subprocess.run(
                [*_COMMAND, "calibrate", *places],
                capture_output=True,
                text=True,
                check=False,
                timeout=_CALIBRATION_S,
            )
        except subprocess.TimeoutExpired as error:
            raise SystemUnderTestError(
                f"reading the modelled disk took longer than {_CALIBRATION_S:g} s",
                hint="check its parameters: `assay list storages --detail` explains them",
            ) from error
        if done.returncode != 0:
            said = done.stderr.strip().removeprefix(_REFUSAL)
            why = self.process.died("the modelled disk") or said
            why = why or processes.ending_of_output("the program that measures it", done.returncode)
            raise SystemUnderTestError(
                f"the overhead of the modelled disk cannot be measured: {why}"
            )
        costs: list[PathCost] = json.loads(done.stdout)["kinds"]
        return costs


@contextlib.contextmanager
def served(
    model: Model, size_bytes: int, mount: Path, name: str, directory: ServerDirectory
) -> Iterator[ServedDisk]:
    """The disk as the file ``name`` of a FUSE file system on ``mount``, with its image below
    ``directory.root``; at the end the process is stopped and its mount is gone, as soon as it is
    no longer in use.

    Raises `SystemUnderTestError` where it cannot be served.
    """
    control, account = directory.run / "disk.sock", directory.root / "account"
    arguments: list[str | Path] = [
        *_COMMAND,
        "serve",
        *("--image", directory.root / "image"),
        *("--size", str(size_bytes)),
        *("--mount", mount),
        *("--name", name),
        *("--model", words_of_model(model.parameters)),
        *("--control", control),
        *("--account", account),
    ]
    with processes.start_server(
        arguments,
        directory,
        stop=((signal.SIGTERM, 60.0),),
        as_ourselves=True,
        log_name="disk-model.log",
    ) as server:
        try:
            server.wait_ready(lambda: None if _is_ready(server.log) else "it does not serve yet")
        except SystemDied as error:
            raise _refused(server, error) from error
        yield ServedDisk(server, mount / name, Control(control), account)


def _is_ready(log: Path) -> bool:
    """It writes one document when the disk can be used; warnings may come before."""
    return any(line.startswith("{") for line in log.read_text(encoding="utf-8").splitlines())


def _refused(server: ServerProcess, died: SystemDied) -> SystemUnderTestError:
    """Its own sentence, where it ended with one."""
    lines = processes.last_lines(server.log).splitlines()
    said = next((line for line in lines if line.startswith(_REFUSAL)), None)
    if said is None:
        return died
    message = f"the modelled disk cannot be served: {said.removeprefix(_REFUSAL)}"
    hint = FULL_DISK_HINT if says_disk_is_full(message) else None
    return SystemUnderTestError(message, hint=hint)


_TIMEOUT_S = 60.0
"""A power cut waits until what is durable has been written to the image."""
_GLANCE_S = 1.0


class LostWrites(msgspec.Struct, frozen=True):
    """The numbers of the writes that a power cut has met."""

    dropped: tuple[int, ...] = ()
    torn: tuple[int, ...] = ()
    kept: tuple[int, ...] = ()
    dropped_bytes: int = 0


class ProcessAnswer(msgspec.Struct, frozen=True):
    """What the command asked for is set, the rest at its default."""

    ok: bool
    error: str | None = None
    counters: RequestCounts = RequestCounts(0, 0, 0, 0, 0)
    is_powered: bool = True
    has_been_full: bool = False
    lost: LostWrites = LostWrites()


class Control(Struct, frozen=True):
    """The socket of the process."""

    path: Path

    def ask(
        self, command: str, *, timeout_s: float = _TIMEOUT_S, **arguments: Any
    ) -> ProcessAnswer:
        """The answer. Raises `SystemDied` where there is none."""
        line = json.dumps({"command": command, **arguments})
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(timeout_s)
                connection.connect(str(self.path))
                connection.sendall(f"{line}\n".encode())
                with connection.makefile("rb") as answers:
                    text = answers.readline()
        except OSError as error:
            raise SystemDied(
                f"the process of the modelled disk does not answer: {error}"
            ) from error
        if not text.endswith(b"\n"):
            raise SystemDied("the process of the modelled disk ended before it answered")
        answer = convert(json.loads(text), ProcessAnswer, "answer of the modelled disk")
        if not answer.ok:
            raise Bug(f"the modelled disk refused {line}: {answer.error}")
        return answer

    def why_it_fails(self) -> str | None:
        """Why requests fail, where its power was cut or it was full; None also where it does not
        answer at once."""
        try:
            state = self.ask("counters", timeout_s=_GLANCE_S)
        except SystemDied:
            return None
        if not state.is_powered:
            return "the power of the modelled disk is off"
        if state.has_been_full:
            return f"the modelled disk is full: {os.strerror(errno.ENOSPC)}"
        return None

    def set_pace(self, is_paced: bool) -> None:
        """Whether requests take their modelled time. A file system is made and taken off without
        it."""
        self.ask("pace", is_paced=is_paced)


DEFAULT_PROFILE = "hdd-7200"


class Model(Struct, frozen=True):
    """A disk, with everything that determines its times."""

    profile: str
    kind: str
    """``rotating``, ``solid-state`` or ``none``."""
    source: str
    """Where the numbers of the profile come from."""
    parameters: Mapping[str, str]
    """In effect."""
    profile_values: Mapping[str, str]
    """Of the parameters that differ from the profile, the profile's values; empty: it has none."""


@cache
def disk_options() -> tuple[OptionSpec, ...]:
    """The profile, then every parameter of a disk; an empty one is that of the profile."""
    reference = json.loads(_engine.disk_model_reference())
    profiles = tuple(profile["name"] for profile in reference["profiles"])
    specs = []
    for parameter in reference["parameters"]:
        name, help_text = parameter["name"], parameter["help"]
        if name == "profile":
            specs.append(OptionSpec(name, DEFAULT_PROFILE, profiles, help_text))
        else:
            of = f" ({' and '.join(parameter['kinds'])} disks)" if parameter["kinds"] else ""
            specs.append(OptionSpec(name, "", (), f"{help_text}{of}"))
    return tuple(specs)


def model_of(values: Mapping[str, str], size_bytes: int) -> Model:
    """The disk of so many bytes of a storage's options, those that are not the disk's included.
    Raises `ArgumentError`."""
    names = {spec.name for spec in disk_options()}
    given = {name: value for name, value in values.items() if name in names and value}
    disk = _disk(given, size_bytes)
    profile = _disk({"profile": disk.profile}, size_bytes).parameters
    changed = {
        name: profile.get(name, "")
        for name, value in disk.parameters.items()
        if value != profile.get(name)
    }
    return Model(disk.profile, disk.kind, disk.source, disk.parameters, profile_values=changed)


class _Disk(msgspec.Struct, frozen=True):
    """What the program says of a disk."""

    profile: str
    kind: str
    source: str
    parameters: dict[str, str]


def _disk(given: Mapping[str, str], size_bytes: int) -> _Disk:
    try:
        text = _engine.disk_model_parameters(words_of_model(given), size_bytes)
    except _engine.EngineError as error:
        raise ArgumentError(error.message, hint=error.hint) from error
    return read_answer(text, _Disk)


def words_of_model(parameters: Mapping[str, str]) -> str:
    """As the program takes them."""
    return ",".join(f"{name}={value}" for name, value in parameters.items())

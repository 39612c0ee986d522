"""Takes a model and the places of a disk; starts the process that serves it as a file, and stops it
at the end.

The program is part of the engine: it runs in an interpreter of its own.
"""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import (
    FULL_DISK_HINT,
    SystemDied,
    SystemUnderTestError,
    says_disk_is_full,
)
from assay.provision.processes import process, programs
from assay.provision.processes.process import ServerProcess
from assay.storages.disk_model.control import Control
from assay.storages.disk_model.options import Model, words

_PROGRAM = "import sys; from assay import _engine; sys.exit(_engine.disk_model(sys.argv[1:]))"
_COMMAND = (sys.executable, "-P", "-c", _PROGRAM)
_REFUSAL = "error: "
_CALIBRATION_S = 60.0
"""It takes about two seconds; a disk whose reads take a second each needs longer."""


PathCost = Mapping[str, str | int]
"""The mean time of one kind of request (`assay.judge.evidence.modelled_disks.Calibrated`)."""


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
            why = why or programs.ending("the program that measures it", done.returncode)
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
        *("--model", words(model.parameters)),
        *("--control", control),
        *("--account", account),
    ]
    with process.start(
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
    lines = programs.last_lines(server.log).splitlines()
    said = next((line for line in lines if line.startswith(_REFUSAL)), None)
    if said is None:
        return died
    message = f"the modelled disk cannot be served: {said.removeprefix(_REFUSAL)}"
    hint = FULL_DISK_HINT if says_disk_is_full(message) else None
    return SystemUnderTestError(message, hint=hint)

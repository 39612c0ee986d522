"""Finds the program `mongod`."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from assay.env_vars import EnvVar
from assay.errors import SystemMissing
from assay.provision.machine.program import Program
from assay.text.mentions import phrase

PROGRAMS_FOLDER = EnvVar(
    "ASSAY_MONGODB_BIN",
    "The folder of the `mongod` to use; without it the program is looked for in $PATH and in "
    "/opt/mongodb*/bin.",
)

_UNPACKED = "/opt/mongodb*/bin"
MONGOD = Program("mongod", None, (_UNPACKED,))


def find_server(programs: str = "") -> Path:
    """In the folder ``programs``; without it, in the one that the environment names, or where this
    machine has it. Raises `SystemMissing`."""
    chosen = programs or PROGRAMS_FOLDER.get()
    for place in [chosen] if chosen else places():
        found = shutil.which(MONGOD.name, path=place)
        if found is not None:
            return Path(found)
    raise SystemMissing(
        f"the program {MONGOD.name} is not in {chosen or f'$PATH or in {_UNPACKED}'}",
        hint=phrase(
            "no package client brings it: unpack MongoDB's own archive and name its folder "
            "in {}, or name a server: {--on mongodb://USER@HOST:PORT/DATABASE}",
            PROGRAMS_FOLDER.name,
        ),
    )


def places() -> list[str]:
    """Folders of this machine that may have it, those of $PATH first."""
    unpacked = sorted(map(str, Path("/").glob(_UNPACKED.lstrip("/"))), reverse=True)
    return [*os.get_exec_path(), *unpacked]

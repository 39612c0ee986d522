"""Finds the program `mongod`."""

from __future__ import annotations

import shutil
from pathlib import Path

from assay.env_vars import EnvVar
from assay.errors import SystemMissing
from assay.provision.machine.program import Program

PROGRAMS_FOLDER = EnvVar(
    "ASSAY_MONGODB_BIN",
    "The folder of the `mongod` to use; without it the program is looked for in $PATH and in "
    "/opt/mongodb*/bin.",
)

_UNPACKED = "/opt/mongodb*/bin"
MONGOD = Program("mongod", None, (_UNPACKED,))


def find_server() -> Path:
    """Raises `SystemMissing`."""
    chosen = PROGRAMS_FOLDER.get()
    places = [None, *sorted(Path("/").glob(_UNPACKED.lstrip("/")), reverse=True)]
    for place in [Path(chosen)] if chosen else places:
        found = shutil.which(MONGOD.name, path=None if place is None else str(place))
        if found is not None:
            return Path(found)
    raise SystemMissing(
        f"the program {MONGOD.name} is not in {chosen or f'$PATH or in {_UNPACKED}'}",
        hint="no package client brings it: unpack MongoDB's own archive and name its folder in "
        f"{PROGRAMS_FOLDER.name}, or name a server: --on mongodb://USER@HOST:PORT/DATABASE",
    )

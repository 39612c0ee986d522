"""Finds PostgreSQL's programs on this machine; or says which packages bring them."""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from assay.env_vars import EnvVar
from assay.errors import SystemMissing
from assay.provision.machine.program import Program, packages

PROGRAMS_FOLDER = EnvVar(
    "ASSAY_POSTGRESQL_BIN",
    "The folder of the PostgreSQL programs to use (initdb, postgres, psql); without it they are "
    "looked for in $PATH and in /usr/lib/postgresql/*/bin, the newest version first.",
)

PACKAGED = Path("/usr/lib/postgresql")
"""Where Debian and its descendants keep each version's programs, outside $PATH."""

_PLACES = (f"{PACKAGED}/*/bin",)
INITDB = Program("initdb", "postgresql", _PLACES)
POSTGRES = Program("postgres", "postgresql", _PLACES)
PSQL = Program("psql", "postgresql-client", _PLACES)
PG_DUMP = Program("pg_dump", "postgresql-client", _PLACES)


@dataclass(frozen=True)
class Installation:
    """The server's programs, which belong together."""

    folder: Path
    major_version: int

    def program(self, name: str) -> Path:
        return self.folder / name


def find_server(programs: str = "") -> Installation:
    """The server in the folder ``programs``; without it, in the one that the environment names, or
    the newest of this machine.

    Raises `SystemMissing`.
    """
    chosen = programs or PROGRAMS_FOLDER.get()
    for folder in [Path(chosen)] if chosen else folders():
        if all(os.access(folder / one.name, os.X_OK) for one in (INITDB, POSTGRES)):
            return Installation(folder, _major_version(folder / POSTGRES.name))
    where = f"in {chosen}" if chosen else f"in $PATH or in {PACKAGED}/*/bin"
    raise SystemMissing(
        f"PostgreSQL's programs initdb and postgres are not {where}",
        hint=f"install them: {packages(INITDB, POSTGRES, PSQL)} (Debian, Ubuntu), or name their "
        f"folder in {PROGRAMS_FOLDER.name}",
    )


def find_client(client: Program = PSQL, programs: str = "") -> Path:
    """One of its client programs, if they are there from the folder ``programs``. Raises
    `SystemMissing`."""
    chosen = programs or PROGRAMS_FOLDER.get()
    for folder in [*([Path(chosen)] if chosen else []), *folders()]:
        if os.access(folder / client.name, os.X_OK):
            return folder / client.name
    raise SystemMissing(
        f"PostgreSQL's program {client.name} is not in $PATH or in {PACKAGED}/*/bin",
        hint=f"install it: {client.hint} (Debian, Ubuntu)",
    )


def folders() -> list[Path]:
    """Where programs may be: the one of $PATH if any, then each packaged version's."""
    in_path = [Path(found).parent for one in (POSTGRES, PSQL) if (found := one.find_in_path())]
    versions = [path for path in PACKAGED.glob("*/bin") if path.parent.name.isdigit()]
    newest_first = sorted(versions, key=lambda path: int(path.parent.name), reverse=True)
    return [*in_path, *newest_first]


def _major_version(postgres: Path) -> int:
    reported = subprocess.run(
        [postgres, "--version"], capture_output=True, text=True, check=False, timeout=60
    )
    number = re.search(r"\) (\d+)", reported.stdout)
    if number is None:
        raise SystemMissing(
            f"{postgres} --version says {(reported.stdout + reported.stderr).strip()!r}, which "
            "is not a version",
            hint=f"name the folder of another PostgreSQL in {PROGRAMS_FOLDER.name}",
        )
    return int(number.group(1))

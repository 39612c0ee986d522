"""Finds MariaDB's programs on this machine; or says which packages bring them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from assay.env_vars import EnvVar
from assay.errors import SystemMissing
from assay.provision.machine.program import Program
from assay.systems.mysql_protocol.product import Programs

BASE_FOLDER = EnvVar(
    "ASSAY_MARIADB_BASE",
    "The folder of the MariaDB to use, with bin, scripts and share in it (an unpacked archive); "
    "without it the programs are looked for in $PATH and in the usual places.",
)

MARIADBD = Program("mariadbd", "mariadb-server-core")
INSTALL_DB = Program("mariadb-install-db", "mariadb-server-core")
CLIENT = Program("mariadb", "mariadb-client-core")
DUMP = Program("mariadb-dump", "mariadb-client")

_USUAL = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin")
"""A server's program is often where the $PATH of ordinary users does not lead."""


def find_programs(programs: str = "") -> Programs:
    """The server in the folder ``programs``; without it, the one that the environment names, or
    this machine's; so below. Raises `SystemMissing`."""
    base = _base(programs)
    server = _find(base, MARIADBD.name)
    installer = _find(base, INSTALL_DB.name)
    if server is None or installer is None:
        missing = MARIADBD if server is None else INSTALL_DB
        raise SystemMissing(
            f"MariaDB's program {missing.name} is not {_where(base)}",
            hint=f"install it: {missing.hint} (Debian, Ubuntu), or name the folder of another in "
            f"{BASE_FOLDER.name}",
        )
    own = () if base is None else (f"--basedir={base}",)
    return Programs(server, own, installer)


def find_client(programs: str = "") -> Path:
    """The program mariadb, or mysql of older versions. Raises `SystemMissing`."""
    return _of_clients(CLIENT, "mysql", programs)


def find_dump(programs: str = "") -> Path:
    """The program mariadb-dump, or mysqldump of older versions. Raises `SystemMissing`."""
    return _of_clients(DUMP, "mysqldump", programs)


def places() -> list[str]:
    """Folders of this machine that may have its programs in bin, sbin or scripts."""
    return list(dict.fromkeys(str(Path(one).parent) for one in (*os.get_exec_path(), *_USUAL)))


def _of_clients(client: Program, older: str, programs: str) -> Path:
    base = _base(programs)
    found = _find(base, client.name) or _find(base, older)
    if found is None:
        raise SystemMissing(
            f"MariaDB's program {client.name} is not {_where(base)}",
            hint=f"install it: {client.hint} (Debian, Ubuntu)",
        )
    return found


def _base(programs: str) -> Path | None:
    chosen = programs or BASE_FOLDER.get()
    return None if chosen is None else Path(chosen).absolute()


def _find(base: Path | None, program: str) -> Path | None:
    if base is not None:
        folders = [str(base / name) for name in ("bin", "sbin", "scripts")]
    else:
        folders = [*os.get_exec_path(), *_USUAL]
    found = shutil.which(program, path=os.pathsep.join(folders))
    return None if found is None else Path(found)


def _where(base: Path | None) -> str:
    if base is not None:
        return f"in bin, sbin or scripts of {base}"
    return f"in $PATH or in {', '.join(_USUAL)}"

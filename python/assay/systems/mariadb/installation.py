"""Finds MariaDB's programs: the folder that the environment names, this machine's, or the newest
that was installed; and installs them from Debian's packages.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from assay.contracts.installing import Prefix, Report
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, SystemMissing
from assay.provision.install import cache, debian_prefix
from assay.provision.machine.program import Program
from assay.systems.mysql_protocol.product import Programs

BASE_FOLDER = EnvVar(
    "ASSAY_MARIADB_BASE",
    "The folder of the MariaDB to use, with bin, scripts and share in it (an unpacked archive); "
    "without it the programs are looked for in $PATH, in the usual places, and among what "
    "`assay install` brought.",
)

MARIADBD = Program("mariadbd", "mariadb-server-core")
INSTALL_DB = Program("mariadb-install-db", "mariadb-server-core")
CLIENT = Program("mariadb", "mariadb-client-core")
DUMP = Program("mariadb-dump", "mariadb-client")

RELEASES = {"11.8": "trixie", "10.11": "bookworm"}
"""Version → the release of Debian that has it."""
_PACKAGES = ("mariadb-server-core", "mariadb-client-core", "mariadb-client")
_NOT_NEEDED = ("perl", "debconf", "passwd", "adduser", "systemd", "procps")
"""Packages that only unused scripts need."""

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
            hint=f"install it: {missing.hint} (Debian, Ubuntu), or without root: assay install "
            f"mariadb; or name the folder of another in {BASE_FOLDER.name}",
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


def base_in(prefix: Path) -> Path:
    """The programs in a folder that `install` filled. Raises `SystemMissing`."""
    base = prefix / "usr"
    for one in (MARIADBD, INSTALL_DB, CLIENT, DUMP):
        if _find(base, one.name) is None:
            raise SystemMissing(f"it has no program {one.name}")
    return base


def install(version: str, prefix: Prefix, report: Report) -> None:
    """See `assay.contracts.systems.abilities.Installable`."""
    release = next((RELEASES[one] for one in RELEASES if f"{version}.".startswith(f"{one}.")), None)
    if release is None:
        raise ArgumentError(
            f"expected a version that Debian has: {', '.join(RELEASES)}, found {version}",
            hint=f"name the folder of its programs in {BASE_FOLDER.name}",
        )
    found = debian_prefix.unpack(
        _PACKAGES, prefix, report, release=release, without=_NOT_NEEDED, version=version
    )
    report(f"setting the programs of MariaDB {found} to use their own libraries")
    base = prefix.folder / "usr"
    programs = {base / "bin" / "my_print_defaults", base / "bin" / "resolveip"}
    programs |= {base / "bin" / one.name for one in (CLIENT, DUMP)} | {
        base / "sbin" / MARIADBD.name
    }
    debian_prefix.use_own_libraries(
        prefix,
        [one for one in sorted(programs) if one.is_file()],
        modules=sorted(base.glob("lib/mysql/plugin/*.so")),
    )


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
    if chosen := programs or BASE_FOLDER.get():
        return Path(chosen).absolute()
    installed = cache.newest("mariadb")
    is_here = installed is None or _find(None, MARIADBD.name) is not None
    return None if installed is None or is_here else installed / "usr"


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

"""Finds MySQL's programs: the folder that the environment names, this machine's, or the newest that
was installed; and installs them from Debian's packages.

MariaDB brings programs of the same names, which are not these: what they say of themselves decides.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from assay.contracts.installing import Prefix, Report
from assay.env_vars import EnvVar
from assay.errors import SystemMissing
from assay.provision.install import cache, debian_prefix
from assay.provision.machine.program import Program
from assay.systems.mysql_protocol.product import Programs
from assay.systems.program_version import said_version

BASE_FOLDER = EnvVar(
    "ASSAY_MYSQL_BASE",
    "The folder of the MySQL to use, with bin (or sbin) and share in it, as an unpacked archive "
    "has them; without it the programs are looked for in $PATH, in the usual places, and among "
    "what `assay install` brought.",
)

RELEASE = "sid"
"""Of Debian: the one that has MySQL, which its stable releases have not."""
PACKAGES = ("mysql-server-core", "mysql-client-core")
_NOT_NEEDED = ("perl", "debconf")
"""Packages that only unused scripts need."""
PROGRAMS = ("sbin/mysqld", "bin/mysql", "bin/mysqladmin", "bin/mysqldump")

MYSQLD = Program("mysqld", None)
CLIENT = Program("mysql", None)
DUMP = Program("mysqldump", None)

_USUAL = ("/usr/local/mysql/bin", "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin")
_OTHER = "MariaDB"


def find_programs(programs: str = "") -> Programs:
    """Of the folder ``programs`` if it is given; so below. Raises `SystemMissing`."""
    server = _find(MYSQLD, programs)
    base = _base_of(server)
    share = base / "share"
    # Debian keeps them in a folder of their own, MySQL's archives beside others.
    messages = share / "mysql" if (share / "mysql").is_dir() else share
    if not (messages / "english").is_dir():
        return Programs(server)
    return Programs(
        server,
        (
            f"--basedir={base}",
            f"--lc-messages-dir={messages}",
            f"--character-sets-dir={messages / 'charsets'}",
            *_plugins(base),
        ),
    )


def find_client(programs: str = "") -> Path:
    """Raises `SystemMissing`."""
    return _find(CLIENT, programs)


def find_dump(programs: str = "") -> Path:
    """Raises `SystemMissing`."""
    return _find(DUMP, programs)


def places() -> list[str]:
    """Folders of this machine that may have its programs in bin or sbin."""
    return list(dict.fromkeys(str(Path(one).parent) for one in (*os.get_exec_path(), *_USUAL)))


def install(version: str, prefix: Prefix, report: Report) -> None:
    """See `assay.contracts.systems.abilities.Installable`."""
    found = debian_prefix.unpack(
        PACKAGES, prefix, report, release=RELEASE, without=_NOT_NEEDED, version=version
    )
    report(f"setting the programs of MySQL {found} to use their own libraries")
    debian_prefix.use_own_libraries(prefix, [prefix.folder / "usr" / name for name in PROGRAMS])


def server_in(folder: Path) -> Path:
    """The server in a folder that `install` filled. Raises `SystemMissing`."""
    for name in PROGRAMS:
        if not os.access(folder / "usr" / name, os.X_OK):
            raise SystemMissing(f"it has no program {name}")
    return folder / "usr" / PROGRAMS[0]


def _find(program: Program, programs: str) -> Path:
    chosen = programs or BASE_FOLDER.get()
    base = None if chosen is None else Path(chosen).absolute()
    if base is not None:
        folders = [base / "bin", base / "sbin"]
    else:
        folders = [Path(one) for one in (*os.get_exec_path(), *_USUAL)]
        if (installed := cache.newest("mysql")) is not None:
            folders += [installed / "usr" / "sbin", installed / "usr" / "bin"]
    for folder in dict.fromkeys(folders):
        found = shutil.which(program.name, path=str(folder))
        if found is not None and _OTHER not in said_version(Path(found)):
            return Path(found)
    where = f"in bin or sbin of {base}" if base is not None else "on this machine"
    raise SystemMissing(
        f"MySQL's program {program.name} is not {where}",
        hint="bring it without root: assay install mysql; or name the folder of another in "
        f"{BASE_FOLDER.name}",
    )


def _base_of(server: Path) -> Path:
    return server.resolve().parent.parent


def _plugins(base: Path) -> list[str]:
    folders = (base / "lib" / "mysql" / "plugin", base / "lib" / "plugin")
    return [f"--plugin-dir={one}" for one in folders if one.is_dir()][:1]

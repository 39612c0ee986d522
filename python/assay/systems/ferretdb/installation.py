"""Finds FerretDB and the PostgreSQL with DocumentDB that stores its documents; installs both, by Go
and from Debian's packages.

Where it looks: the folder that the environment names, this machine, the newest that was installed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from assay.contracts.systems.protocol import Prefix, ReportInstalling
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, SystemMissing
from assay.provision.install import cache, debian_prefix, package_clients
from assay.provision.machine.program import Program
from assay.systems.postgresql import installation as postgresql
from assay.systems.postgresql.installation import Installation

BASE_FOLDER = EnvVar(
    "ASSAY_FERRETDB_BASE",
    "The folder of the FerretDB to use, with bin/ferretdb and usr/lib/postgresql in it, as "
    "`assay install ferretdb` has them; without it the programs are looked for in $PATH and in "
    "/usr/lib/postgresql, then among what `assay install` brought.",
)

FERRETDB = Program("ferretdb", None)

RELEASE = "sid"
"""Of Debian: the one that has DocumentDB, which its stable releases have not."""
MAJOR_VERSION = 18
PACKAGE = f"postgresql-{MAJOR_VERSION}-documentdb"
_SCRIPTS_AND_DATA = """
    adduser base-passwd debconf dirmngr fontconfig-config gdal-data gdal-plugins gnupg gpg-agent
    gpgsm libgpgme45 libgpgmepp7 locales login.defs mariadb-common mysql-common netbase openssl
    passwd perl perl-base postgresql-client-common postgresql-common procps proj-data
    readline-common sensible-utils ssl-cert systemd tzdata ucf unixodbc-common
"""
NOT_NEEDED = tuple(_SCRIPTS_AND_DATA.split())
"""Packages that only unused scripts, maps and images need."""
PROGRAMS = ("initdb", "postgres", "psql")
_LIBRARIES = ("blas", "lapack")
"""Which the packages keep in folders of these names, for their own scripts to choose among."""
_CHOSEN = "postgis.control"
"""An extension whose version their scripts choose."""

GO_PROGRAM = "github.com/FerretDB/FerretDB/v2/cmd/ferretdb"
LEAST_GO = (1, 25)


class FerretdbPrograms(Struct, frozen=True):
    """FerretDB, and the server behind it."""

    ferretdb: Path
    postgresql: Installation


def find_programs(programs: str = "") -> FerretdbPrograms:
    """In the folder ``programs``; without it, in the one that the environment names, or where this
    machine has them. Raises `SystemMissing`."""
    chosen = programs or BASE_FOLDER.get()
    if chosen is not None:
        base = Path(chosen).absolute()
        if (found := _within(base)) is None:
            raise SystemMissing(
                f"FerretDB is not in {base}: expected bin/ferretdb, and a PostgreSQL with "
                "DocumentDB in usr/lib/postgresql",
                hint=f"name another folder in {BASE_FOLDER.name}, or leave it out",
            )
        return found
    ferretdb = FERRETDB.find_in_path()
    behind = next(_with_documentdb(postgresql.PACKAGED), None)
    if ferretdb is not None and behind is not None:
        return FerretdbPrograms(Path(ferretdb), behind)
    for one in cache.installations("ferretdb"):
        if (found := _within(one.folder)) is not None:
            return found
    lacking = "the program ferretdb" if ferretdb is None else "PostgreSQL with DocumentDB"
    raise SystemMissing(
        f"{lacking} is not on this machine",
        hint="bring it without root: assay install ferretdb; or name the folder of another in "
        f"{BASE_FOLDER.name}",
    )


def programs_in(folder: Path) -> FerretdbPrograms:
    """The programs in a folder that `install` filled. Raises `SystemMissing`."""
    if (found := _within(folder)) is None:
        raise SystemMissing("it has no program ferretdb, or no PostgreSQL with DocumentDB")
    return found


def _within(base: Path) -> FerretdbPrograms | None:
    ferretdb = base / "bin" / "ferretdb"
    behind = next(_with_documentdb(base / "usr" / "lib" / "postgresql"), None)
    if behind is None or not os.access(ferretdb, os.X_OK):
        return None
    return FerretdbPrograms(ferretdb, behind)


def _with_documentdb(shelf: Path) -> Iterator[Installation]:
    """Those of a folder of versions (``18/bin``) that have the extension, the newest first."""
    found = sorted((int(one.name) for one in shelf.glob("*") if one.name.isdecimal()), reverse=True)
    for version in found:
        share = shelf.parent.parent / "share" / "postgresql" / str(version)
        programs = shelf / str(version) / "bin"
        if (share / "extension" / "documentdb.control").exists() and all(
            os.access(programs / name, os.X_OK) for name in ("initdb", "postgres")
        ):
            yield Installation(programs, version)


def install(version: str, prefix: Prefix, report: ReportInstalling) -> None:
    """See `assay.contracts.systems.abilities.Installable`. ``version`` is FerretDB's."""
    if not version.startswith("2."):
        raise ArgumentError(
            f"expected a version 2 of FerretDB, found {version}", hint="ferretdb@2.7.0"
        )
    found = debian_prefix.unpack([PACKAGE], prefix, report, release=RELEASE, without=NOT_NEEDED)
    # Behind the packages, whose bin is a link to usr/bin.
    package_clients.build_go_module(
        GO_PROGRAM, f"v{version}", prefix.folder / "bin", prefix, report, least_go=LEAST_GO
    )
    report(f"setting PostgreSQL and DocumentDB {found} to use their own libraries")
    _choose(prefix)
    own = prefix.folder / "usr/lib/postgresql" / str(MAJOR_VERSION)
    debian_prefix.use_own_libraries(
        prefix,
        [own / "bin" / name for name in PROGRAMS],
        modules=sorted((own / "lib").glob("*.so")),
        folders=[own / "lib"],
    )


def _choose(prefix: Prefix) -> None:
    """The links that the packages' own scripts would have made."""
    for name in _LIBRARIES:
        for library in prefix.folder.glob(f"usr/lib/*/{name}/lib{name}.so.3"):
            (library.parent.parent / library.name).symlink_to(f"{name}/{library.name}")
    extensions = prefix.folder / "usr/share/postgresql" / str(MAJOR_VERSION) / "extension"
    for control in sorted(extensions.glob("postgis-*.control"))[-1:]:
        (extensions / _CHOSEN).symlink_to(control.name)

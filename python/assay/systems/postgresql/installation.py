"""Finds PostgreSQL's programs: the folder that the environment names, this machine's, or the
newest that was installed; installs them from Debian's packages; and returns the commands of its
clients."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from assay.contracts.deployment import Address
from assay.contracts.systems.abilities import ProgramBuild
from assay.contracts.systems.protocol import Prefix, ReportInstalling
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, SystemMissing
from assay.provision.install import builds, cache, debian_prefix
from assay.provision.machine.program import Program, packages
from assay.systems.options import ANSWERS_WITHIN_S, answer_of, said_version

PROGRAMS_FOLDER = EnvVar(
    "ASSAY_POSTGRESQL_BIN",
    "The folder of the PostgreSQL programs to use (initdb, postgres, psql); without it they are "
    "looked for in $PATH and in /usr/lib/postgresql/*/bin, the newest version first, then among "
    "what `assay install` brought.",
)

PACKAGED = Path("/usr/lib/postgresql")
"""Where Debian and its descendants keep each version's programs, outside $PATH."""

_PLACES = (f"{PACKAGED}/*/bin",)
INITDB = Program("initdb", "postgresql", _PLACES)
POSTGRES = Program("postgres", "postgresql", _PLACES)
PSQL = Program("psql", "postgresql-client", _PLACES)
BUILD_REPORT = Program("pg_config", "libpq-dev", _PLACES, is_optional=True)
PG_DUMP = Program("pg_dump", "postgresql-client", _PLACES)


RELEASES = {"18": "sid", "17": "trixie", "15": "bookworm", "13": "bullseye"}
"""Major version → the release of Debian that has it."""
_COMPILER = {"18": ("postgresql-18-jit",)}
"""Of ``jit``, where it is a package of its own."""
_SCRIPTS = """
    adduser base-passwd debconf locales login.defs netbase openssl passwd perl perl-base
    postgresql-client-common postgresql-common procps sensible-utils ssl-cert systemd tzdata ucf
"""
_NOT_NEEDED = tuple(_SCRIPTS.split())
"""Packages that only unused scripts need."""


class Installation(Struct, frozen=True):
    """The server's programs, which belong together."""

    folder: Path
    major_version: int

    def program(self, name: str) -> Path:
        return self.folder / name

    def kinds_of_settings(self) -> dict[str, str]:
        """The kind of value (``STRING``, ``BOOLEAN`` …) of each setting that the server describes,
        by its name."""
        described = answer_of([self.program("postgres"), "--describe-config"])
        lines = (line.split("\t") for line in described.stdout.splitlines())
        return {parts[0]: parts[3] for parts in lines if len(parts) > 3}


def find_server(programs: str = "") -> Installation:
    """The server in the folder ``programs``, or in its ``bin``; without it, in the one that the
    environment names, or the newest of this machine.

    Raises `SystemMissing`.
    """
    chosen = programs or PROGRAMS_FOLDER.get()
    for folder in _chosen_folders(chosen) if chosen else [*folders(), *_installed()]:
        if all(os.access(folder / one.name, os.X_OK) for one in (INITDB, POSTGRES)):
            return Installation(folder, _major_version(folder / POSTGRES.name))
    lacking = "programs initdb and postgres are"
    where = f"in {chosen} or its folder bin" if chosen else f"in $PATH or in {PACKAGED}/*/bin"
    for one, other in ((INITDB, POSTGRES), (POSTGRES, INITDB)):
        if any(os.access(folder / other.name, os.X_OK) for folder in _chosen_folders(chosen)):
            lacking = f"program {one.name} is"
    raise SystemMissing(
        f"PostgreSQL's {lacking} not {where}",
        hint=f"install them: {packages(INITDB, POSTGRES, PSQL)} (Debian, Ubuntu), or without root: "
        f"assay install postgresql; or name their folder in {PROGRAMS_FOLDER.name}",
    )


def find_client(client: Program = PSQL, programs: str = "") -> Path:
    """One of its client programs, if they are there from the folder ``programs``. Raises
    `SystemMissing`."""
    chosen = programs or PROGRAMS_FOLDER.get()
    for folder in [*_chosen_folders(chosen), *folders(), *_installed()]:
        if os.access(folder / client.name, os.X_OK):
            return folder / client.name
    raise SystemMissing(
        f"PostgreSQL's program {client.name} is not in $PATH or in {PACKAGED}/*/bin",
        hint=f"install it: {client.hint} (Debian, Ubuntu)",
    )


def _chosen_folders(chosen: str | None) -> list[Path]:
    return [Path(chosen), Path(chosen, "bin")] if chosen else []


def build_of(installation: Installation) -> ProgramBuild:
    """Its programs, the libraries beside them and those that its server loads."""
    programs = [installation.program(one.name).resolve() for one in (INITDB, POSTGRES)]
    folder, own = programs[1].parent, installation.program(BUILD_REPORT.name)
    said = said_version(programs[1])
    if os.access(own, os.X_OK):
        said = answer_of([own], within_s=ANSWERS_WITHIN_S).stdout.strip() or said
    loaded = re.search(r"^PKGLIBDIR = (.+)$", said, re.MULTILINE)
    beside = builds.libraries_of(folder.parent, ())
    parts = [*beside, *([Path(loaded[1])] if loaded else [])]
    is_whole = beside and programs[0].parent == folder
    return ProgramBuild((*([folder] if is_whole else programs), *parts), said)


def folders() -> list[Path]:
    """Where programs may be: the one of $PATH if any, then each packaged version's."""
    in_path = [Path(found).parent for one in (POSTGRES, PSQL) if (found := one.find_in_path())]
    versions = [path for path in PACKAGED.glob("*/bin") if path.parent.name.isdigit()]
    newest_first = sorted(versions, key=lambda path: int(path.parent.name), reverse=True)
    return [*in_path, *newest_first]


def _installed() -> list[Path]:
    """What `install` brought, the newest version first."""
    return [found for one in cache.installations("postgresql") if (found := _within(one.folder))]


def _within(prefix: Path) -> Path | None:
    return next(prefix.glob("usr/lib/postgresql/*/bin"), None)


def folder_in(prefix: Path) -> Path:
    """The programs in a folder that `install` filled. Raises `SystemMissing`."""
    programs = _within(prefix)
    for one in (INITDB, POSTGRES, PSQL):
        if programs is None or not os.access(programs / one.name, os.X_OK):
            raise SystemMissing(f"it has no program {one.name}")
    assert programs is not None
    return programs


def install(version: str, prefix: Prefix, report: ReportInstalling) -> None:
    """See `assay.contracts.systems.abilities.Installable`."""
    major = version.split(".")[0]
    if major not in RELEASES:
        raise ArgumentError(
            f"expected a version that Debian has: {', '.join(RELEASES)}, found {version}",
            hint=f"name the folder of its programs in {PROGRAMS_FOLDER.name}",
        )
    package = f"postgresql-{major}"
    found = debian_prefix.unpack(
        [package, *_COMPILER.get(major, ())],
        prefix,
        report,
        release=RELEASES[major],
        without=_NOT_NEEDED,
        version=version,
    )
    report(f"setting the programs of PostgreSQL {found} to use their own libraries")
    own = prefix.folder / "usr/lib/postgresql" / major
    debian_prefix.use_own_libraries(
        prefix,
        [one for one in sorted((own / "bin").iterdir()) if not one.is_symlink()],
        modules=sorted((own / "lib").glob("*.so")),
        folders=[own / "lib"],
    )


def _major_version(postgres: Path) -> int:
    said = said_version(postgres)
    number = re.search(r"\) (\d+)", said)
    if number is None:
        raise SystemMissing(
            f"{postgres} --version says {said!r}, which is not a version"
            if said
            else f"{postgres} --version says nothing: expected its version",
            hint=f"name the folder of another PostgreSQL in {PROGRAMS_FOLDER.name}",
        )
    return int(number.group(1))


_SSLMODE_OF_TLS = {
    "off": "disable",
    "prefer": "prefer",
    "require": "require",
    "verify-ca": "verify-ca",
    "verify": "verify-full",
}


def client_command(address: Address) -> tuple[list[str], Mapping[str, str]]:
    """psql, which reads SQL on standard input: its arguments, and what it needs in its environment.

    It reads no ``~/.psqlrc`` (which could change its output) and never asks for a password, which
    goes by the environment: arguments are there for everybody to see. It stops at the first error,
    which it would else end with status 0. Raises `SystemMissing`.
    """
    own = [str(find_client(programs=address.programs)), "--no-psqlrc", "--set=ON_ERROR_STOP=1"]
    return [*own, *_connection(address)], _environment(address)


def dump_command(address: Address) -> tuple[list[str], Mapping[str, str]]:
    """pg_dump, which writes SQL for `command` to standard output. Raises `SystemMissing`."""
    return [str(find_client(PG_DUMP, address.programs)), *_connection(address)], _environment(
        address
    )


def _connection(address: Address) -> list[str]:
    if address.unix is not None:
        socket = Path(address.unix)
        host, port = str(socket.parent), socket.name.rpartition(".")[2]
    else:
        host, port = address.host or "", str(address.port or "")
    given = _given(host=host, port=port, username=address.user)
    return ["--no-password", *given, f"--dbname={address.database}"]


def _environment(address: Address) -> Mapping[str, str]:
    environment = {"PGSSLMODE": _SSLMODE_OF_TLS[address.tls], "PGCLIENTENCODING": "UTF8"}
    if address.password is not None:
        environment["PGPASSWORD"] = address.password
    if address.host_address is not None:
        environment["PGHOSTADDR"] = address.host_address
    if address.ca_file is not None:
        environment["PGSSLROOTCERT"] = address.ca_file
    if address.cert_file is not None and address.key_file is not None:
        environment |= {"PGSSLCERT": address.cert_file, "PGSSLKEY": address.key_file}
    return environment


def _given(**options: str) -> list[str]:
    """The options that say something; for the others the client has its own defaults."""
    return [f"--{name}={value}" for name, value in options.items() if value]

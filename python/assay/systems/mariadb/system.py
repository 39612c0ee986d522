"""MariaDB behind the protocol of every system under test: what it has otherwise than other servers
of its protocol, and how its programs are found and installed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from assay.contracts.deployment import Address
from assay.contracts.systems.abilities import FoundPrograms
from assay.contracts.systems.protocol import OptionSpec, Prefix, ReportInstalling, ServerDirectory
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, Bug, SystemMissing
from assay.provision.engine.engine_calls import Session
from assay.provision.install import cache, debian_prefix
from assay.provision.machine.program import Program
from assay.systems.mysql_protocol.product import (
    KEYS,
    POOL,
    Buffer,
    Described,
    Product,
    Programs,
    plain_name,
)
from assay.systems.mysql_protocol.system import ProductSystem
from assay.systems.sessions import rows_of

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


def install(version: str, prefix: Prefix, report: ReportInstalling) -> None:
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


_DESCRIPTIONS_QUERY = """
SELECT variable_name, variable_type, enum_value_list FROM information_schema.system_variables
"""

_DIRECTORY_SETTINGS = """
    aria_log_dir_path innodb_checksum_algorithm innodb_data_file_path innodb_data_home_dir
    innodb_file_per_table innodb_log_group_home_dir innodb_page_size innodb_undo_directory
    innodb_undo_tablespaces lower_case_table_names
"""
"""What a data directory is made with."""

_TLS = {
    "off": ["--skip-ssl"],
    "prefer": ["--skip-ssl-verify-server-cert"],
    "require": ["--ssl", "--skip-ssl-verify-server-cert"],
    "verify-ca": ["--ssl", "--skip-ssl-verify-server-cert"],
    "verify": ["--ssl", "--ssl-verify-server-cert"],
}


class MariadbProduct(Product):
    name = "mariadb"
    folder = Path(__file__).parent
    title = "MariaDB"
    base_folder = BASE_FOLDER
    option_groups = ("client", "client-server", "client-mariadb", "mysql", "mariadb-client")
    engine = OptionSpec(
        name="engine",
        default="InnoDB",
        levels=("InnoDB", "MyISAM", "Aria"),
        help="The storage engine that tables live in; MyISAM and Aria know no transactions.",
    )
    buffers: Mapping[str, Buffer] = {
        "innodb": POOL,
        "myisam": KEYS,
        "aria": Buffer(
            "aria_pagecache_buffer_size",
            8 << 10,
            128 << 10,
            "Aria_pagecache_read_requests",
            "Aria_pagecache_reads",
        ),
    }
    shared_files: Mapping[str, str] = {
        # System tablespace, undo and redo logs: 96 MiB from the first moment. The temporary
        # tablespace (12 MB) is made anew at start.
        "innodb": r"ibdata\d+|undo\d+|ib_logfile\d+",
        "aria": r"aria_log\.\d+|aria_log_control",
    }
    least_directory_bytes = 110 << 20  # redo log 96 MiB, system tablespace 12 MiB, catalogue
    settings_of_the_directory = frozenset(_DIRECTORY_SETTINGS.split())
    settings_of_assay: Mapping[str, str] = {}
    checking_arguments = ("--verbose", "--help")
    writes_binary_log = False
    connection_rights = "SUPER, CONNECTION ADMIN"
    monitoring_rights = "PROCESS, RELOAD, SHOW DATABASES, BINLOG MONITOR"
    default_table_open_cache = 2000
    changed_query = """
    SELECT variable_name FROM information_schema.system_variables
    WHERE global_value_origin NOT IN ('COMPILE-TIME', 'AUTO', 'ENVIRONMENT')
    """
    sessions_query = """
    SELECT variable_value FROM information_schema.global_status
    WHERE variable_name = 'THREADS_CONNECTED'
    """

    find_programs = staticmethod(find_programs)
    find_client = staticmethod(find_client)
    find_dump = staticmethod(find_dump)
    places = staticmethod(places)

    def make_data_directory(
        self,
        programs: Programs,
        directory: ServerDirectory,
        temporary: Path,
        log: Path,
        arguments: list[str],
    ) -> list[str | Path]:
        if programs.installer is None:
            raise Bug("MariaDB's programs were found without the one that makes a data directory")
        # The program ends with a page of advice, so that its reasons must be looked for further up.
        into_log: list[str | Path] = ["/bin/sh", "-c", 'exec "$@" > "$0" 2>&1', log]
        return [
            *into_log,
            programs.installer,
            "--no-defaults",
            # A shell script, which loses blanks and backslashes on the way.
            f"--datadir={directory.plain_root / directory.data.name}",
            f"--tmpdir={temporary}",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
            *programs.base_arguments,
            *arguments,
        ]

    def server_arguments(self) -> list[str]:
        # From version 11.4 on it would make itself a key for TLS at each start, for seconds.
        return ["--skip-ssl"]

    def users(
        self, user: str, password: str | None, clients: str, *, is_confined: bool
    ) -> list[str]:
        names = [f"'{user}'@'localhost'"]
        lines: list[str] = []
        proof = ""
        if password is not None:
            names.append(f"'{user}'@'{clients}'")
            proof = f" IDENTIFIED BY '{password}'"
            lines += ["DELETE FROM mysql.global_priv WHERE User = 'root';", "FLUSH PRIVILEGES;"]
        for name in names:
            lines += [
                f"CREATE OR REPLACE USER {name}{proof};",
                *self.rights(name, user, is_confined=is_confined),
            ]
        return lines

    def descriptions(self, opened: Session) -> dict[str, Described]:
        rows = rows_of(opened, _DESCRIPTIONS_QUERY, columns=3) or ()
        return {
            str(name).lower(): Described(
                str(kind).lower(), tuple((words or "").lower().split(",")) if words else ()
            )
            for name, kind, words in rows
        }

    def why_it_is_gone(self, setting: str) -> str | None:
        return why_it_is_gone(setting)

    def tls_arguments(self, address: Address) -> list[str]:
        return _TLS[address.tls]


class Mariadb(ProductSystem):
    installable_version = "11.8"
    installable_releases = tuple(RELEASES)
    install_source = (
        "apt brings packages of the Debian release that has the version (11.8, 10.11), about 30 MB "
        "to download and 250 MB on disk; they run beside any release"
    )
    install_bytes = 700 << 20

    def find_in(self, folder: Path) -> FoundPrograms:
        return self.find_at(str(base_in(folder)))

    def install(self, version: str, prefix: Prefix, report: ReportInstalling) -> None:
        install(version, prefix, report)


MARIADB = Mariadb(MariadbProduct())


_REDO_LOG = "the redo log is one file, and innodb_log_file_size is its size"
_SCHEDULES_ITSELF = "leave it out: the server has no limit of threads inside InnoDB"
_ALWAYS = "leave it out: the server does what it decided in one way only"

_SINCE_10_6 = {
    "innodb_log_files_in_group": _REDO_LOG,
    "innodb_buffer_pool_instances": "leave it out: the buffer pool is one",
    "innodb_page_cleaners": "leave it out: one thread writes pages back",
    "innodb_thread_concurrency": _SCHEDULES_ITSELF,
    "innodb_commit_concurrency": _SCHEDULES_ITSELF,
    "innodb_concurrency_tickets": _SCHEDULES_ITSELF,
    "innodb_thread_sleep_delay": _SCHEDULES_ITSELF,
    "innodb_adaptive_max_sleep_delay": _SCHEDULES_ITSELF,
    "innodb_checksums": "innodb_checksum_algorithm is what chooses",
    "innodb_log_checksums": _ALWAYS,
    "innodb_undo_logs": _ALWAYS,
    "innodb_rollback_segments": _ALWAYS,
    "innodb_file_format": _ALWAYS,
    "innodb_large_prefix": _ALWAYS,
    "innodb_log_compressed_pages": _ALWAYS,
    "innodb_log_optimize_ddl": _ALWAYS,
    "innodb_scrub_log": _ALWAYS,
    "innodb_idle_flush_pct": _ALWAYS,
    "innodb_replication_delay": _ALWAYS,
}


def why_it_is_gone(name: str) -> str | None:
    """A sentence that ends with what to do; None for a setting that we know nothing of. To be asked
    only where a server does not have it."""
    fix = _SINCE_10_6.get(plain_name(name))
    return None if fix is None else f"{plain_name(name)} was removed in MariaDB 10.6: {fix}"

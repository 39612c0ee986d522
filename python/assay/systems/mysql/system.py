"""MySQL behind the protocol of every system under test: what it has otherwise than other servers
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
from assay.errors import SystemMissing
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
from assay.systems.options import rounded_up, said_version, version_of
from assay.systems.sessions import rows_of

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


def install(version: str, prefix: Prefix, report: ReportInstalling) -> None:
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


_KINDS_QUERY = "SELECT variable_name, data_type FROM performance_schema.variables_metadata"

_DIRECTORY_SETTINGS = """
    innodb_data_file_path innodb_data_home_dir innodb_directories innodb_doublewrite_dir
    innodb_file_per_table innodb_log_group_home_dir innodb_page_size innodb_undo_directory
    lower_case_table_names
"""
"""What a data directory is made with."""

_TLS = {
    "off": "DISABLED",
    "prefer": "PREFERRED",
    "require": "REQUIRED",
    "verify-ca": "VERIFY_CA",
    "verify": "VERIFY_IDENTITY",
}


class _ChunkedPool(Buffer, frozen=True):
    """The server makes the pool of equal chunks, 128 MiB each by default, and rounds up to whole
    ones; a smaller pool is one chunk of its own size."""

    def settings(self, size_bytes: int) -> dict[str, str]:
        size = rounded_up(size_bytes, self.unit_bytes, self.least_bytes)
        chunk = {"innodb_buffer_pool_chunk_size": str(size)} if size < 1 << 30 else {}
        return {self.setting: str(size), **chunk}


class MysqlProduct(Product):
    name = "mysql"
    folder = Path(__file__).parent
    title = "MySQL"
    base_folder = BASE_FOLDER
    option_groups = ("client", "mysql")
    engine = OptionSpec(
        name="engine",
        default="InnoDB",
        levels=("InnoDB", "MyISAM"),
        help="The storage engine that tables live in; MyISAM knows no transactions.",
    )
    buffers: Mapping[str, Buffer] = {
        "innodb": _ChunkedPool(
            POOL.setting,
            POOL.unit_bytes,
            POOL.least_bytes,
            POOL.requests,
            POOL.reads,
            POOL.default_bytes,
        ),
        "myisam": KEYS,
    }
    shared_files: Mapping[str, str] = {
        # System tablespace, undo logs, the folder of redo logs, the buffer of double writes. The
        # catalogue (mysql.ibd) is the server's own.
        "innodb": r"ibdata\d+|undo_\d+|#innodb_redo|#ib_\d+_\d+\.dblwr"
    }
    settings_of_the_directory = frozenset(_DIRECTORY_SETTINGS.split())
    settings_of_assay: Mapping[str, str] = {
        # The sizes of tables are asked for after a load and must not be a day old.
        "information_schema_stats_expiry": "0",
        # Workloads may make functions; with a binary log an administrator alone could. Not every
        # version has it.
        "loose_log_bin_trust_function_creators": "ON",
    }
    # Its own sizes follow the memory that it finds. Off by default; not every version has it.
    settings_in_a_group: Mapping[str, str] = {"loose_container_aware": "ON"}
    # The server has the numbers of these transactions already and would refuse them.
    dump_arguments = ("--set-gtid-purged=OFF",)
    checking_arguments = ("--validate-config",)
    connection_rights = "SUPER, CONNECTION_ADMIN, SERVICE_CONNECTION_ADMIN"
    monitoring_rights = "PROCESS, RELOAD, SHOW DATABASES, REPLICATION CLIENT"
    writes_binary_log = True  # from version 8 on
    default_table_open_cache = 4000
    changed_query = """
    SELECT variable_name FROM performance_schema.variables_info WHERE variable_source <> 'COMPILED'
    """
    sessions_query = """
    SELECT variable_value FROM performance_schema.global_status
    WHERE variable_name = 'Threads_connected'
    """
    statistics_statements = ("SET SESSION information_schema_stats_expiry = 0",)

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
        return [
            programs.server,
            "--no-defaults",
            *programs.base_arguments,
            "--initialize-insecure",
            f"--datadir={directory.data}",
            f"--tmpdir={temporary}",
            "--secure-file-priv=",
            f"--log-error={log}",
            *arguments,
        ]

    def server_arguments(self) -> list[str]:
        # The folder that files may be written to by default is not there; the X protocol would
        # take a port of its own.
        return ["--secure-file-priv=", "--mysqlx=OFF"]

    def users(
        self, user: str, password: str | None, clients: str, *, is_confined: bool
    ) -> list[str]:
        names = [f"'{user}'@'localhost'"]
        lines: list[str] = []
        if password is not None:
            names.append(f"'{user}'@'{clients}'")
            lines.append("DROP USER IF EXISTS 'root'@'localhost';")
        for name in names:
            # The user is not dropped: it may be the definer of what was loaded.
            lines += [
                f"CREATE USER IF NOT EXISTS {name};",
                f"ALTER USER {name} IDENTIFIED BY '{password or ''}';",
                *self.rights(name, user, is_confined=is_confined),
            ]
        return lines

    def descriptions(self, opened: Session) -> dict[str, Described]:
        """Their kinds; the words of a list are not among what it says."""
        rows = rows_of(opened, _KINDS_QUERY, columns=2) or ()
        return {str(name).lower(): Described(str(kind).lower(), ()) for name, kind in rows}

    def why_it_is_gone(self, setting: str) -> str | None:
        return why_it_is_gone(setting)

    def tls_arguments(self, address: Address) -> list[str]:
        own = [f"--ssl-mode={_TLS[address.tls]}"]
        is_open = address.tls in ("off", "prefer") and address.unix is None
        # Without TLS the password goes out encrypted by the server's key, which it has to send.
        return [*own, "--get-server-public-key"] if is_open else own


class Mysql(ProductSystem):
    installable_version = "9"
    installable_releases = ("9",)
    install_source = (
        "apt brings packages of Debian sid, 56 MB to download and 350 MB on disk; they run beside "
        "any release"
    )
    install_bytes = 700 << 20

    def find_in(self, folder: Path) -> FoundPrograms:
        return FoundPrograms(version_of(server_in(folder)), str(folder / "usr"))

    def install(self, version: str, prefix: Prefix, report: ReportInstalling) -> None:
        install(version, prefix, report)


MYSQL = Mysql(MysqlProduct())


_REDO_LOG = "innodb_redo_log_capacity is the size of the whole redo log"
_NO_CACHE = "leave it out: the server keeps no results of queries"
_ISOLATION = "transaction_isolation is its name"
_READ_ONLY = "transaction_read_only is its name"
_ALWAYS = "leave it out: the server does what it decided in one way only"

_GONE = {
    "query_cache_type": _NO_CACHE,
    "query_cache_size": _NO_CACHE,
    "query_cache_limit": _NO_CACHE,
    "tx_isolation": _ISOLATION,
    "tx_read_only": _READ_ONLY,
    "innodb_file_format": _ALWAYS,
    "innodb_large_prefix": _ALWAYS,
    "innodb_checksums": "innodb_checksum_algorithm is what chooses",
    "innodb_undo_logs": "innodb_rollback_segments is its name",
    "innodb_log_file_size": _REDO_LOG,
    "innodb_log_files_in_group": _REDO_LOG,
    "default_authentication_plugin": "authentication_policy is what chooses",
    "expire_logs_days": "binlog_expire_logs_seconds is what chooses",
}


def why_it_is_gone(name: str) -> str | None:
    """A sentence that ends with what to do; None for a setting that we know nothing of. To be asked
    only where a server does not have it."""
    found = _GONE.get(plain_name(name))
    return None if found is None else f"MySQL no longer has {plain_name(name)}: {found}"

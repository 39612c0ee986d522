"""What MySQL has otherwise than other servers of its protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.contracts.deployment import Address
from assay.contracts.systems.protocol import OptionSpec, ServerDirectory
from assay.provision.engine.engine_calls import Session
from assay.systems.answers import rows_of
from assay.systems.mysql import installation, removed
from assay.systems.mysql_protocol.buffer import KEYS, POOL, Buffer
from assay.systems.mysql_protocol.meaning import Described
from assay.systems.mysql_protocol.product import Product, Programs
from assay.systems.options import rounded_up

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
    base_folder = installation.BASE_FOLDER
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
        "innodb": r"ibdata\d+|undo_\d+|#innodb_redo|#ib_\d+_\d+\.dblwr",
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

    def find_programs(self, programs: str = "") -> Programs:
        return installation.find_programs(programs)

    def find_client(self, programs: str = "") -> Path:
        return installation.find_client(programs)

    def find_dump(self, programs: str = "") -> Path:
        return installation.find_dump(programs)

    def places(self) -> Sequence[str]:
        return installation.places()

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
        return removed.why_it_is_gone(setting)

    def tls_arguments(self, address: Address) -> list[str]:
        own = [f"--ssl-mode={_TLS[address.tls]}"]
        is_open = address.tls in ("off", "prefer") and address.unix is None
        # Without TLS the password goes out encrypted by the server's key, which it has to send.
        return [*own, "--get-server-public-key"] if is_open else own

"""What MariaDB has otherwise than other servers of its protocol."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.contracts.deployment import Address
from assay.contracts.systems.protocol import OptionSpec, ServerDirectory
from assay.errors import Bug
from assay.provision.engine.engine_calls import Session
from assay.systems.answers import rows_of
from assay.systems.mariadb import installation, removed
from assay.systems.mysql_protocol.buffer import KEYS, POOL, Buffer
from assay.systems.mysql_protocol.meaning import Described
from assay.systems.mysql_protocol.product import Product, Programs

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
    base_folder = installation.BASE_FOLDER
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
        return removed.why_it_is_gone(setting)

    def tls_arguments(self, address: Address) -> list[str]:
        return _TLS[address.tls]

"""Takes a folder and settings; returns the command of MariaDB's script that makes a data directory
there."""

from __future__ import annotations

from pathlib import Path

from assay.errors import Bug
from assay.systems.mysql_protocol.product import Programs
from assay.systems.protocol import ServerDirectory

_SETTINGS = """
    aria_log_dir_path innodb_checksum_algorithm innodb_data_file_path innodb_data_home_dir
    innodb_file_per_table innodb_log_group_home_dir innodb_page_size innodb_undo_directory
    innodb_undo_tablespaces lower_case_table_names
"""
SETTINGS = frozenset(_SETTINGS.split())
"""What a data directory is made with."""


def command(
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

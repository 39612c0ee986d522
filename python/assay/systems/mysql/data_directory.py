"""Takes a folder and settings; returns the command by which MySQL makes a data directory there."""

from __future__ import annotations

from pathlib import Path

from assay.systems.mysql_protocol.product import Programs
from assay.systems.protocol import ServerDirectory

_SETTINGS = """
    innodb_data_file_path innodb_data_home_dir innodb_directories innodb_doublewrite_dir
    innodb_file_per_table innodb_log_group_home_dir innodb_page_size innodb_undo_directory
    lower_case_table_names
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

"""A setting that the server's program refuses, or would change, is never taken for the value that
stands in its table: the program prints one nevertheless, and succeeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ArgumentError
from assay.systems.mariadb import MARIADB
from assay.systems.mysql_protocol import spelling
from assay.systems.mysql_protocol.meaning import is_altered
from assay.systems.mysql_protocol.product import Programs

SUFFIX = (
    "2026-11-28  2:46:55 0 [ERROR] Unknown suffix 'o' used for variable "
    "'innodb-flush-log-at-trx-commit' (value 'on'). Legal suffix characters are: K, M, G, T, P, E"
)
SUFFIX_WITH_NUMBERS = (
    "2026-11-28T02:46:56.214021Z 0 [ERROR] [MY-000058] [Server] Unknown suffix 'o' used for "
    "variable 'innodb-flush-log-at-trx-commit' (value 'on')."
)
ADJUSTED = (
    "2026-11-28  2:46:55 0 [Warning] Buffered warning: option 'max_connections': unsigned value 1 "
    "adjusted to 10"
)
IGNORED = (
    "2026-11-28  2:48:17 0 [Warning] mariadbd: ignoring option '--innodb-change-buffering' due to "
    "invalid value 'maybe'"
)
FILES = "2026-11-28  2:46:55 0 [Warning] Could not increase number of max_open_files to more"


def program(folder: Path, log: str, table: str) -> Programs:
    """A program that prints this for all arguments."""
    server = folder / "server"
    server.write_text(
        f"#!/bin/sh\ncat >&2 <<'END'\n{log}\nEND\ncat <<'END'\nVariables\n---- ----\n{table}\nEND\n"
    )
    server.chmod(0o755)
    return Programs(server)


@pytest.mark.parametrize(
    ("name", "asked", "log", "read", "why"),
    [
        ("innodb_flush_log_at_trx_commit", "on", SUFFIX, "0", "Unknown suffix 'o'"),
        ("innodb_flush_log_at_trx_commit", "on", SUFFIX_WITH_NUMBERS, "0", "^[^[]*Unknown suffix"),
        ("max-connections", "1", ADJUSTED, "10", "unsigned value 1 adjusted to 10"),
        ("max_connections", "1", FILES, "10", "asked as '1' and would be '10'"),
        ("innodb_change_buffering", "maybe", IGNORED, "none", "due to invalid value 'maybe'"),
        ("autocommit", "maybe", FILES, "FALSE", "asked as 'maybe' and would be 'OFF'"),
    ],
)
def test_refused_in_its_words(
    tmp_path: Path, name: str, asked: str, log: str, read: str, why: str
) -> None:
    programs = program(tmp_path, log, f"{name.replace('_', '-')}   {read}")
    (spelled,) = spelling.spelled(MARIADB.product, programs, {name: asked})
    assert (spelled.name, spelled.value, spelled.is_default) == (name, asked, False)
    with pytest.raises(ArgumentError, match=why) as refused:
        spelling.refuse_altered(MARIADB.product, programs, {name: asked})
    assert refused.value.hint == f"it was given {name}={asked}"


@pytest.mark.parametrize(
    ("name", "asked", "read", "shown"),
    [
        ("sort_buffer_size", "1024K", "1048576", "1M"),
        ("autocommit", "true", "TRUE", "ON"),
        ("binlog_format", "1", "STATEMENT", "STATEMENT"),
        ("long_query_time", "0.50", "0.5", "0.5"),
    ],
)
def test_another_spelling_is_none(
    tmp_path: Path, name: str, asked: str, read: str, shown: str
) -> None:
    programs = program(tmp_path, FILES, f"{name.replace('_', '-')}   {read}")
    assert [one.value for one in spelling.spelled(MARIADB.product, programs, {name: asked})] == [
        shown
    ]
    spelling.refuse_altered(MARIADB.product, programs, {name: asked})


@pytest.mark.parametrize(
    ("asked", "read", "shown"),
    [("ON", "vm-bin", "ON"), ("true", "vm-bin", "ON"), ("0", "(No default value)", "OFF")],
)
def test_a_switch_has_no_name_that_the_server_makes_of_the_machines(
    tmp_path: Path, asked: str, read: str, shown: str
) -> None:
    programs = program(tmp_path, FILES, f"log-bin   {read}")
    (found,) = spelling.spelled(MARIADB.product, programs, {"log-bin": asked})
    assert (found.name, found.value) == ("log_bin", shown)


def test_what_open_files_lower_is_left_to_the_server_that_runs(tmp_path: Path) -> None:
    programs = program(tmp_path, FILES, "table-open-cache   9909")
    asked = {"table_open_cache": "30000"}
    assert [one.value for one in spelling.spelled(MARIADB.product, programs, asked)] == ["30000"]
    spelling.refuse_altered(MARIADB.product, programs, asked)


def test_a_word_for_a_number_is_not_taken_for_another() -> None:
    assert not is_altered("1", "row")
    assert is_altered("8388609", "8388608")

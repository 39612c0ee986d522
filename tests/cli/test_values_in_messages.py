"""Messages about what was given show it, and how it is written."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assay.systems.mysql_protocol import spelling as mysql_spelling
from assay.systems.postgresql import spelling as postgresql_spelling
from commands import run_in


def test_a_password_with_a_slash_is_not_shown_as_a_port(tmp_path: Path) -> None:
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    ended = run_in(tmp_path, "run", "one.sql", "--on", "postgresql://me:geheim/x@h/db")
    assert ended.returncode == 2
    assert "geheim" not in ended.stderr


def test_a_program_that_does_not_answer_spells_no_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexec sleep 60\n")
    silent.chmod(0o755)
    for spelling in (mysql_spelling, postgresql_spelling):
        monkeypatch.setattr(spelling, "_LONGEST_S", 0.2)
    assert mysql_spelling._said((str(silent),)).table == {}
    assert postgresql_spelling._read(silent, "work_mem", "4MB") is None


def test_an_error_in_the_data_names_script_line_and_statement(tmp_path: Path) -> None:
    (tmp_path / "twice.sql").write_text(
        "CREATE TABLE IF NOT EXISTS t (a int PRIMARY KEY);\nINSERT INTO t VALUES (1);\n"
    )
    ended = run_in(tmp_path, "run", "twice.sql", "--transactions", "2", "--on", "sqlite")
    said = " ".join(ended.stdout.split())
    assert "constraint: twice.sql, line 2: UNIQUE constraint failed: t.a; statement: INSERT" in said


def test_rows_after_copy_are_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "copy.sql").write_text("COPY t FROM STDIN;\n1\n\\.\n")
    ended = run_in(tmp_path, "run", "copy.sql", "--transactions", "2", "--on", "sqlite")
    assert ended.returncode == 2
    assert "copy.sql:3:1" in ended.stderr and "write INSERT statements" in ended.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount")
def test_a_full_disk_is_left_without_empty_files(tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    common = ("run", "one.sql", "--transactions", "1", "--on", "sqlite")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", full], check=True)
    try:
        (full / "fill").write_bytes(bytes(64 << 10))
        for words in (("--records", "full/r.sqlite"), ("--log", "full/x.csv")):
            ended = run_in(tmp_path, *common, *words)
            assert ended.returncode in (2, 3), ended.stdout
            assert "free" in ended.stderr, ended.stderr
        assert [file.name for file in full.iterdir()] == ["fill"]
    finally:
        subprocess.run(["umount", full], check=True)

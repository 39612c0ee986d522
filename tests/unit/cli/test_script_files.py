"""A script that is no text file is refused with what it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assay.cli.program import run_program


def make(kind: str, path: Path) -> None:
    match kind:
        case "folder":
            path.mkdir()
        case "pipe":
            os.mkfifo(path)
        case "loop":
            path.symlink_to(path)
        case "dangling":
            path.symlink_to("nowhere.sql")
        case "latin1":
            path.write_bytes("select 1;\nselect 'é';".encode("latin1"))
        case "unreadable":
            path.write_text("select 1;")
            path.chmod(0)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("missing", "s.sql: cannot be read: there is no such file"),
        ("dangling", "s.sql: cannot be read: there is no such file"),
        ("folder", "s.sql: is a folder"),
        ("pipe", "s.sql: is a pipe"),
        ("loop", "s.sql: cannot be read: it is a symbolic link in a loop of links"),
        ("latin1", "s.sql:2:9: is not UTF-8"),
        ("unreadable", "s.sql: cannot be read: you have no permission to"),
    ],
)
@pytest.mark.parametrize("words", [["s.sql"], ["bibsql.sequential", "--script", "s.sql"]])
def test_each_is_refused_with_its_own_message(
    kind: str,
    sentence: str,
    words: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if kind == "unreadable" and os.geteuid() == 0:
        pytest.skip("the superuser reads every file")
    monkeypatch.chdir(tmp_path)
    make(kind, Path("s.sql"))
    assert run_program(["plan", *words, "--on", "sqlite"]) == 2
    assert sentence in capsys.readouterr().err

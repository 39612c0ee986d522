"""The row source `program`: rows that a program of a package writes, which is in the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Assay
from plugins import WORKLOAD, write_workload

DATA = """source = "program"
package = "rowgen==1.2"
command = ["rowgen", "{scale}"]
files = "{table}.txt"
ends_line = true

[parameters.scale]
type = "float"
default = 2.0
help = "Rows"
"""
PARTS = WORKLOAD.format(source="program", columns='id = "int"\nname = "text"').replace(
    'source = "program"\n', DATA
)
PROGRAM = '#!/bin/sh\nfor one in $(seq $1); do echo "$one|bolt $one|"; done > parts.txt\n'
CHECK = "select * from parts where name <> 'bolt ' || cast(id as char(1));\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    _program(tmp_path, PROGRAM)
    write_workload(tmp_path, PARTS)
    (tmp_path / "parts" / "checks").mkdir()
    (tmp_path / "parts" / "checks" / "names.sql").write_text(CHECK)
    return tmp_path


def _program(here: Path, text: str) -> None:
    program = here / "cache" / "systems" / "rowgen" / "1.2" / "bin" / "rowgen"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(text)
    program.chmod(0o755)


@pytest.mark.usefixtures("here")
def test_its_lines_are_rows(assay: Assay) -> None:
    ended = assay("run", "./parts", "--on", "sqlite", "--set", "scale=2,3")
    assert ended.status == 0, ended.err
    assert [run.dataset["rows"] for run in ended.runs if run.dataset] == [
        {"parts": 2},
        {"parts": 3},
    ]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("#!/bin/sh\necho the disk is full >&2\nexit 3\n", "status 3: the disk is full"),
        ("#!/bin/sh\ntouch others.txt\n", "parts.txt: rowgen has not written it; it wrote others"),
        (PROGRAM.replace("bolt $one|", "bolt $one|1|"), "row 1: expected 2 cells, found 3"),
    ],
)
def test_a_program_that_fails_is_reported(
    here: Path, assay: Assay, program: str, message: str
) -> None:
    _program(here, program)
    ended = assay("run", "./parts", "--on", "sqlite")
    assert (ended.status, message in ended.err) == (2, True), ended.err


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{scale}", "{scales}", "{scales} is neither a parameter nor a constant"),
        ("==1.2", "", "expected a Python package with its version, found 'rowgen'"),
    ],
)
def test_mistakes_in_its_declaration_are_refused(
    here: Path, assay: Assay, old: str, new: str, message: str
) -> None:
    (here / "parts" / "workload.toml").write_text(PARTS.replace(old, new))
    ended = assay("plan", "./parts", "--on", "sqlite")
    assert (ended.status, message in ended.err) == (2, True), ended.err

"""Bad input ends before a system is touched, with its place; with --keep-going good entries are
loaded."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from commands import Assay

GOOD = '@Book{good:1,\n  title = "fine",\n  year = 2001,\n}\n\n'

BAD = {
    "an unclosed brace": (b'@Misc{x,\n  title = "a {b",\n}\n', 1, "never"),
    "a missing key": (b'@Misc{,\n  title = "b",\n}\n', 1, "citation key"),
    "a duplicate key": (b'@Misc{good:1,\n  title = "b",\n}\n', 1, "again"),
    "Latin-1": (b'@Misc{x,\n  title = "caf\xe9",\n}\n', 2, "--encoding latin-1"),
    "NUL": (b'@Misc{x,\n  title = "a\0b",\n}\n', 2, "NUL"),
    "a field of 100 MB": (b'@Misc{x,\n  title = "' + b"x" * 100_000_000 + b'",\n}\n', 1, "8388608"),
}
"""What is wrong: the entry after the good one, its wrong line in it, a word of the message."""


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_before_a_load(assay: Assay, working_folder: Path, name: str) -> None:
    entry, line, word = BAD[name]
    (working_folder / "bad.bib").write_bytes(GOOD.encode() + entry)
    place = f"bad.bib:{GOOD.count(chr(10)) + line}:"
    sqlite3.connect(working_folder / "own.db").execute("VACUUM").connection.close()
    before = (working_folder / "own.db").read_bytes()
    ended = assay("run", "bibsql", "--on", "sqlite:///own.db", "--bib", "bad.bib")
    assert ended.status == 2
    assert place in ended.err
    assert word in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""
    assert (working_folder / "own.db").read_bytes() == before

    script = assay("bad.bib", program="bibtosql")
    assert script.status == 2
    assert place in script.err
    assert "COMMIT" not in script.out


@pytest.mark.parametrize("name", BAD)
def test_keep_going_loads_the_good_entries_and_counts_the_bad(
    assay: Assay, working_folder: Path, name: str
) -> None:
    (working_folder / "bad.bib").write_bytes(GOOD.encode() + BAD[name][0])
    ended = assay("run", "bibsql", "--on", "sqlite", "--bib", "bad.bib", "--keep-going")
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.dataset is not None
    assert (run.dataset["rows"]["bibtab"], run.dataset["skipped_items"]) == (1, 1)


@pytest.mark.parametrize(
    ("path", "word"),
    [("empty.bib", "empty"), ("folder", "no *.bib"), ("missing.bib", "no such file")],
)
def test_a_file_that_is_no_bibliography_is_reported(
    assay: Assay, working_folder: Path, path: str, word: str
) -> None:
    (working_folder / "empty.bib").touch()
    (working_folder / "folder").mkdir()
    ended = assay("run", "bibsql", "--on", "sqlite", "--bib", path)
    assert ended.status == 2
    assert path in ended.err
    assert word in ended.err


def test_an_unknown_macro_is_a_warning_and_loaded_by_its_name(
    assay: Assay, working_folder: Path
) -> None:
    (working_folder / "macro.bib").write_text(
        "@Article{a,\n  title = {t},\n  journal = j-none,\n}\n"
    )
    script = assay("macro.bib", program="bibtosql")
    assert script.status == 0
    assert "macro.bib:3:13" in script.err
    assert "'j-none'" in script.out
    assert assay("--strict", "macro.bib", program="bibtosql").status == 2


def test_tables_on_a_foreign_server_are_kept(assay: Assay, working_folder: Path) -> None:
    (working_folder / "good.bib").write_text(GOOD, encoding="utf-8")
    words = ("run", "bibsql", "--on", "sqlite:///own.db", "--bib", "good.bib")
    with sqlite3.connect(working_folder / "own.db") as own:
        own.execute("CREATE TABLE bibtab (mine)")
    refused = assay(*words)
    assert refused.status == 2
    assert "bibtab" in refused.err
    with sqlite3.connect(working_folder / "own.db") as own:
        own.execute("DROP TABLE bibtab")
    assert assay(*words).status == 0
    with sqlite3.connect(working_folder / "own.db") as own:
        ours = "SELECT count(*) FROM sqlite_master WHERE name LIKE '%tab'"
        assert own.execute(ours).fetchone() == (0,)

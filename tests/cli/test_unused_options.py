"""An option is accepted where one of the tests has it; what is refused:
`tests/unit/cli/transcripts/options_without_effect.txt`."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.program import run_program


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with a script and a bibliography."""
    (tmp_path / "one.sql").write_text("select 1;\n")
    (tmp_path / "small.bib").write_text("@Misc{a, title = {b}}\n")
    monkeypatch.chdir(tmp_path)


def test_an_option_that_applies_to_one_of_the_tests_is_accepted() -> None:
    words = ["plan", "bibsql.checks,limit,update", "--on", "null", "--bib", "small.bib"]
    assert run_program([*words, "--clients", "2", "--duration", "1"]) == 0
    assert run_program(["plan", "e831.*", "--on", "null", "--duration", "1"]) == 0


def test_a_folder_for_copies_in_the_environment_is_no_option(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ASSAY_DATASETS", "folder")
    words = ["run", "one.sql", "--on", "null", "--transactions", "1", "--records", "r.sqlite"]
    assert run_program(words) == 0

"""A transaction that asks for an isolation level gets it, or the weakest stronger one that the
system has."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.dialects.cubrid import CUBRID
from assay.dialects.duckdb import DUCKDB
from assay.dialects.postgresql import POSTGRESQL
from assay.dialects.sqlite import SQLITE
from assay.drive.isolation import begins
from commands import need
from step_workloads import folder_of, ran


def test_a_missing_level_is_replaced_by_the_next_stronger_one() -> None:
    at_read_committed = begins(CUBRID)["read committed"]
    assert begins(CUBRID)["read uncommitted"] == at_read_committed
    assert "REPEATABLE READ" in begins(CUBRID)["repeatable read"][0]
    assert "serializable" not in begins(CUBRID), "none is as strong"


def test_the_only_level_of_a_system_serves_all_that_are_not_stronger() -> None:
    assert begins(SQLITE) == dict.fromkeys(begins(POSTGRESQL), SQLITE.begin())
    snapshots = ("read uncommitted", "read committed", "repeatable read")
    assert begins(DUCKDB) == dict.fromkeys(snapshots, DUCKDB.begin())


def test_a_level_that_the_system_does_not_have_is_said(tmp_path: Path) -> None:
    """Levels that no script names, and those that it has, are not."""
    folder = folder_of(
        tmp_path,
        'scripts = ["one.sql", "two.sql"]\npasses = 1\n',
        one="\\begin read committed\nSELECT 1;\n\\commit\n",
        two="-- no \\begin repeatable read\n\\begin serializable\nSELECT 1;\n\\commit\n",
    )
    (run,) = ran(folder, "sqlite").runs
    assert run.driven is not None
    assert run.driven.other_isolation == {"read committed": "serializable"}
    (warning,) = (one for one in run.warnings if one.name == "isolation-raised")
    assert "read committed → serializable" in warning.detail
    assert "isolation" not in run.judged.reason, "it limits no number"


def test_a_level_that_no_client_began_is_not_said(tmp_path: Path) -> None:
    """A script names levels for several settings; only those of the branches that are taken count,
    each by its place."""
    text = """
\\set strict 0
\\if :strict
\\begin read committed
\\else
\\begin repeatable read
\\endif
SELECT 1;
\\commit
"""
    folder = folder_of(tmp_path, 'scripts = ["one.sql"]\npasses = 1\n', one=text)
    (run,) = ran(folder, "sqlite").runs
    assert run.driven is not None
    assert run.driven.other_isolation == {"repeatable read": "serializable"}
    (begun,) = run.driven.begun_levels
    assert (begun.script, begun.number, begun.level) == ("one", 1, "repeatable read")


@pytest.mark.parametrize("level", ["serializable", "{strictest_level}"])
def test_a_weaker_level_that_an_override_or_a_word_names_is_said_and_limits_the_number(
    tmp_path: Path, level: str
) -> None:
    need("duckdb")
    test = 'scripts = ["one.sql"]\npasses = 1\n'
    folder = folder_of(tmp_path, test, one=f"\\begin {level}\nSELECT 1;\n\\commit\n")
    if level == "serializable":
        (folder / "overrides" / "duckdb").mkdir(parents=True)
        (folder / "overrides" / "duckdb" / "one.sql").write_text(
            "-- it has no such level\n\\begin repeatable read\nSELECT 1;\n\\commit\n"
        )
    (run,) = ran(folder, "duckdb").runs
    assert run.driven is not None
    assert run.driven.other_isolation == {"serializable": "repeatable read"}
    (warning,) = (one for one in run.warnings if one.name == "isolation-lowered")
    assert "serializable → repeatable read" in warning.detail
    assert "isolation" in run.judged.reason


def test_a_level_that_is_stronger_than_all_of_a_system_refuses_its_runs_alone(
    tmp_path: Path,
) -> None:
    """Before, the experiment ended with the error of a script that is right for others."""
    test = 'scripts = ["one.sql"]\npasses = 1\n'
    folder = folder_of(tmp_path, test, one="\\begin serializable\nSELECT 1;\n\\commit\n")
    other, sqlite = ran(folder, "cubrid", "sqlite").runs
    assert (other.state, sqlite.state) == ("refused", "done")
    assert other.reason == (
        "cubrid: one.sql begins a transaction that is serializable; the strongest level there is "
        "repeatable read"
    )

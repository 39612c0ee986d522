"""The 28 counts on the 9,733 real entries, on every system, with and without replicas."""

from __future__ import annotations

from pathlib import Path

from assay.judge.run import Run
from assay.workload import reader
from commands import IN_MEMORY, Assay, need, why_missing

ENGINES = "mariadb.engine=InnoDB,MyISAM"

COUNTS = {
    "S01": 156, "S02": 0, "S03": 0, "S04": 89, "S05": 25, "S06": 1, "S07": 1, "S08": 0, "S09": 0,
    "S10": 0, "S11": 0, "S12": 5, "S13": 0, "S14": 2, "S15": 69, "S16": 31, "S17": 2, "S18": 9,
    "S19": 19, "S20": 0, "S21": 1, "S22": 1, "S23": 2, "S24": 183, "S25": 1, "S26": 0, "S27": 425,
    "S28": 6,
}  # fmt: skip
"""R of the 28 checks, measured on SQLite, PostgreSQL 15, MariaDB 10.11 InnoDB and MyISAM."""


def found(run: Run) -> dict[str, int]:
    return {check["id"]: check["found"] for check in run.checks}


def test_the_workload_expects_the_counts_that_were_measured() -> None:
    answers, *_ = reader.read("bibsql").expected
    assert answers.counts == COUNTS
    assert answers.entries == 9733


def test_every_system_gives_the_same_rows(assay: Assay, beebe: Path, available: list[str]) -> None:
    systems = [*available, *([] if why_missing("ferretdb") else ["ferretdb"])]
    ended = assay(
        "run", "bibsql", "--on", ",".join(systems), "--set", ENGINES, "--bib", beebe,
        "--clients", "2", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert len(ended.runs) == len(systems) + 1
    for run in ended.runs:
        assert found(run) == COUNTS, run.system_label
        assert all(check["ok"] for check in run.checks)


def test_every_system_finds_the_same_in_journals(assay: Assay, beebe: Path) -> None:
    """The numbers are those that SQLite, PostgreSQL, MariaDB, MySQL and DuckDB agree on."""
    for system in ("postgresql", "duckdb"):
        need(system)
    ended = assay(
        "run", "bibsql.journals", "--on", "sqlite,postgresql,duckdb", "--bib", beebe, *IN_MEMORY
    )
    assert ended.status == 0, ended.err
    for run in ended.runs:
        assert found(run) == {"J01": 3, "J02": 11, "J03": 47, "J04": 47}, run.system_label


def test_replicas_multiply_the_counts_or_leave_them(assay: Assay, beebe: Path) -> None:
    """The rows of replicas are made before a system sees them: one system is enough."""
    ended = assay(
        "run", "bibsql", "--on", "sqlite", "--bib", beebe, "--set", "replicas=2",
        "--set", "variant=full,clean", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    factors = {"full": 2, "clean": 1}
    assert {run.parameters["variant"] for run in ended.runs} == set(factors)
    for run in ended.runs:
        factor = factors[str(run.parameters["variant"])]
        assert found(run) == {name: count * factor for name, count in COUNTS.items()}


def test_a_wrong_count_makes_the_run_failed(assay: Assay, beebe: Path, tmp_path: Path) -> None:
    """One entry that a check counts is corrected, which changes only that count."""
    import shutil

    folder = Path(shutil.copytree(reader.read("bibsql").folder, tmp_path / "bibsql"))
    expected = folder / "expected.toml"
    text = expected.read_text(encoding="utf-8")
    assert "S04 = 89" in text
    expected.write_text(text.replace("S04 = 89", "S04 = 88"), encoding="utf-8")
    ended = assay("run", folder, "--on", "sqlite", "--bib", beebe, "--format", "json")
    assert ended.status == 1
    (run,) = ended.runs
    assert run.state == "failed"
    assert "S04 returned 89 rows" in run.reason


def test_look_ups_find_entries_on_every_system(
    assay: Assay, beebe: Path, available: list[str]
) -> None:
    ended = assay(
        "run", "bibsql.look-ups", "--on", ",".join(available), "--bib", beebe, "--clients", "2",
        "--warm-up", "0", "--transactions", "60", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    for run in ended.runs:
        assert run.driven is not None and run.driven.outcomes.ok == 120, run.system_label
        done = {one.name for one in run.driven.transactions if one.outcome == "ok"}
        assert done == {"by-key", "by-author", "by-title"}, run.system_label


def test_the_year_of_the_paper_has_no_expected_rows_and_is_compared_between_systems(
    assay: Assay, beebe: Path
) -> None:
    """S05 with 2012, as printed; bound as a value, and written into the text."""
    need("postgresql")
    for protocol in ("simple", "prepared"):
        ended = assay(
            "run", "bibsql", "--on", "sqlite,postgresql", "--bib", beebe, *IN_MEMORY,
            "--set", "latest_year=2012", "--protocol", protocol,
        )  # fmt: skip
        assert ended.status == 0, ended.err
        for run in ended.runs:
            assert found(run) == {**COUNTS, "S05": 1260}
            (asked,) = (check for check in run.checks if check["id"] == "S05")
            assert asked["note"].startswith("not applicable for latest_year")
            assert (asked["expected"], asked["ok"]) == (None, None)
            assert run.driven is not None and all(one.digest for one in run.driven.results)

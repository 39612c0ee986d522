"""AS3AP, the Set Query benchmark and the Wisconsin benchmark have the answers that their papers
derive, and mistakes in them are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from able import able_to_run, of_each_kind
from assay import registry
from assay.contracts.observation import MadeBackupReport, RestoredBackupReport
from assay.judge.run import Run
from commands import IN_MEMORY, Assay, need
from smaller_workloads import changed_copy

FOLDER = Path(registry.__file__).parent / "workloads" / "as3ap"
CHECKS = {path.stem for path in (FOLDER / "checks").iterdir()}
ACKNOWLEDGED = "10-acknowledged"
RELATIONS = CHECKS - {ACKNOWLEDGED}
UNCHANGED = {"updates after 0", "hundred after 0"}


def found_wrong(run: Run, expected: set[str]) -> set[str]:
    assert {check["id"] for check in run.checks} == expected
    return {check["id"] for check in run.checks if not check["ok"]}


def ended_ok(run: Run) -> int:
    assert run.driven is not None
    assert run.driven.outcomes.lost == 0, run.driven.errors
    return run.driven.outcomes.ok


@pytest.mark.parametrize("system", of_each_kind(able_to_run("as3ap.single"), turn=0))
def test_every_step_returns_its_tuples_and_leaves_the_relations_as_they_were(
    assay: Assay, system: str
) -> None:
    """The chapter's 79 steps without the load, which is timed by itself, and the backup."""
    need(system)
    ended = assay("run", "as3ap.single,extra", "--on", system, *IN_MEMORY)
    assert ended.status == 0, ended.err
    single, extra = ended.runs
    assert found_wrong(single, RELATIONS | UNCHANGED) == set()
    assert (ended_ok(single), ended_ok(extra)) == (77, 2)


def test_the_data_of_osdb_give_the_counts_of_its_logs(assay: Assay) -> None:
    ended = assay("run", "as3ap.osdb", "--on", "sqlite", *IN_MEMORY)
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert found_wrong(run, RELATIONS | UNCHANGED) == set()
    assert ended_ok(run) == 65


@pytest.mark.parametrize("system", of_each_kind(able_to_run("as3ap.ir,oltp"), turn=1))
def test_users_at_once_lose_nothing_and_the_cross_section_is_undone(
    assay: Assay, system: str
) -> None:
    """At 20,000 tuples there are two users, one of whom runs the cross section."""
    need(system)
    ended = assay(
        "run", "as3ap.ir,oltp", "--on", system, "--set", "tuples=20000", "--set", "warm_s=0",
        "--set", "measured_s=0.3", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    ir, oltp = ended.runs
    assert found_wrong(ir, RELATIONS | {"updates after 0"}) == set()
    assert found_wrong(oltp, CHECKS - {"07-updates"}) == set()
    for run in (ir, oltp):
        assert run.clients == 2
        assert ended_ok(run) > 0


@pytest.mark.parametrize(("system", "ways"), [("sqlite", ["dump", "cold"]), ("mariadb", ["dump"])])
def test_what_was_backed_up_is_recovered_after_updates(
    assay: Assay, system: str, ways: list[str]
) -> None:
    need(system)
    ended = assay(
        "run", "as3ap.recovery", "--on", system, "--set", f"way={','.join(ways)}",
        "--set", "measured_s=0.3", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    for run, way in zip(ended.runs, ways, strict=True):
        assert ended_ok(run) > 0
        assert found_wrong(run, RELATIONS) == set()
        made, restored = run.reports
        assert isinstance(made, MadeBackupReport) and isinstance(restored, RestoredBackupReport)
        assert (made.way, restored.way, restored.equals_source) == (way, way, True)
        assert min(made.size_bytes, made.took_ns, restored.took_ns) > 0


MISTAKES = (
    ("100 + 11) + 1 end", "100 + 11) end", "03-dense-keys"),
    ("100 + 33) / 10 + 1", "100 + 33) / 20 + 1", "06-tenpct"),
    ("100 + 13) + 0.5) / :tuples, 10, 1)", "100 + 13) + 0.5) / :tuples, 10, 2)", "07-updates"),
    ("10000000 * (:col_signed - 100)", "10000000 * random(0, 99)", "05-hundred"),
    ("when :col_key = :magic_key then", "when :col_key = 1 then", "08-magic"),
)
ANOTHER = ("% 10 = 0 then 'THE+ASAP+", "% 20 = 0 then 'THE+ASAP+", "06-tenpct")


@pytest.mark.parametrize("mistakes", [MISTAKES, (ANOTHER,)], ids=["one in each", "another"])
def test_a_wrong_distribution_is_found_after_the_load(
    assay: Assay, tmp_path: Path, mistakes: tuple[tuple[str, str, str], ...]
) -> None:
    """By the check that is for it, and by no other."""
    changes = [("workload.toml", right, wrong) for right, wrong, _ in mistakes]
    folder = changed_copy("as3ap", tmp_path, *changes)
    ended = assay("run", f"{folder}.extra", "--on", "sqlite", *IN_MEMORY)
    assert ended.status == 1
    checks = [check for _, _, check in mistakes]
    assert f"wrong after the load: {min(checks)}" in ended.err
    found = [one["id"] for one in ended.runs[0].checks if one["ok"] is False]
    assert sorted(found) == sorted(checks)


SIZE = "rows=10000"


def test_systems_answer_the_69_queries_alike(assay: Assay) -> None:
    """Systems of four dialects."""
    systems = "duckdb", "sqlite", "postgresql", "mariadb"
    for system in systems:
        need(system)
    ended = assay("run", "setquery", "--on", ",".join(systems), "--set", SIZE, *IN_MEMORY)
    assert ended.status == 0, ended.err
    last = {check["id"]: check["ok"] for check in ended.runs[-1].checks}
    assert len(last) == 69 + 9 and all(last.values()), last
    for run in ended.runs:
        assert run.driven is not None and run.driven.outcomes.ok == 69
        assert run.driven.headline_count == 69


@pytest.mark.parametrize(
    ("file", "right", "wrong", "found"),
    [
        ("workload.toml", 'k25 = "random(1, 25)"', 'k25 = "random(1, 12)"', "03-shares"),
        ("checks/04-q1.sql", "where k5 = 2", "where k5 = 3", "04-q1"),
        ("checks/09-q6.sql", "where k1k = 49", "where k1k = 48", "09-q6"),
    ],
)
def test_a_mistake_in_the_set_query_benchmark_is_found(
    assay: Assay, tmp_path: Path, file: str, right: str, wrong: str, found: str
) -> None:
    folder = changed_copy("setquery", tmp_path, (file, right, wrong))
    ended = assay("run", folder, "--on", "sqlite", "--set", SIZE, *IN_MEMORY)
    assert ended.status == 1, ended.err
    (run,) = ended.runs
    assert found in run.reason


WISCONSIN = Path(registry.__file__).parent / "workloads" / "wisconsin"
WISCONSIN_CHECKS = {path.stem for path in (WISCONSIN / "checks").iterdir()} | {"tenktup1 after 0"}


@pytest.mark.parametrize("system", of_each_kind(able_to_run("wisconsin.queries"), turn=0))
def test_every_query_has_its_tuples_and_nothing_is_changed(assay: Assay, system: str) -> None:
    need(system)
    ended = assay("run", "wisconsin", "--on", system, *IN_MEMORY)
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert {check["id"]: check["ok"] for check in run.checks} == dict.fromkeys(
        WISCONSIN_CHECKS, True
    )
    assert run.driven is not None and not run.driven.outcomes.lost, run.driven
    named = {one.name for one in run.driven.transactions}
    assert {f"q{number:02}" for number in range(1, 33)} < named


@pytest.mark.parametrize(
    ("file", "right", "wrong", "found"),
    [
        ("q12.sql", "< :tuples / 10", "<= :tuples / 10", "results"),
        ("q24.sql", "group by onepercent", "group by tenpercent", "q24"),
        ("undo_q{instance}.sql", "set unique2 = ", "set unique2 = -", "tenktup1 after 0"),
        ("workload.toml", "(:row, :tuples, 2)", "(:row, :tuples, 2) / 2", "02-keys"),
        ("workload.toml", "2 * :onepercent + 1", "2 * :onepercent", "03-derived"),
    ],
)
def test_a_mistake_in_the_wisconsin_benchmark_is_found(
    assay: Assay, tmp_path: Path, file: str, right: str, wrong: str, found: str
) -> None:
    folder = changed_copy("wisconsin", tmp_path, (file, right, wrong))
    ended = assay("run", folder, "--on", "sqlite", *IN_MEMORY)
    assert ended.status == 1, ended.err
    (run,) = ended.runs
    errors = [] if run.driven is None else [one.transaction for one in run.driven.errors]
    wrong_checks = [check["id"] for check in run.checks if check["ok"] is False]
    assert found in [*errors, *wrong_checks, *run.reason.split()]

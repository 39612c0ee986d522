"""The E831 tests on real systems: many clients leave the rows of one client, and differences are
found."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from able import able_to_run, beside_their_line, of_each_kind
from commands import IN_MEMORY, Assay, is_delayed, need
from smaller_workloads import changed_copy

LOSES = (
    ('insert into "data"', '\\if :client_id <> 3 or :record <> 7\ninsert into "data"'),
    ("0, 4095);", "0, 4095);\n\\endif"),
)
"""The fourth client ends the row of one name and adds no new one."""
ALL_SETS = ("disjoint", "statements", "transactions")
SYSTEMS_OF = {one: able_to_run("e831.reliability", f"sets={one}") for one in ALL_SETS}
NOT_RUN = dict.fromkeys(beside_their_line(SYSTEMS_OF["disjoint"]), pytest.mark.same_line)
NOT_RUN["cassandra"] = pytest.mark.skip(reason="its sets take longer than five minutes")


@pytest.mark.parametrize(
    ("system", "sets"),
    [
        pytest.param(
            system,
            tuple(one for one in ALL_SETS if system in SYSTEMS_OF[one]),
            marks=[NOT_RUN[system]] if system in NOT_RUN else [],
        )
        for system in SYSTEMS_OF["disjoint"]
    ],
)
def test_concurrent_sets_leave_the_rows_of_a_single_client(
    assay: Assay, system: str, sets: tuple[str, ...]
) -> None:
    """With ``sets`` that the system has."""
    need(system)
    for _ in range(6):
        ended = assay(
            "run", "e831.reliability", "--on", system, "--set", "updates=60", "--set",
            f"sets={','.join(ALL_SETS)}", "--set", "records=400", "--clients", "6",
            *IN_MEMORY,
        )  # fmt: skip
        if not is_delayed(ended):
            break
    assert ended.status == 0, ended.err
    done = [run for run in ended.runs if run.state != "refused"]
    assert sorted(str(run.parameters["sets"]) for run in done) == list(sets)
    for run in done:
        found = run.driven
        assert found is not None and found.reference is not None
        assert found.outcomes.ok == 6 * 60
        reference = found.reference
        assert (reference.equal_dumps or 0) + (reference.overtaken or 0) == 6
        assert reference.overtaken == 0 or run.parameters["sets"] != "disjoint"
        assert (reference.least_at_once or 0) >= 3
        assert found.rules == {"unexpired": 0, "unmatched": 0}
        sets = [check for check in run.checks if check["id"].startswith("set ")]
        assert [check["found"] for check in sets] == [120] * 6


def test_a_lost_row_of_one_client_is_found(assay: Assay, tmp_path: Path) -> None:
    folder = changed_copy("e831", tmp_path, *(("set.sql", *change) for change in LOSES))
    ended = assay(
        "run", f"{folder}.reliability", "--on", "sqlite", "--set", "updates=20", "--clients", "4",
        *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 1
    (run,) = ended.runs
    assert run.state == "failed"
    wrong = {check["id"]: check for check in run.checks if check["ok"] is False}
    assert "set 3" in wrong
    assert ", expected (" in wrong["set 3"]["note"]
    assert "unexpired" in wrong
    assert wrong["set 3"]["differing_rows"]["missing"][0][0].rstrip() == "X:0007"
    report = assay("report").out
    assert re.search(r"set 3 +missing +\(X:0007, 1000003000, ", report)
    with closing(sqlite3.connect(tmp_path / "assay-records.sqlite")) as record:
        difference, cells = record.execute(
            "SELECT difference, cells FROM differing_rows WHERE check_id = 'set 3'"
        ).fetchone()
    assert difference == "missing"
    assert json.loads(cells)[:2] == ["X:0007", "1000003000"]


def test_a_session_costs_something_on_a_server(assay: Assay) -> None:
    need("postgresql")
    ended = assay("run", "e831.connect", "--on", "postgresql", "--transactions", "20", *IN_MEMORY)
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.driven is not None and run.driven.connect is not None
    times = run.driven.connect
    assert times.connect_ns == times.inside_ns - times.outside_ns > 0


@pytest.mark.parametrize("system", of_each_kind(able_to_run("e831.contention"), turn=0))
def test_at_full_speed_the_history_of_each_name_is_a_chain(assay: Assay, system: str) -> None:
    need(system)
    ended = assay(
        "run", "e831.contention", "--on", system, "--set", "updates=20", "--clients", "3,8",
        *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert sorted((run.parameters["sets"], run.clients) for run in ended.runs) == [
        (sets, clients) for sets in ("disjoint", "transactions") for clients in (3, 8)
    ]
    for run in ended.runs:
        assert run.driven is not None
        assert run.driven.outcomes.ok == run.clients * 20
        assert run.driven.rules == {"unexpired": 0, "unmatched": 0, "updates": 0}


@pytest.mark.parametrize(
    ("test", "status", "state"), [("contention", 1, "failed"), ("contention-statements", 0, "done")]
)
def test_a_row_lost_at_full_speed_fails_the_run_or_is_counted(
    assay: Assay, tmp_path: Path, test: str, status: int, state: str
) -> None:
    """The fourth client ends the row of one name and adds no new one."""
    scripts = ("contend.sql", "contend-statements.sql")
    changes = [(script, *change) for script in scripts for change in LOSES]
    folder = changed_copy("e831", tmp_path, *changes)
    sets = ("--set", "sets=transactions") if test == "contention" else ()
    ended = assay(
        "run", f"{folder}.{test}", "--on", "sqlite", "--set", "updates=20", "--clients", "4",
        *sets, *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == status, ended.err
    (run,) = ended.runs
    assert run.state == state
    assert run.driven is not None
    assert (run.driven.rules["unmatched"] or 0) >= 1
    assert run.driven.rules["updates"] == 1

"""Runs execute the steps of their test, on the null system and on an embedded one; clocks are
calibrated before."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import invented_records as invented
from assay import _engine
from assay.contracts.events import Event, StageBegun
from assay.errors import ScriptError
from assay.experiment.from_command_line import Words, experiment
from assay.judge import judge_run
from assay.lab import calibration, lab
from assay.record import CalibrationRecord, Run, Store
from assay.report import cell_runs
from assay.report.build import build
from step_workloads import folder_of, ran

pytestmark = pytest.mark.slow
PLAIN = 'scripts = ["read.sql"]\ntransactions = 5\nclients = [2]\n'


def steps(text: str) -> str:
    """``"load; ddl script=index"`` as TOML."""
    found = ""
    for one in text.split(";"):
        do, *keys = one.split()
        found += f'[[tests.t.steps]]\ndo = "{do}"\n'
        for key in keys:
            name, _, value = key.partition("=")
            found += f"{name} = {value}\n"
    return found


def test_each_step_is_on_record_in_its_order(tmp_path: Path) -> None:
    declared = steps(
        'load; drive name="cold"; wait duration_s=0.01; ddl script="index.sql"; restart; '
        'drive name="warm" transactions=7'
    )
    (run,) = ran(folder_of(tmp_path, PLAIN + declared), "sqlite").runs
    assert (run.state, run.reason) == ("done", "")
    assert [(one.do, one.name, one.state) for one in run.steps] == [
        ("load", "", "done"), ("drive", "cold", "done"), ("wait", "", "done"), ("ddl", "", "done"),
        ("restart", "", "done"), ("drive", "warm", "done"),
    ]  # fmt: skip
    measured = [one.driven.outcomes.ok for one in run.steps if one.driven]
    assert measured == [2 * 5, 2 * 7]
    assert run.driven is not None
    assert run.driven.outcomes.ok == 14, "the last step that drove is the run's"


def test_a_check_that_is_no_statement_is_named_with_its_file_and_line(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, PLAIN)
    (folder / "checks").mkdir()
    text = "SELECT id FROM data WHERE id < 0;\n\n  SELECT absent FROM data WHERE id < 0;\n"
    (folder / "checks" / "late.sql").write_text(text)
    (run,) = ran(folder, "sqlite").runs
    assert run.state == "failed"
    assert "checks/late.sql:3:3: SELECT absent FROM data" in run.reason
    assert "no such column" in run.reason


def test_statistics_are_brought_up_to_date(tmp_path: Path) -> None:
    declared = steps('load; ddl script="forget.sql"; analyze; drive')
    folder = folder_of(
        tmp_path,
        'scripts = ["known.sql"]\ntransactions = 1\n' + declared,
        forget="DELETE FROM sqlite_stat1;\n",
        known="SELECT 1 FROM sqlite_stat1 WHERE tbl = 'data';\n\\expect rows 1\n",
    )
    (run, refused) = ran(folder, "sqlite", "null").runs
    assert (run.state, run.reason) == ("done", "")
    assert [one.do for one in run.steps] == ["load", "ddl", "analyze", "drive"]
    assert refused.state == "refused"
    assert refused.reason == "null has no statement that brings statistics up to date"


def test_the_space_of_deleted_rows_is_given_back(tmp_path: Path) -> None:
    free = "SELECT 1 FROM pragma_freelist_count WHERE freelist_count > 0;\n\\expect rows"
    declared = steps(
        'load; ddl script="grow.sql"; drive name="before" scripts=["free.sql"]; vacuum; '
        'drive name="after" scripts=["none.sql"]'
    )
    folder = folder_of(
        tmp_path,
        "transactions = 1\n" + declared,
        grow="INSERT INTO data WITH RECURSIVE n(i) AS (SELECT 11 UNION ALL SELECT i + 1 FROM n "
        "WHERE i < 20000) SELECT i, i FROM n;\nDELETE FROM data WHERE id > 10;\n",
        free=f"{free} 1\n",
        none=f"{free} 0\n",
    )
    (run, refused) = ran(folder, "sqlite", "duckdb").runs
    assert (run.state, run.reason) == ("done", "")
    assert refused.reason == ("duckdb has no statement that gives the space of deleted rows back")


def test_a_restart_may_remove_the_files_from_the_page_cache(tmp_path: Path) -> None:
    for keys, is_dropped in (("", False), ("drop_page_cache=true", True)):
        declared = steps(f"load; restart {keys}; drive")
        folder = folder_of(tmp_path / f"t{is_dropped}", PLAIN + declared)
        (run,) = ran(folder, "sqlite").runs
        assert run.deployment is not None
        assert (run.deployment.page_cache_kept_bytes is not None) == is_dropped


def test_objects_of_a_ddl_step_are_gone_for_the_next_run(tmp_path: Path) -> None:
    declared = steps('load; ddl script="index.sql"; drive')
    runs = ran(folder_of(tmp_path, PLAIN + declared), "sqlite", repetitions=2).runs
    assert [(run.state, run.reason) for run in runs] == [("done", "")] * 2


READ_AND_WRITE = (
    'scripts = ["read.sql"]\ntransactions = 5\nchanges_data = false\n'
    '[tests.write]\ntitle = "W"\nhelp = "Writes"\nscripts = ["write.sql"]\ntransactions = 5\n{}'
    '[tests.again]\ntitle = "A"\nhelp = "Reads"\nscripts = ["read.sql"]\ntransactions = 5\n'
    "changes_data = false\n"
)


@pytest.mark.parametrize(("needs", "expected"), [("", 1), ('needs = ["exact decimals"]\n', 0)])
def test_data_are_copied_unless_the_run_that_changes_them_is_refused(
    tmp_path: Path, needs: str, expected: int
) -> None:
    names = []

    def hear(event: Event) -> None:
        if isinstance(event, StageBegun):
            names.append(event.name)

    folder = folder_of(tmp_path, READ_AND_WRITE.format(needs))
    asked, _ = experiment(Words(f"{folder}.t,write,again", on=("sqlite",)))
    lab.run(asked, records=tmp_path / "r.sqlite", sinks=[hear])
    assert names.count("copy the data") == expected


def test_a_ddl_step_that_is_refused_ends_the_run(tmp_path: Path) -> None:
    declared = steps('load; ddl script="bad.sql"; drive')
    (run,) = ran(
        folder_of(tmp_path, PLAIN + declared, bad="CREATE TABLE data (a int);"), "sqlite"
    ).runs
    assert (run.state, [one.state for one in run.steps]) == ("failed", ["done", "failed"])
    assert "data" in run.reason


def test_dumps_are_compared_row_by_row(tmp_path: Path) -> None:
    declared = (
        "changes_data = true\n"
        + PLAIN
        + steps(
            'load; dump name="before" script="all.sql"; drive; dump name="after" script="all.sql"; '
            'compare expected="before" found="after"'
        )
    )
    (same,) = ran(folder_of(tmp_path / "a", declared), "sqlite").runs
    assert (same.state, [check["ok"] for check in same.checks][-1]) == ("done", True)
    writes = declared.replace("read.sql", "write.sql")
    (other,) = ran(folder_of(tmp_path / "b", writes), "sqlite").runs
    assert other.state == "failed"
    assert other.reason.startswith("wrong answers: after 0 returned 10 rows (row ")
    assert "expected (" in other.reason


def test_a_run_without_clients_fails_where_its_dumps_differ(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    declared = steps(
        'load; dump name="before" script="all.sql"; ddl script="gone.sql"; '
        'dump name="after" script="all.sql"; compare expected="before" found="after"'
    )
    (run,) = ran(folder_of(tmp_path / "w", declared, gone="DELETE FROM data;"), "sqlite").runs
    assert (run.state, run.steps[-1].state) == ("failed", "failed")
    assert run.reason.startswith("wrong answers: after 0 returned 0 rows")


def test_a_run_whose_system_lacks_what_it_needs_is_refused(tmp_path: Path) -> None:
    declared = PLAIN + steps("load; drive; restart")
    refused, done = ran(folder_of(tmp_path, declared), "null,sqlite").runs
    assert (refused.state, done.state) == ("refused", "done")
    assert refused.reason.startswith("null does not support restart")
    assert refused.steps == ()


def test_scripts_are_compiled_once_for_all_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: Counter[str] = Counter()

    def counted(name: str) -> Any:
        real = getattr(_engine, name)

        def call(*given: Any) -> Any:
            calls[name] += 1
            return real(*given)

        return call

    for name in ("script_warnings", "statements", "explain"):
        monkeypatch.setattr(_engine, name, counted(name))
    runs = ran(folder_of(tmp_path, PLAIN), "null", repetitions=6).runs
    assert [run.state for run in runs] == ["done"] * 6
    assert calls == {"script_warnings": 1, "statements": 1}


def test_changes_data_false_is_enforced(tmp_path: Path) -> None:
    writes = PLAIN.replace("read", "sly") + "changes_data = false\n"
    sly = "SELECT 1;\nDELETE FROM data WHERE id = 1;\n"
    runs = ran(folder_of(tmp_path, writes, sly=sly), "sqlite", repetitions=2).runs
    assert [run.state for run in runs] == ["failed"] * 2
    assert "changes_data = false" in runs[0].reason


GROUPS = """\
changes_data = true

[[tests.t.steps]]
do = "load"

[[tests.t.steps]]
do = "drive"
duration_s = 0.5

[[tests.t.steps.groups]]
name = "readers"
scripts = ["read.sql"]
clients = "readers"
think_time = "constant:1ms"

[[tests.t.steps.groups]]
name = "writers"
scripts = ["write.sql"]
clients = 2
offered_rate_per_s = 40
"""


def test_groups_work_at_once_and_each_has_its_results(tmp_path: Path) -> None:
    (run,) = ran(folder_of(tmp_path, GROUPS), "sqlite", storage=("tmpfs",)).runs
    assert (run.state, run.reason, run.clients) == ("done", "", 5)
    found = run.driven
    assert found is not None
    readers, writers = found.groups
    assert (readers.name, readers.clients) == ("readers", 3)
    assert (writers.name, writers.clients) == ("writers", 2)
    assert writers.outcomes.scheduled == 20, "40 a second in half a second"
    assert readers.outcomes.ok > 0
    assert found.outcomes.ok == readers.outcomes.ok + writers.outcomes.ok


def test_counts_of_groups_make_different_cells(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, GROUPS.replace('clients = "readers"', "clients = 3"))
    found = ran(folder, "null", clients="readers=3,4,writers=2,1")
    names = [one.name for one in cell_runs.cells(found, found.runs)]
    assert names[0] == "null, here, 5 clients, readers as declared, writers as declared"
    assert names[1] == "null, here, 4 clients, readers 3, writers 1"
    assert found.runs[1].driven is not None
    assert [group.clients for group in found.runs[1].driven.groups] == [3, 1]


def test_a_script_of_a_step_that_does_not_compile_is_reported_before_anything_is_started(
    tmp_path: Path,
) -> None:
    declared = PLAIN + steps('load; drive; ddl script="bad.sql"')
    folder = folder_of(tmp_path, declared, bad="\\sett a 1\n")
    with pytest.raises(ScriptError, match=r"bad\.sql:1"):
        ran(folder, "null")
    assert not (folder / "records.sqlite").exists()


INTEGRITY = """\
INSERT INTO data VALUES (1, 0);
\\expect error constraint
SELECT value FROM data WHERE id = 1;
\\expect rows 1
"""


def test_a_statement_that_must_be_refused_is_no_failure(tmp_path: Path) -> None:
    declared = "changes_data = true\n" + PLAIN.replace("read", "twice")
    (run,) = ran(folder_of(tmp_path, declared, twice=INTEGRITY), "sqlite").runs
    assert (run.state, run.reason) == ("done", "")
    accepted = INTEGRITY.replace("(1, 0)", "(11, 0)")
    (run,) = ran(folder_of(tmp_path / "b", declared, twice=accepted), "sqlite").runs
    assert run.state == "failed"


CEILING = CalibrationRecord(
    driver="postgresql",
    clients=8,
    threads=2,
    begun_unix_ns=1,
    statements=300_000,
    elapsed_ns=3 * invented.S,
    statements_per_s=100_000.0,
    client_ns_per_statement=4000.0,
    p50_ns=80_000,
    p99_ns=200_000,
    observation={"statements": 300_000},
)


def run_with(
    folder: Path, *ceilings: CalibrationRecord, machine: Any = invented.MACHINE, **observed: Any
) -> Run:
    """A run of 8 clients in a record that holds these calibrations."""
    file = folder / "r.sqlite"
    with Store(file) as store:
        for ceiling in ceilings:
            store.calibrated(ceiling, machine, invented.BUILD)
    planned = invented.plan([invented.POSTGRESQL])
    dataset = {"size_on_disk_bytes": 10**14}
    run = invented.experiment(file, planned, 10.0, dataset=dataset).runs[0]
    return invented.changed(run, "observation", **observed)


def test_the_calibration_with_the_nearest_client_count_is_used_and_of_these_the_newest(
    tmp_path: Path,
) -> None:
    """None of another driver or machine is."""
    far = replace(CEILING, clients=32, statements_per_s=1.0)
    old = replace(CEILING, clients=7, statements_per_s=2.0)
    new = replace(CEILING, clients=7, statements_per_s=3.0)
    other = {**invented.MACHINE, "processors": 9}
    mysql = replace(CEILING, driver="mysql")
    for name, ceilings, machine, rate in (
        ("a", (far, old, new), invented.MACHINE, 3.0),
        ("b", (mysql,), invented.MACHINE, None),
        ("c", (CEILING,), other, None),
    ):
        (tmp_path / name).mkdir()
        found = run_with(tmp_path / name, *ceilings, machine=machine).calibration
        assert (found and found.statements_per_s) == rate


@pytest.mark.parametrize(
    ("statements", "expected"), [(690_000, []), (710_000, ["near-the-client-ceiling"])]
)
def test_a_run_above_70_percent_of_the_ceiling_is_warned_of(
    statements: int, expected: list[str], tmp_path: Path
) -> None:
    run = run_with(tmp_path, CEILING, statements=statements)
    verdict, warnings = judge_run(run)
    assert [warning.name for warning in warnings] == expected
    assert verdict.word == ("unreliable" if expected else "valid")
    if expected:
        assert "71 % of 100000 at 8 clients" in warnings[0].detail


def test_the_details_say_that_a_machine_was_not_calibrated_and_what_the_client_used(
    tmp_path: Path,
) -> None:
    run = run_with(tmp_path, statements=690_000)
    assert run.driven is not None
    elapsed_ns, cost = run.driven.elapsed_ns, run.driven.document["client_cost"]
    one_of_eight = {**cost, "user_ns": elapsed_ns // 2, "system_ns": elapsed_ns // 2}
    run = invented.changed(run, "observation", client_cost=one_of_eight)
    _, warnings = judge_run(run)
    assert warnings == []
    with Store(tmp_path / "r.sqlite") as store:
        experiment = replace(store.latest(), runs=(run,))
    tables = [table for section in build(experiment).sections for table in section.tables]
    (headroom,) = [table for table in tables if table.name == "headroom"]
    *_, ceiling, share, of_processors = headroom.rows[0].cells
    assert [ceiling.shown, share.shown] == ["not calibrated"] * 2
    assert of_processors.shown == "12 %"
    assert "assay measure client" in headroom.notes[0]


@pytest.mark.usefixtures("_own_places")
@pytest.mark.parametrize("protocol", calibration.protocols())
def test_a_calibration_is_measured_and_kept(protocol: str, tmp_path: Path) -> None:
    measured = calibration.calibrate(protocol, 4, threads=1, duration_s=0.3)
    assert (measured.driver, measured.clients) == (
        "null" if protocol == calibration.IN_PROCESS else protocol,
        4,
    )
    assert measured.statements > 0 and 0 < measured.p50_ns <= measured.p99_ns
    assert measured.client_ns_per_statement > 0
    with Store(tmp_path / "r.sqlite") as store:
        store.calibrated(measured, invented.MACHINE, invented.BUILD)
        assert json.dumps(dict(measured.observation))

"""The first look at the end of a run: few lines, in every case, none wider than the terminal.

Long because each part of it, and what it leaves out for lack of room, has an invented experiment
of its own.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import invented_records as invented
import observations
from assay.cli.program import run_program
from assay.contracts.storage_facts import StorageFacts
from assay.experiment import Driving
from assay.judge import judge_run
from assay.judge.result_checks import why_failed
from assay.judge.verdict import of_run
from assay.judge.warning_kinds import WarningKind
from assay.record import ExperimentRecord, Store
from assay.report import cell_runs
from assay.report.build import build
from assay.report.summaries import cell_summary, first_look, several_cells
from assay.text.phrases import reason_with_log
from shown_report import kept_record

OWN = StorageFacts("here", "loop", "/data", "ext4", "/dev/loop3", is_own_device=True)


def look(experiment: ExperimentRecord, width: int = 80) -> list[str]:
    return first_look.lines(experiment, build(experiment, is_brief=True), width, "assay report 1")


def one_run(path: Path, **changes: Any) -> list[str]:
    planned = invented.plan([invented.POSTGRESQL])
    return look(invented.experiment(path / "r.sqlite", planned, 2.0, **changes))


def beginning(lines: list[str], name: str) -> str:
    (found,) = [line for line in lines if line.startswith(f"{name} ")]
    return found.removeprefix(name).strip()


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kept_record(tmp_path_factory.mktemp("records") / "r.sqlite")


@pytest.mark.parametrize("number", range(1, 14))
def test_any_number_of_cells_takes_few_lines(number: int, kept: Path) -> None:
    with Store(kept, must_exist=True) as store:
        experiment = store.experiment(number)
    report = build(experiment)
    for width in (60, 80, 200):
        lines = first_look.lines(experiment, report, width, "assay report 1")
        assert len(lines) <= first_look.MOST_WITH_QUOTED, "\n".join(lines)
        assert max(map(len, lines)) <= width
        assert beginning(lines, "verdict")
        assert lines[-1].endswith("assay report 1") or "experiment" in " ".join(lines[-3:])


def test_of_twelve_cells_failed_ones_are_shown_first_and_refused_ones_are_counted(
    tmp_path: Path,
) -> None:
    planned = invented.plan([invented.SQLITE], clients=range(1, 13))
    with invented.at_once(tmp_path / "r.sqlite") as store:
        invented.begin(store, planned)
        for run in planned.runs[:2]:
            store.begin_run(run)
            store.end_run("refused", reason="no restart; use a private server")
        for run in planned.runs[2:-1]:
            invented.write_run(store, run, 2 * invented.S)
        store.begin_run(planned.runs[-1])
        store.end_run("failed", reason="it broke", verdict=("invalid", "it broke"))
        record = store.latest()
    lines = look(record)
    said = "\n".join(lines)
    assert len(lines) == first_look.MOST_WITH_ANSWERS, said
    cells = [line for line in lines if re.match(" {1,7}[0-9]+ ", line)]
    assert f"\nand {10 - len(cells)} more cells, in the details\n" in said
    assert cells[0].startswith("      3 ")
    assert cells[-1].split() == ["12", "-", "-", "-", "-", "invalid"]
    assert "2 refused: no restart; use a private server" in " ".join(said.split())
    sign = next(line for line in lines if line.startswith("n<"))
    assert sign.endswith("too few transactions for the percentile; -: not measured")
    (table,) = build(record).summary.tables
    assert table.title == "Each cell: here"
    assert [[cell.shown for cell in row.cells[:2]] for row in table.rows[-2:]] == [
        ["sqlite", "12"],
        ["sqlite", "2 cells"],
    ]


def test_cells_that_a_sentence_compares_are_shown_before_others(tmp_path: Path) -> None:
    planned = invented.plan(
        [invented.SQLITE, invented.POSTGRESQL], clients=range(1, 13), repetitions=3
    )
    seconds = {
        (system, "here", clients): (slow, slow * 1.01, slow * 1.02)
        for system, slow in (("sqlite", 2.0), ("postgresql", 1.0))
        for clients in range(1, 13)
    }
    record = invented.experiment(tmp_path / "r.sqlite", planned, seconds)
    for width in (70, 80):
        lines = look(record, width)
        assert len(lines) <= first_look.MOST_WITH_QUOTED
        said = " ".join(" ".join(lines).split())
        cells = {one[0] for one in re.finditer(r"(sqlite|postgresql) +\d+(?= )", "\n".join(lines))}
        assert "as fast as sqlite at 12 clients; likewise in 11 of 11" in said
        assert "at 12 clients is 12 times (12 to 12) that at 1 client on sqlite" in said
        assert len(cells) < 24
        named = {" ".join(cell.split()) for cell in cells}
        assert named >= {"sqlite 1", "sqlite 12", "postgresql 12"}


def test_a_sentence_for_whose_cells_there_is_no_room_is_left_out_and_counted(
    tmp_path: Path,
) -> None:
    planned = invented.plan(
        [invented.SQLITE, invented.POSTGRESQL], clients=range(1, 13), repetitions=3
    )
    lines = look(invented.experiment(tmp_path / "r.sqlite", planned, 2.0), 50)
    assert len(lines) <= first_look.MOST_WITH_QUOTED
    assert not any(line.startswith("clients  ") and "throughput" in line for line in lines)
    assert "and          1 more question, in the details" in lines


def test_a_reason_that_not_all_cells_have_names_its_cell(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL], clients=(1, 8), repetitions=3)
    seconds = {
        ("postgresql", "here", 1): [1.0, 1.0, 2.0],
        ("postgresql", "here", 8): [1.0, 1.0, 4.0],
    }
    experiment = invented.experiment(tmp_path / "r.sqlite", planned, seconds)
    assert "repetitions differ by 50 % (postgresql, here, 1 client)" in " ".join(
        " ".join(look(experiment, 120)).split()
    )
    runs = (invented.of_cell(run, test=f"of-{run.clients}") for run in experiment.runs)
    of_two_tests = structs.replace(experiment, runs=tuple(runs))
    assert re.search(
        r"repetitions differ by 50 % \(\S+of-1: postgresql, here, 1 client\)",
        " ".join(" ".join(look(of_two_tests, 120)).split()),
    )


def test_an_unknown_outcome_is_not_called_failed(tmp_path: Path) -> None:
    outcomes = {"scheduled": 16, "ok": 12, "aborted": 0, "failed": 1, "unknown": 3, "skipped": 0}
    planned = invented.plan([invented.SQLITE], repetitions=2)
    experiment = invented.experiment(
        tmp_path / "r.sqlite", planned, 1.0, observation={"outcomes": outcomes}
    )
    (cell,) = cell_runs.cells(experiment, experiment.runs)
    table = several_cells.cell_table_lines(
        [cell_summary.of_cell(experiment, cell)], 100, is_narrow=True
    )
    shown = dict(zip(table[-2].split(), table[-1].split()[-len(table[-2].split()) :], strict=True))
    assert (shown["failed"], shown["unknown"]) == ("2", "6")
    verdict = of_run(experiment.runs[0]).reason
    assert verdict == "1 of 16 transactions failed, 3 unknown (together 25 %)"
    counts, errors = observations.outcomes(ok=380, unknown=20), [observations.error(count=20)]
    found = observations.observation(outcomes=counts, errors=errors)
    assert why_failed(found, [], None) == "the outcome of 20 transactions is unknown: other: m"


def test_the_last_interval_says_how_much_of_a_second_it_is(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE])
    rows = build(invented.experiment(tmp_path / "r.sqlite", planned, 2.25)).tidy["tables"]
    assert [row["length_s"] for row in rows["intervals"]] == [1.0, 1.0, 0.25]


def test_the_log_of_a_server_that_ended_is_a_detail_of_the_report(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL])
    reason = reason_with_log("postgresql (postgres) was ended by SIGKILL", "LOG:  one\nFATAL:  two")
    with invented.at_once(tmp_path / "r.sqlite") as store:
        invented.begin(store, planned)
        store.begin_run(planned.runs[0])
        verdict, _ = judge_run(store.run_so_far("failed", reason))
        store.end_run("failed", reason=reason, verdict=(verdict.word, verdict.reason))
        lines = look(store.latest())
        report = build(store.latest())
    assert beginning(lines, "verdict") == "invalid: postgresql (postgres) was ended by SIGKILL"
    (logs,) = [one for one in report.sections if one.title == "Logs of servers that ended"]
    shown = [row.cells[1].shown for row in logs.tables[0].rows]
    assert shown == ["LOG:  one", "FATAL:  two"]
    first, *_ = report.sections
    assert "two" not in str(first), "nor in the notes below the results"


def test_of_many_cells_every_refusal_is_shown_and_reasons_are_whole(tmp_path: Path) -> None:
    """A reason may hold semicolons of its own, and ends with the fix."""
    planned = invented.plan([invented.SQLITE, invented.POSTGRESQL, invented.MARIADB])
    broken = "after the load, a returned 1 row (expected none; the first: 2 = 2); see checks/a.sql"
    with invented.at_once(tmp_path / "r.sqlite") as store:
        invented.begin(store, planned)
        store.begin_run(planned.runs[0])
        store.end_run("refused", reason="no restart; use a private server")
        for run in planned.runs[1:]:
            store.begin_run(run)
            store.end_run("failed", reason=broken, verdict=("invalid", broken))
        lines = look(store.latest())
    (place,) = [place for place, line in enumerate(lines) if line.startswith("verdict ")]
    said = " ".join(line.strip() for line in lines[place:])
    assert "1 refused: no restart; use a private server; 2 invalid: " + broken in said
    assert said.count("see checks/a.sql") == 1


def test_cells_that_differ_in_their_clients_stay_apart_and_are_whole_in_a_file(
    tmp_path: Path,
) -> None:
    system = replace(invented.POSTGRESQL, settings={"shared_buffers": "1GB", "work_mem": "4MB"})
    planned = invented.plan([system], clients=(1, 1000))
    experiment = invented.experiment(tmp_path / "r.sqlite", planned, 2.0)
    lines = look(experiment, 60)
    title = next(line for line in lines if line.startswith("bibsql.parallel"))
    assert title.startswith("bibsql.parallel: postgresql shared_buffers=1GB")
    heading, one, many = lines[lines.index(title) + 1 :][:3]
    assert heading.split()[0] == "clients"
    assert (one.split()[0], many.split()[0]) == ("1", "1000")
    report = build(experiment)
    lines = first_look.lines(experiment, report, 80, "assay report 1", is_narrow=False)
    assert f"bibsql.parallel: {system.label}, here" in lines


def test_a_run_without_transactions_is_counted_beside_the_errors_of_others(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE, invented.POSTGRESQL])
    with invented.at_once(tmp_path / "r.sqlite") as store:
        invented.begin(store, planned)
        invented.write_run(store, planned.runs[0], 2 * invented.S)
        store.begin_run(planned.runs[1])
        store.end_run("failed", reason="syntax error", verdict=("invalid", "syntax error"))
        lines = look(store.latest())
    assert beginning(lines, "errors") == (
        "no transaction failed; postgresql: 1 run failed before the first"
    )


def test_a_test_without_transactions_has_its_numbers_beside_others(tmp_path: Path) -> None:
    record = invented.experiment(
        tmp_path / "records.sqlite", invented.plan([invented.SQLITE], clients=(1, 8)), 2.0
    )
    limit = {
        "kind": "limit",
        "upto": 256,
        "default": {"limit": 100, "opened": 97, "refused_at": 98, "error": None},
        "raised": {"limit": 1000, "opened": 256, "refused_at": None, "error": None},
    }
    declared = {"title": "Limit", "fields": [{"key": "default.limit", "title": "default limit"}]}
    first, second = record.runs
    both = (
        first,
        structs.replace(
            invented.of_cell(second, test="limit"), observation=invented.observed(limit)
        ),
    )
    workload = structs.replace(record.workload, report={"limit": declared})
    record = structs.replace(record, workload=workload, runs=both)
    lines = look(record)
    assert any("limit: sqlite" in line and "default limit 100" in line for line in lines)
    assert not any(line.startswith("-  ") for line in lines), "it was measured"
    driven, measured = build(record).summary.tables
    assert [column.title for column in driven.columns][2] == "TPS"
    assert measured.rows[0].cells[2].shown == "default limit 100"


def test_a_warning_of_less_work_than_was_asked_for_stands_first_with_its_cause(
    tmp_path: Path,
) -> None:
    names = ("other-programs", "short-measurement", "generator-lost")
    lines = one_run(tmp_path, warnings=[(name, "detail") for name in names])
    warning = next(line for line in lines if line.startswith("warning "))
    assert "generator-lost: a load generator was lost" in warning


def test_a_warning_says_what_its_fix_speaks_of(tmp_path: Path) -> None:
    """Where there is no room for cause and detail, the detail is shown."""
    detail = "postgresql fsync=off: fsync = off; durable: its default; measured D1"
    warnings = [("durability-lowered", detail), ("short-measurement", "2 s"), ("errors", "2")]
    planned = invented.plan([invented.POSTGRESQL])
    experiment = invented.experiment(tmp_path / "r.sqlite", planned, 2.0, warnings=warnings)
    shown = " ".join(" ".join(look(experiment, 60)).split())
    assert f"warning durability-lowered: {detail} fix: give each setting the value that" in shown


def test_a_number_and_its_unit_stand_in_one_line(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL], clients=[400])
    experiment = invented.experiment(tmp_path / "r.sqlite", planned, 2.0)
    report = build(experiment)
    for width in range(40, 90):
        lines = first_look.lines(experiment, report, width, "assay report 1")
        assert not any(re.match(r" +(ms|s|µs)\b", line) for line in lines), "\n".join(lines)
        assert "\u00a0" not in "".join(lines)


@pytest.mark.parametrize("folder", ["r", "a-folder-with-a-long-name/" * 5 + "r"])
@pytest.mark.parametrize(
    "end", [("done", ""), ("failed", "long " * 60), ("interrupted", "long " * 60)]
)
def test_no_case_takes_more_than_15_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: tuple[str, str], folder: str
) -> None:
    open_loop = Driving(duration_s=2.0, arrival="constant", offered_rate_per_s=8.0)
    planned = invented.plan([invented.POSTGRESQL], driving=[open_loop])
    plain = invented.observation(planned.runs[0].cell, 2 * invented.S)
    group = {key: plain[key] for key in ("outcomes", "transactions")}
    error = {"class": "timeout", "code": "57014", "message": "long " * 60, "count": 2,
             "transaction": "S01", "first_at_ns": 5}  # fmt: skip
    wrong = invented.checks({"S01": 155})
    monkeypatch.chdir(tmp_path)
    path = Path(folder) / "r.sqlite"
    path.parent.mkdir(parents=True, exist_ok=True)
    experiment = invented.experiment(
        path,
        planned,
        2.0,
        observation={
            "groups": [{"name": f"group-{n}", **group} for n in range(7)], "errors": [error],
            "device_cost": {**device(13, 1.9), "flushes": 16},
        },
        end=end,
        checks=[{**one, "id": f"S{n:02}"} for n in range(40) for one in wrong],
        warnings=[(one.id, "detail " * 30) for one in WarningKind],
    )  # fmt: skip
    more = f"assay report 1 --records {path}"
    report = build(experiment)
    measured = () if end[0] == "interrupted" else ("throughput", "  group-1", "device")
    for width in (60, 80, 200):
        lines = first_look.lines(experiment, report, width, more)
        assert len(lines) <= first_look.MOST_WITH_ANSWERS, "\n".join(lines)
        for name in ("verdict", "errors", "checks", *measured):
            assert any(one.startswith(name) for one in lines), name
        assert "".join("".join(lines).split()).endswith("".join(more.split()))


def test_a_run_ends_with_it_and_detail_shows_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one.sql").write_text("select 1;\n")
    words = ["run", "one.sql", "--on", "null", "--transactions", "50"]
    assert run_program(words) == 0
    brief, progress = capsys.readouterr()
    assert "one.sql, null, here, 1 client\n  start null\n  drive one.sql\n" in progress
    assert len(brief.splitlines()) <= first_look.MOST_LINES
    assert brief.startswith("one.sql: null, here, 1 client\n")
    assert "details: assay report 1" in brief
    assert run_program([*words, "--detail"]) == 0
    full = capsys.readouterr().out
    assert "Transaction outcomes" in full
    assert "\nScript one.sql\n" in full
    assert run_program(["list", "runs", "--format", "csv"]) == 0
    listed = capsys.readouterr().out
    assert ",one.sql,null," in listed
    assert [line.split(",")[1] for line in listed.splitlines()] == ["experiment", "1", "2"]
    assert run_program(["report", "run:latest"]) == 0
    shown = capsys.readouterr().out
    first, title, *_ = shown.splitlines()
    assert first.startswith("run 2 of experiment 2, repetition 1: done, began 2")
    assert title == "one.sql: null, here, 1 client"
    assert len(shown.splitlines()) <= first_look.MOST_LINES
    assert "details: assay report run:2 --detail" in " ".join(shown.split())
    for word, number in (("run:2", 2), ("run:latest-1", 1)):
        assert run_program(["report", word]) == 0
        assert capsys.readouterr().out.startswith(f"run {number} of experiment {number},")
    assert run_program(["report", "run:latest-2"]) == 2
    assert "there is no run:latest-2" in capsys.readouterr().err
    assert run_program(["report", "run:latest", "--raw"]) == 0
    every = capsys.readouterr().out
    assert "observation.outcomes.ok" in every and len(every.splitlines()) > 100


def device(reads: int, busy_s: float) -> dict[str, Any]:
    cost = {"device": "vda", "read_bytes": 0, "written_bytes": 0, "reads": reads, "writes": 32}
    return {**cost, "busy_ns": round(busy_s * invented.S), "queue_ns": 0}


def test_reads_that_others_may_have_caused_explain_nothing(tmp_path: Path) -> None:
    """On a shared device: they count where the system itself read most of the bytes."""
    cost = {"cpu_ns": 1, "resident_peak_bytes": 1, "per_transaction_ns": 1}
    for own_bytes, reads in ((60_000, "reads 0.81, "), (40_000, "")):
        observed = {
            "device_cost": {**device(13, 1.9), "read_bytes": 100_000},
            "server_cost": {**cost, "read_bytes": own_bytes},
        }
        path = tmp_path / str(own_bytes)
        path.mkdir()
        expected = f"device {reads}writes 2.0 per transaction; 95 % busy; shared device"
        assert expected in " ".join(" ".join(one_run(path, observation=observed)).split())


def test_of_many_cells_the_reads_of_each_have_a_column_where_they_explain(tmp_path: Path) -> None:
    planned = invented.plan([invented.POSTGRESQL], clients=(1, 8))
    busy = {"device_cost": device(8, 1.9)}
    experiment = invented.experiment(
        tmp_path / "r.sqlite", planned, 2.0, observation=busy, deployment={"storage": OWN}
    )
    lines = look(experiment)
    (heading,) = (line for line in lines if line.startswith("clients  ") and "TPS" in line)
    assert heading.split()[-2:] == ["p99", "reads/tx"]
    assert lines[lines.index(heading) + 1].split()[-1] == "4.0"
    writing = {"device_cost": device(0, 1.9)}
    quiet = invented.experiment(
        tmp_path / "q.sqlite", planned, 2.0, observation=writing, deployment={"storage": OWN}
    )
    assert not any("reads/tx" in line for line in look(quiet))

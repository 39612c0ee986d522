"""Settings change what they say, and identify cells; one without effect is refused."""

from __future__ import annotations

import json
import signal
import sqlite3
from itertools import product
from pathlib import Path
from statistics import fmean

import jsonschema_rs
import numpy as np
import pytest

from assay.cli.program import run_program
from assay.contracts.observation import Observation
from assay.errors import ArgumentError
from assay.record import DEFAULT_FILE_NAME
from assay.report.tidy.schema import schema
from commands import Assay, need
from identities import SAME, Other, Refused, identities, names_of
from running import started, wait_for_state
from step_workloads import folder_of

SETTINGS = {
    "synchronous": ("full", "off"),
    "journal_mode": ("delete", "wal"),
    "cache_size": ("-2000", "-64000"),
}


@pytest.mark.slow
def test_effects_of_three_settings_of_sqlite(assay: Assay) -> None:
    given = [
        word
        for name, levels in SETTINGS.items()
        for word in ("--set", f"sqlite.{name}={','.join(levels)}")
    ]
    ended = assay(
        "run", "tpcb.simple-update", "--on", "sqlite", *given, "--repetitions", "2",
        "--clients", "1", "--duration", "0.25", "--warm-up", "0",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    is_answered = "settings     " in ended.out and "synchronous" in ended.out
    assert is_answered or "other programs" in ended.out
    document = json.loads(assay("report", "latest", "--format", "json").out)
    jsonschema_rs.validate(schema(), document)
    (found,) = document["effects"]
    assert found["cells"] == 8
    # On a busy machine a cell may have a run that does not count.
    left_out = {cell.partition(":")[0] for cell in found["left_out"]}
    runs: dict[tuple[str, ...], list[float]] = {}
    for row in document["tables"]["runs"]:
        levels = dict(_settings(row))
        if ", ".join(f"{name} {levels[name]}" for name in sorted(levels)) not in left_out:
            at = tuple(levels[name] for name in SETTINGS)
            runs.setdefault(at, []).append(np.log(row["throughput_per_s"]))
    assert len(runs) == 8 - len(left_out)
    ratios = {}
    for effect in found["effects"]:
        changes = {change["factor"]: change for change in effect["of"]}
        contrasts = []
        for others in product(*(SETTINGS[name] for name in SETTINGS if name not in changes)):
            fixed = dict(zip((n for n in SETTINGS if n not in changes), others, strict=True))
            corners = [
                (np.prod(sides), _corner(changes, sides, fixed))
                for sides in product((1, -1), repeat=len(changes))
            ]
            if all(corner in runs for _, corner in corners):
                contrasts.append(sum(sign * fmean(runs[corner]) for sign, corner in corners))
        assert effect["combinations"] == len(contrasts)
        assert effect["ratio"] == pytest.approx(np.exp(fmean(contrasts)))
        ratios[tuple(changes)] = effect["ratio"]
    assert ratios["synchronous",] > 1, "without flushes it is faster"
    table = assay("report", "latest").out
    assert "cache_size  journal_mode  synchronous" in table
    compared = assay(
        "compare", "latest", "--between", "sqlite.synchronous", "--despite", "durability"
    )
    assert compared.status == 0, compared.err


def _settings(row: dict[str, object]) -> list[tuple[str, str]]:
    words = [word.partition("=") for word in str(row["system"]).split()[1:]]
    return [(name, value) for name, _, value in words]


def _corner(
    changes: dict[str, dict[str, str]], sides: tuple[int, ...], fixed: dict[str, str]
) -> tuple[str, ...]:
    """The levels of all settings."""
    sided = zip(changes.items(), sides, strict=True)
    at = {name: of["level" if side == 1 else "compared_with"] for (name, of), side in sided}
    return tuple({**fixed, **at}[name] for name in SETTINGS)


_pg = "s.sql --on 'postgresql[{}]'".format
_duck = "s.sql --on 'duckdb[{}]'".format
_ferret = "f.json --on 'ferretdb[{}]'".format
_cassandra = "s.cql --on 'cassandra[{}]'".format
_maria = "s.sql --on 'mariadb[{}]'".format
ROWS: dict[str, tuple[str, str, type[SAME] | Other | Refused]] = {
    "sizes": (_pg("work_mem=16MB"), _pg("work_mem=16384kB"), SAME),
    "a size without a unit": (_pg("work_mem=16MB"), _pg("work_mem=16384"), SAME),
    "a size in pages": (_pg("shared_buffers=64MB"), _pg("shared_buffers=8192"), SAME),
    "a time": (_pg("checkpoint_timeout=10min"), _pg("checkpoint_timeout=600"), SAME),
    "truth": (_pg("jit=off"), _pg("jit=FALSE"), SAME),
    "a name in another case": (_pg("work_mem=16MB"), _pg("Work_Mem=16MB"), SAME),
    "a number with places": (_pg("random_page_cost=2"), _pg("random_page_cost=2.0"), SAME),
    "defaults": (
        "s.sql --on postgresql",
        _pg("shared_buffers=128MB,fsync=on,checkpoint_timeout=300s,jit=1"), SAME),
    "no default, since Assay chooses it": (
        "s.sql --on postgresql", _pg("max_connections=100"), Other()),
    "no default": ("s.sql --on postgresql", _pg("jit=off"), Other(
        "postgresql", "postgresql jit=off")),
    "a value with a space": (
        _pg("application_name=x,work_mem=8MB"), _pg('application_name="x work_mem=8MB"'), Other(
            "postgresql application_name=x work_mem=8MB",
            'postgresql application_name="x work_mem=8MB"')),
    "two spellings of one level": (
        "s.sql --on postgresql --set postgresql.work_mem=16MB,16384kB", "", Refused("twice")),
    "a default beside nothing": (
        "s.sql --on postgresql,postgresql[jit=on]", "", Refused("twice")),
    "two spellings of one name": (_pg("work_mem=8MB,WORK_MEM=16MB"), "", Refused("once")),
    "MariaDB: sizes": (
        _maria("innodb_buffer_pool_size=64M"), _maria("innodb-buffer-pool-size=65536K"), SAME),
    "MariaDB: truth": (_maria("slow_query_log=ON"), _maria("slow_query_log=true"), SAME),
    "MariaDB: defaults": (
        "s.sql --on mariadb", _maria("innodb_buffer_pool_size=134217728,slow_query_log=0"), SAME),
    "MariaDB: what Assay has otherwise than the server": (
        "s.sql --on mariadb", _maria("innodb_buffer_pool_load_at_startup=ON"), Other()),
    "DuckDB: truth": (_duck("preserve_insertion_order=false"), _duck(
        "Preserve_Insertion_Order=0"), SAME),
    "DuckDB: defaults": ("s.sql --on duckdb", _duck("preserve_insertion_order=true"), SAME),
    "DuckDB: sizes": (_duck("memory_limit=1GiB"), _duck("max_memory=1024MiB"), SAME),
    "DuckDB: sizes that it shows alike": (
        _duck("memory_limit=1000MB"), _duck("memory_limit=1000.01MB"), Other()),
    "DuckDB: what the session has": (
        "s.sql --on duckdb", _duck("enable_progress_bar=true"), Other()),
    "FerretDB: those of PostgreSQL": (
        _ferret("work_mem=16MB,jit=OFF"), _ferret("Work_Mem=16384kB,jit=false"), SAME),
    "Cassandra: sizes": (
        _cassandra("commitlog_segment_size=32MiB"), _cassandra("commitlog_segment_size=32768KiB"),
        SAME),
    "Cassandra: what Assay has": (
        "s.cql --on cassandra", _cassandra("commitlog_sync=PERIODIC,read_request_timeout=1m"),
        SAME),
    "Cassandra: what Assay has otherwise than the server": (
        "s.cql --on cassandra", _cassandra("auto_snapshot=true"), Other()),
    "a profile's setting said again": (
        "s.sql --on postgresql --set postgresql.profile=tuned",
        "s.sql --on postgresql --set postgresql.profile=tuned "
        "--set postgresql.checkpoint_timeout=1800s", SAME),
    "another than the profile's": (
        "s.sql --on postgresql --set postgresql.profile=tuned",
        "s.sql --on postgresql --set postgresql.profile=tuned "
        "--set postgresql.checkpoint_timeout=1801s", Other()),
    "MariaDB: what Assay has": (
        "s.sql --on mariadb", _maria("innodb_buffer_pool_load_at_startup=0"), SAME),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS)
def test_two_experiments_have_one_cell_or_two(
    row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if row.startswith("MariaDB"):  # its defaults are asked of the program
        need("mariadb")
    monkeypatch.chdir(tmp_path)
    Path("s.sql").write_text("select 1\n")
    Path("s.cql").write_text("select now() from system.local\n")
    Path("f.json").write_text('{"ping": 1}\n')
    a, b, expected = ROWS[row]
    if isinstance(expected, Refused):
        with pytest.raises(ArgumentError) as refused:
            identities(a)
        assert expected.by in f"{refused.value.message} {refused.value.hint}"
        return
    of_a, of_b = identities(a), identities(b)
    if expected is SAME:
        assert of_a.seeds_of_cells.items() == of_b.seeds_of_cells.items()
        return
    assert isinstance(expected, Other)
    assert not set(of_a.seeds_of_cells) & set(of_b.seeds_of_cells)
    if expected.names:
        assert names_of(of_a, of_b) == list(expected.names)


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


INSERT = """\
INSERT INTO data (id, value) VALUES (1000 + 100 * :client_id + :transaction_number, 0);
\\if :rows_changed <> 1
\\abort
\\endif
"""
DRIVE = """
[[tests.t.steps]]
do = "drive"
name = "{name}"
scripts = ["insert.sql"]
clients = 2
{how}
"""
OPEN = 'queue = 8\narrival = "constant"\noffered_rate_per_s = 500'
LOAD = '\n[[tests.t.steps]]\ndo = "load"\nname = "{name}"\n'


def _steps(*names: str) -> str:
    made = [
        LOAD.format(name=name)
        if name.startswith("load")
        else DRIVE.format(name=name, how=OPEN if name.startswith("open") else "transactions = 10")
        for name in names
    ]
    return "".join(made)


def _observation(assay: Assay, folder: Path, on: str = "sqlite") -> Observation:
    """Of a run in which every insert found its key free."""
    ended = assay("run", folder, "--on", on)
    assert ended.status == 0, ended.out + ended.err
    (run,) = ended.runs
    assert run.observation is not None
    assert (run.observation.outcomes.failed, run.observation.outcomes.aborted) == (0, 0)
    return run.observation


def test_a_later_step_inserts_other_keys(assay: Assay, tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "w", _steps("load", "first", "second", "open"), insert=INSERT)
    assert _observation(assay, folder).next_transaction == 10 + 10 + 8


def test_where_data_are_loaded_anew_the_numbers_begin_anew(assay: Assay, tmp_path: Path) -> None:
    steps = _steps("load", "first", "load again", "second")
    folder = folder_of(tmp_path / "w", steps, insert=INSERT)
    assert _observation(assay, folder).next_transaction == 10


NEXT = """\
\\next taken
INSERT INTO data (id, value) VALUES (1000 + :taken, 0);
\\expect rows 1
\\acknowledged known taken
\\assert :known <= :taken
"""


def test_numbers_that_clients_share_go_on_in_a_later_step(assay: Assay, tmp_path: Path) -> None:
    """How many of them clients took, and how many are acknowledged."""
    for later, count in ((("second", "open"), 48), (("load 2", "second"), 20)):
        folder = folder_of(tmp_path / later[0], _steps("load", "first", *later), insert=NEXT)
        (numbers,) = _observation(assay, folder).shared_numbers
        assert (numbers.taken, numbers.acknowledged) == (count, count)


def test_clients_of_a_python_module_that_share_numbers_share_a_process(
    assay: Assay, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path / "w", _steps("load", "first"), insert=NEXT)
    found = _observation(assay, folder, "dbapi:sqlite3[database=numbers.db]")
    assert [one.taken for one in found.shared_numbers] == [20]


FILE = """\
script = ["one.sql"]
systems = ["null"]
clients = [1, 2]
precision = "50%"
budget = "5min"
[drive]
duration_s = 0.4
think_time = "constant:1ms"
"""


@pytest.fixture
def folder(working_folder: Path) -> Path:
    (working_folder / "one.sql").write_text("SELECT 1;\n")
    (working_folder / "e.toml").write_text(FILE)
    return working_folder


def test_the_plan_says_how_often_and_the_report_why_it_ended(folder: Path, assay: Assay) -> None:
    plan = assay("plan", "e.toml")
    assert plan.err.startswith("3 to 30 repetitions of each cell, until its mean is known within")
    rows = [line for line in plan.out.splitlines() if line.lstrip()[:1].isdigit()]
    assert len(rows) == 2 * 3, "those that take place in any case"
    with started(folder, "run", "e.toml") as running:
        wait_for_state(folder, "done")
        running.send_signal(signal.SIGKILL)
        running.communicate()
    ended = assay("run", "e.toml")
    assert ended.status == 0
    assert "continue experiment 1" in ended.err
    found = ended.experiment
    assert not found.is_unfinished and found.id == 1
    assert all(3 <= cell.measured == cell.repetitions < 30 for cell in found.cells.values())
    assert "precision    ±50 % asked" in ended.out
    cells = assay("report", "--format", "json").document["tables"]["cells"]
    assert {cell["repetitions_ended_by"] for cell in cells} == {"precise enough"}
    assert all(0 <= cell["precision_ratio"] <= 0.5 for cell in cells)
    connection = sqlite3.connect(folder / DEFAULT_FILE_NAME)
    assert connection.execute("SELECT DISTINCT state FROM runs").fetchall() == [("done",)]
    connection.close()
    assert "as experiment 2" in assay("run", "e.toml", "--only", "null", "--budget", "1").err


@pytest.mark.parametrize("precision", ["0%", "200%", "5", "x", "-1%"])
def test_a_precision_that_cannot_be_is_refused(precision: str, folder: Path, assay: Assay) -> None:
    refused = assay("plan", "one.sql", "--on", "null", f"--precision={precision}")
    assert refused.status == 2
    assert (
        f"--precision: expected a percentage from 0.1% to 50%, found '{precision}'" in refused.err
    )
    (folder / "e.toml").write_text(FILE.replace("50%", precision))
    of_file = assay("plan", "e.toml")
    assert of_file.status == 2
    assert "e.toml:4: precision: expected a percentage" in of_file.err

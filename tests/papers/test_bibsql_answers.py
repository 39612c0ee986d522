"""The 28 checks of bibsql: their answers on each system and storage, and what wrong input or
failures do."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

import pytest

from able import one_of_each_line
from assay.contracts.observation import LimitReport, UpdateReport
from assay.judge.run import Run
from assay.probe import measure
from assay.record import DEFAULT_FILE_NAME, Store
from assay.report.build import build
from assay.report.sections.outcomes import OUTCOMES
from assay.storages.modelled import MODELLED
from assay.workload import reader
from commands import IN_MEMORY, Assay, need, why_missing
from running import server_of, started, wait_for_state
from servers import SERVERS
from shown_report import table_of
from smaller_workloads import changed_copy

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
        "--clients", "1", *IN_MEMORY,
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
    folder = changed_copy("bibsql", tmp_path, ("expected.toml", "S04 = 89", "S04 = 88"))
    ended = assay("run", folder, "--on", "sqlite", "--bib", beebe, *IN_MEMORY)
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
            "run", "bibsql", "--on", "sqlite,postgresql", "--bib", beebe / "texbook3.bib",
            *IN_MEMORY, "--set", "latest_year=2012", "--protocol", protocol,
        )  # fmt: skip
        assert ended.status == 0, ended.err
        for run in ended.runs:
            assert found(run)["S05"] == 35
            (asked,) = (check for check in run.checks if check["id"] == "S05")
            assert asked["note"].startswith("not applicable for latest_year")
            assert (asked["expected"], asked["ok"]) == (None, None)
            assert run.driven is not None and all(one.digest for one in run.driven.results)


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
    assert run.data is not None
    assert (run.data.rows["bibtab"], run.data.request.skipped_items) == (1, 1)


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


@pytest.mark.parametrize("system", one_of_each_line(SERVERS))
def test_a_killed_server_fails_its_run_and_leaves_the_others(
    working_folder: Path, beebe: Path, assay: Assay, system: str
) -> None:
    need(system)
    words = ("--on", system, "--bib", str(beebe / "texbook1.bib"), *IN_MEMORY)
    assert assay("run", "bibsql", *words).status == 0
    endless = ("run", "bibsql.sequential", *words, "--set", "copies=100000")
    with started(working_folder, *endless) as running:
        wait_for_state(working_folder, "driving")
        time.sleep(1)
        server_of(running).kill()
        out, err = running.communicate()
    assert running.returncode == 3, err
    with Store(working_folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        first, last = store.experiment(1).runs[0], store.experiment(2).runs[0]
    assert first.state == "done"
    assert last.state == "failed"
    assert "SIGKILL" in last.reason
    assert last.driven is not None
    outcomes = last.driven.outcomes
    assert outcomes.scheduled == sum(getattr(outcomes, name) for name in OUTCOMES)
    assert last.driven.ended_by == "lost"
    # Assay may see that the server has ended before the client's session does; it then stops the
    # client between two statements, and there is no error.
    ends = {client.state for client in last.driven.client_ends}
    assert ends <= {"lost", "interrupted"}
    assert last.driven.errors or ends == {"interrupted"}
    assert "SIGKILL" in out


@pytest.mark.parametrize("system", one_of_each_line(SERVERS))
def test_256_clients_run_to_the_end(assay: Assay, beebe: Path, system: str) -> None:
    need(system)
    ended = assay(
        "run", "bibsql.parallel", "--on", system, "--clients", "256",
        "--bib", beebe / "serif.bib", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.driven is not None
    assert run.driven.outcomes.ok == 256 * 28
    assert len(run.driven.client_ends) == 256
    for result in run.driven.results:
        assert (result.answers, result.differing) == (256, 0)


@pytest.mark.parametrize(
    ("system", "limit", "refused_at"),
    [
        ("postgresql", 100, 98),
        ("mariadb", 151, 152),
        pytest.param("mysql", 151, 152, marks=pytest.mark.same_line),
    ],
)
def test_the_first_refused_client_is_found(
    assay: Assay, system: str, limit: int, refused_at: int
) -> None:
    """PostgreSQL keeps three of its hundred for superusers, unless the session is one."""
    need(system)
    ended = assay("run", "bibsql.limit", "--on", system, "--clients", "256", *IN_MEMORY)
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert isinstance(run.observation, LimitReport)
    default, raised = run.observation.default, run.observation.raised
    assert default.limit == limit
    assert default.refused_at is not None and refused_at <= default.refused_at <= limit + 2
    assert default.error is not None and default.error.class_ == "too many connections"
    assert (raised.opened, raised.refused_at) == (256, None)


def test_an_update_equals_a_fresh_load(
    assay: Assay, beebe: Path, available: list[str], tmp_path: Path
) -> None:
    documents = [] if why_missing("ferretdb") else ["ferretdb"]
    few = tmp_path / "few"
    few.mkdir()
    for name in ("serif", "texgraph", "texjourn", "texnique", "type"):
        (few / f"{name}.bib").symlink_to(beebe / f"{name}.bib")
    ended = assay(
        "run", "bibsql.update", "--on", ",".join([*available, *documents]), "--bib", few,
        "--set", "mariadb.engine=InnoDB,MyISAM", "--set", "changed=3", "--set", "vanished=1",
        *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    for run in ended.runs:
        assert isinstance(run.observation, UpdateReport)
        assert run.observation.equals_fresh_load is True
        assert run.observation.changed_files == 3
        assert run.observation.deleted_rows > 0


def test_after_several_updates_the_tables_equal_a_fresh_load_and_have_grown(
    assay: Assay, beebe: Path
) -> None:
    need("postgresql")
    ended = assay(
        "run", "bibsql.update", "--on", "sqlite,postgresql", "--bib", beebe / "texbook3.bib",
        "--set", "updates=3", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    for run in ended.runs:
        found = run.observation
        assert isinstance(found, UpdateReport)
        assert (found.updates, found.changed_files) == (3, 3)
        assert found.equals_fresh_load is True
        assert found.loaded_bytes and found.updated_bytes
        # PostgreSQL keeps what was deleted until a VACUUM.
        assert run.system == "sqlite" or found.updated_bytes > 2 * found.loaded_bytes


def test_an_update_takes_entries_without_a_comma_after_their_last_field(
    assay: Assay, working_folder: Path
) -> None:
    entries = (
        f"@misc{{k{number},\n  year = 19{number}, title = {{T}}\n}}\n" for number in range(70, 74)
    )
    (working_folder / "plain.bib").write_text("\n".join(entries))
    ended = assay("run", "bibsql.update", "--on", "sqlite", "--bib", "plain.bib")
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert isinstance(run.observation, UpdateReport)
    assert run.observation.equals_fresh_load is True


STORAGES = {
    "here": "here",
    "loop": "loop=loop[fs=ext4,size=300M]",
    "disk (modelled)": "disk=modelled[profile=scsi-15k,size=300M]",
}
NEEDS_FIO = pytest.mark.skipif(not measure.is_installed(), reason="fio is not installed")
NEEDS_MODELLED = pytest.mark.skipif(
    MODELLED.why_unavailable() is not None, reason="needs root, FUSE and loop devices"
)


@NEEDS_FIO
@NEEDS_MODELLED
@pytest.mark.alone  # storages are not ranked beside other programs
def test_a_column_for_each_storage_speed_ups_and_probes(
    assay: Assay, beebe: Path, available: list[str]
) -> None:
    systems = [name for name in ("postgresql", "sqlite") if name in available]
    ended = assay(
        "run", "bibsql.sequential", "--on", ",".join(systems), "--storage",
        ",".join(STORAGES.values()), "--set", "copies=1", "--bib", beebe / "texbook1.bib",
        "--probe-seconds", "1", "--again",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    report = build(ended.experiment)

    times = table_of(report, "sequential")
    assert [column.title for column in times.columns] == [
        "system", *STORAGES, "speed-up\nloop", "speed-up\ndisk (modelled)",
    ]  # fmt: skip
    assert [row.cells[0].shown for row in times.rows] == systems
    for row in times.rows:
        assert row.block_title == ""  # it commits nothing: durability makes no difference
        here, *others = [cell.number.value for cell in row.cells[1:4] if cell.number]
        speed_ups = [cell.number.value for cell in row.cells[4:] if cell.number]
        assert speed_ups == pytest.approx([here / other for other in others])

    probes = table_of(report, "storage_probes")
    places = [part.title for part in report.sections]
    assert places.index("Storages by probe") == places.index("Test sequential") + 1
    by_storage = {row.cells[0].shown: row for row in probes.rows}
    assert list(by_storage) == list(STORAGES)
    reads = by_storage["disk (modelled)"].cells[1].number
    # Half a turn of its platter takes 2 ms, whatever the machine.
    assert reads is not None and reads.value < 500
    models = table_of(report, "modelled_disks")
    assert {row.cells[0].shown for row in models.rows} == {"disk (modelled)"}

    ranks = table_of(report, "sequential_storage_ranks")
    expected = [(system, "1", "3", "reads/s, depth 1") for system in systems]
    assert [tuple(cell.shown for cell in row.cells[:4]) for row in ranks.rows] == expected

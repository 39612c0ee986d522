"""Data that are there: of a server, of an earlier run, of another system, or damaged."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import servers
from assay import registry
from assay.cli.program import run_program
from assay.errors import AssayError
from assay.record import Store
from commands import Assay, need, run_in
from plugins import WORKLOAD, assay, write_package, write_workload
from step_workloads import folder_of

SYSTEM = registry.system("postgresql")
CELL = "sqlite at d.sqlite, 1 client"
SUPER = (
    "UPDATE mysql.global_priv SET priv = "
    "JSON_SET(priv, '$.access', JSON_VALUE(priv, '$.access') | 1 << 15)"
)
JUDGED = ("--records", "r.sqlite", "--fail-if", "throughput_per_s<9x")
COMMON = ("--transactions", "40", "--repetitions", "2", "--records", "r.sqlite")


def _warnings(ended: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Name → detail."""
    found: list[dict[str, Any]] = json.loads(ended.stdout)["warnings"]
    return {one["name"]: "; ".join(one["details"]) for one in found}


def _execute(file: Path, *statements: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    _execute(
        tmp_path / "d.sqlite",
        "CREATE TABLE goods (x INTEGER)",
        *(f"INSERT INTO goods VALUES ({x})" for x in range(10)),
        "CREATE TABLE log (x INTEGER)",
    )
    (tmp_path / "read.sql").write_text("SELECT count(*) FROM goods;\n")
    return tmp_path


@pytest.mark.parametrize(
    ("change", "difference", "more"),
    [
        ("INSERT INTO goods VALUES (1)", "rows of goods: 10 → 11", ""),
        ("UPDATE goods SET x = x + 1", "values of goods: ", ""),
        ("UPDATE goods SET x = x + 1", "values of goods: ", "INSERT INTO log VALUES (1);\n"),
    ],
)
def test_data_that_others_changed_leave_no_verdict(
    folder: Path, change: str, difference: str, more: str
) -> None:
    on = ("--on", "sqlite:///d.sqlite")
    (folder / "read.sql").write_text(f"SELECT count(*) FROM goods;\n{more}")
    run_in(folder, "run", "read.sql", *COMMON, *on)
    _execute(folder / "d.sqlite", change)
    run_in(folder, "run", "read.sql", *COMMON, *on)
    judged = run_in(folder, "compare", "1", "2", *JUDGED)
    assert judged.returncode == 2, judged.stdout
    assert f"cannot be judged: throughput_per_s<9x: {CELL}: {difference}" in judged.stderr
    trend = run_in(folder, "trend", "--records", "r.sqlite").stdout
    assert "other work" in trend, trend
    with closing(sqlite3.connect(folder / "r.sqlite")) as record:
        counted = record.execute(
            "SELECT is_after, rows FROM existing_tables WHERE run_id = 1 AND name = 'goods'"
        )
        assert counted.fetchall() == [(0, 10), (1, 10)]


def test_the_files_beside_that_of_a_user_are_left_alone(folder: Path) -> None:
    """Who opens and closes a file ends the locks that SQLite has on it in this process: those of
    the record, too."""
    watching = (
        "import sys; sys.addaudithook(lambda event, args: event == 'open' and print(args[0])); "
        "from assay.cli.program import run_program; run_program(sys.argv[1:])"
    )
    words = ("run", "read.sql", *COMMON, "--on", "sqlite:///d.sqlite", "--cache", "warm")
    done = subprocess.run(
        [sys.executable, "-c", watching, *words], cwd=folder, capture_output=True, text=True
    )
    assert "read.sql" in done.stdout, done.stderr
    assert not re.findall(r"^\S*r\.sqlite\S*$", done.stdout, re.M)


def test_a_run_that_adds_rows_to_a_log_is_compared_and_one_that_reads_what_it_adds_is_not(
    folder: Path,
) -> None:
    (folder / "log.sql").write_text("INSERT INTO log VALUES (1);\nSELECT x FROM goods LIMIT 1;\n")
    (folder / "grow.sql").write_text("INSERT INTO goods VALUES (1);\nSELECT count(*) FROM goods;\n")
    on = ("--on", "sqlite:///d.sqlite", "--format", "json")
    logged = run_in(folder, "run", "log.sql", *COMMON, *on)
    assert "cell-changed" not in _warnings(logged), logged.stderr
    run_in(folder, "run", "log.sql", *COMMON, *on)
    compared = run_in(folder, "compare", "1", "2", "--records", "r.sqlite").stdout
    assert "rows of" not in compared, compared
    grown = _warnings(run_in(folder, "run", "grow.sql", *COMMON, *on))
    assert "rows of goods 10 in run" in grown["cell-changed"]


def test_a_server_is_read_again_before_each_run_and_what_a_user_may_not_read_is_not_known(
    tmp_path: Path,
) -> None:
    """The first repetition itself changes a setting, as another session would."""
    (tmp_path / "set.sql").write_text(
        "ALTER SYSTEM SET work_mem = '8MB';\nSELECT pg_reload_conf();\n"
    )
    (tmp_path / "may.sql").write_text(
        "\\if 1 = 2\nSELECT count(*) FROM goods, lost;\n\\endif\nSELECT count(*) FROM shown;\n"
    )
    (tmp_path / "add.sql").write_text("INSERT INTO log VALUES (1);\n")
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(SYSTEM, storage, options={"transport": "tcp"}) as server,
    ):
        for statement in (
            "CREATE TABLE goods AS SELECT generate_series(1, 9) x",
            "CREATE VIEW shown AS SELECT 1 FROM goods",
            "CREATE TABLE log (x int)",
            "CREATE ROLE low LOGIN PASSWORD 'low'",
            "GRANT SELECT ON shown TO low",
            "GRANT INSERT ON log TO low",
        ):
            servers.ask(server, statement)
        url = servers.url_of(SYSTEM, server)
        changed = run_in(tmp_path, "run", "set.sql", *COMMON, "--on", url, "--format", "json")
        assert "work_mem 4MB in run 1, 8MB in run 2" in _warnings(changed)["cell-changed"]
        low = url.replace(url.partition("//")[2].partition("@")[0], "low:low")
        for number in (2, 3):
            run = run_in(tmp_path, "run", "may.sql", *COMMON, "--on", low, "--format", "json")
            unknown = _warnings(run)["data-unknown"]
            assert "goods: permission denied for table goods" in unknown, number
            assert 'lost: relation "lost" does not exist' in unknown
            assert "character" not in unknown, "of a statement that the user did not write"
        judged = run_in(tmp_path, "compare", "2", "3", *JUDGED)
        added = run_in(tmp_path, "run", "add.sql", *COMMON, "--on", low, "--format", "json")
        assert "data-unknown" not in _warnings(added)
    assert judged.returncode == 2, judged.stdout
    assert "not known (goods: permission denied" in judged.stderr


@pytest.mark.parametrize(
    ("name", "how", "lowered"),
    [
        ("postgresql", ("CREATE TABLE {} (x int)", "CREATE UNLOGGED TABLE {} (x int)"), "unlogged"),
        ("mariadb", ("CREATE TABLE {} (x int)", "CREATE TABLE {} (x int) ENGINE=MyISAM"),
         "engine = MyISAM"),
    ],
)  # fmt: skip
def test_a_table_whose_commits_are_not_flushed_is_not_ranked_beside_one_whose_are(
    name: str, how: tuple[str, str], lowered: str, tmp_path: Path
) -> None:
    need(name)
    system = registry.system(name)
    (tmp_path / "change.sql").write_text("UPDATE shop.goods SET x = x + 1;\n")
    urls = []
    with servers.directory_for_servers() as storage, contextlib.ExitStack() as up:
        for statement in how:
            provisioned = servers.provisioned(system, storage, options={"transport": "tcp"})
            server = up.enter_context(provisioned)
            servers.ask(server, "CREATE SCHEMA shop")
            servers.ask(server, statement.format("shop.goods"))
            servers.ask(server, "INSERT INTO shop.goods VALUES (1)")
            urls.append(servers.url_of(system, server))
        on = ("--on", f"safe={urls[0]},fast={urls[1]}")
        ended = run_in(tmp_path, "run", "change.sql", *COMMON, *on, "--format", "json")
    assert f"fast: shop.goods: {lowered}; durable: ALTER" in _warnings(ended)["durability-lowered"]
    compared = run_in(tmp_path, "compare", "1", "--between", "system", "--records", "r.sqlite")
    assert f"not lowered → shop.goods: {lowered}" in " ".join(compared.stdout.split())
    assert compared.returncode == 2, compared.stdout


@pytest.mark.parametrize(
    ("statement", "lowered"),
    [
        ("PRAGMA synchronous = 0", "synchronous = off by PRAGMA synchronous = 0"),
        ("PRAGMA journal_mode(memory)", "journal_mode = memory by PRAGMA journal_mode(memory)"),
        ("PRAGMA synchronous = EXTRA", ""),
    ],
)
def test_what_a_script_sets_lowers_the_durability_of_a_file_by_url(
    statement: str, lowered: str, folder: Path
) -> None:
    (folder / "change.sql").write_text(f"{statement};\nUPDATE goods SET x = x + 1 WHERE x = 1;\n")
    on = ("--on", "sqlite:///d.sqlite", "--format", "json")
    warned = _warnings(run_in(folder, "run", "change.sql", *COMMON, *on))
    assert ("durability-lowered" in warned) is bool(lowered)
    assert lowered in warned.get("durability-lowered", "")


INDEXES = {
    "postgresql": "btree (x DESC) WHERE (y > 1); unique btree (x) (not valid: no query uses it); "
    "unique btree (y, x)",
    "mariadb": "btree (x); unique btree (y, x)",
}
LOWERED = {
    "postgresql": {
        "BEGIN; SET LOCAL synchronous_commit TO 'off'; {}; COMMIT":
            "synchronous_commit = off by SET LOCAL synchronous_commit TO 'off'",
        "select set_config('synchronous_commit', 'off', false); {}":
            "synchronous_commit = off by select set_config",
    },
    "mariadb": {
        "SET GLOBAL innodb_flush_log_at_trx_commit = 2; {}":
            "innodb_flush_log_at_trx_commit = 2, not so at first",
    },
}  # fmt: skip
"""What a script sets → what it lowers."""
BODIES = {
    "postgresql": "LANGUAGE sql AS 'INSERT INTO goods VALUES (1) RETURNING x'",
    "mariadb": "BEGIN INSERT INTO goods VALUES (1); RETURN 1; END",
}
"""Of a function that writes."""


@pytest.mark.parametrize("name", LOWERED)
def test_indexes_of_a_server_by_url_and_what_a_script_lowers_are_in_its_words(
    name: str, tmp_path: Path
) -> None:
    need(name)
    system, only = registry.system(name), " DESC) WHERE (y > 1)" if name == "postgresql" else ")"
    (tmp_path / "read.sql").write_text("SELECT count(*) FROM shop.goods;\n")
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(system, storage, options={"transport": "tcp"}) as server,
    ):
        for statement in (
            "CREATE SCHEMA shop",
            "CREATE TABLE shop.goods (x int NOT NULL, y int NOT NULL)",
            "CREATE UNIQUE INDEX one ON shop.goods (y, x)",
            f"CREATE INDEX two ON shop.goods (x{only}",
            "CREATE TABLE goods (x int)",
            "INSERT INTO goods VALUES (1)",
        ):
            servers.ask(server, statement)
        if name == "postgresql":  # two equal rows end the work on an index, and it stays
            servers.ask(server, "INSERT INTO shop.goods VALUES (7, 1), (7, 2)")
            with pytest.raises(AssayError):
                servers.ask(server, "CREATE UNIQUE INDEX CONCURRENTLY ON shop.goods (x)")
        else:  # Assay's own user may not set what is the whole server's
            servers.ask(server, SUPER)
            servers.ask(server, "FLUSH PRIVILEGES")
        on = ("--on", servers.url_of(system, server), "--format", "json")
        run_in(tmp_path, "run", "read.sql", *COMMON, *on)
        with closing(sqlite3.connect(tmp_path / "r.sqlite")) as record:
            found = record.execute("SELECT DISTINCT indexes FROM existing_tables").fetchall()
        assert found == [(INDEXES[name],)]
        for script, lowered in {"{}": "", **LOWERED[name]}.items():
            text = script.format("UPDATE goods SET x = x + 1")
            (tmp_path / "change.sql").write_text(f"{text};\n")
            warned = _warnings(run_in(tmp_path, "run", "change.sql", *COMMON, *on))
            assert ("durability-lowered" in warned) is bool(lowered)
            assert lowered in warned.get("durability-lowered", "")
        servers.ask(server, f"CREATE FUNCTION wr() RETURNS int {BODIES[name]}")
        for call, writes in (("wr()", True), ("count(*), max(x), now() FROM goods", False)):
            (tmp_path / "call.sql").write_text(f"SELECT {call};\n")
            warned = _warnings(run_in(tmp_path, "run", "call.sql", *COMMON, *on))
            assert ("wr() does not say which" in warned.get("data-unknown", "")) is writes
            with Store(tmp_path / "r.sqlite", must_exist=True) as store:
                assert {run.may_commit for run in store.latest().runs} == {writes}


_GOODS = "SELECT count(*) FROM goods;\n"
_VIEWS = "CREATE VIEW v AS SELECT x FROM goods; CREATE VIEW w AS SELECT x FROM v"


@pytest.mark.parametrize(
    ("script", "d", "e", "said"),
    [
        (_GOODS, "", "CREATE INDEX by_x ON goods (x)", "goods none → (x)"),
        (
            _GOODS,
            "CREATE INDEX i ON goods (x); CREATE INDEX j ON goods (x) WHERE x > 5",
            "CREATE INDEX i ON goods (x COLLATE NOCASE DESC); CREATE INDEX j ON goods (x + 1)",
            "goods (x); (x) WHERE x > 5 → (x + 1); (x COLLATE NOCASE DESC)",
        ),
        (
            "SELECT count(*) FROM w;\n",
            _VIEWS,
            f"{_VIEWS}; CREATE INDEX by_x ON goods (x)",
            "goods none → (x)",
        ),
        (
            "INSERT INTO log VALUES (1);\n",
            "",
            "CREATE TRIGGER t AFTER INSERT ON log BEGIN SELECT 1;\nSELECT 2;\nEND",
            "log none → trigger t AFTER INSERT ON log BEGIN SELECT 1;SELECT 2;END",
        ),
    ],
)
def test_what_one_of_two_files_has_beside_its_rows_is_named_and_leaves_a_verdict(
    folder: Path, script: str, d: str, e: str, said: str
) -> None:
    shutil.copy(folder / "d.sqlite", folder / "e.sqlite")
    _execute(folder / "d.sqlite", *d.split("; "))
    _execute(folder / "e.sqlite", *e.split("; "))
    (folder / "read.sql").write_text(script)
    on = ("--on", "d=sqlite:///d.sqlite,e=sqlite:///e.sqlite")
    done = run_in(folder, "run", "read.sql", *COMMON, *on)
    assert "e has the " in done.stdout and "d does not" in " ".join(done.stdout.split())
    compared = run_in(folder, "compare", "1", "--between", "system", "--records", "r.sqlite")
    assert f"indexes of {said}" in " ".join(compared.stdout.split())
    assert compared.returncode == 0, compared.stdout


MODULE = """
from assay.load.row_sources.protocol import DataRequest, RowSource

class Rows(RowSource):
    name = "rows"

    def open(self, workload, experiment, listener):
        return self

    def request(self, asked):
        system = asked.system.dialect.name
        made = lambda: {"parts": [[name] for name in NAMES]}
        return DataRequest(made, "files", "names", FINGERPRINT, 2)

ROWS = Rows()
"""
ENTRY_POINTS = "[assay.row_sources]\nrows = own_rows:ROWS\n"
SAME = "'same'"


@pytest.mark.parametrize(
    ("names", "fingerprint", "option", "message"),
    [
        ("['a', 'b']", "system", (),
         "digest of the source of its rows: duckdb on duckdb, sqlite on sqlite"),
        ("['a', system]", SAME, ("--verify",), "digest of the rows of parts: "),
        ("['a', 'b'][: 1 + (system == 'duckdb')]", SAME, (),
         "rows of parts: 2 on duckdb, 1 on sqlite"),
    ],
)  # fmt: skip
def test_systems_with_different_rows_are_a_failure(
    tmp_path: Path, names: str, fingerprint: str, option: tuple[str, ...], message: str
) -> None:
    module = MODULE.replace("NAMES", names).replace("FINGERPRINT", fingerprint)
    write_package(tmp_path, "own-rows", "1", module, ENTRY_POINTS)
    write_workload(tmp_path, WORKLOAD.format(source="rows", columns='name = "text"'))
    done = assay(tmp_path, "run", "parts", "--on", "sqlite,duckdb", *option)
    assert done.returncode == 1, done.stderr
    assert "was loaded with other data than" in done.stderr
    assert message in done.stderr, done.stderr


RUN = "run tpcb --on sqlite --clients 1 --warm-up 0 --transactions 1 --datasets sets"


def how_loaded() -> list[str]:
    with Store(Path("assay-records.sqlite"), must_exist=True) as store:
        runs = sorted(one.id for one in store.runs())
        loaded = (store.run(one).data for one in runs)
        return [data.how if data else "" for data in loaded]


def test_a_damaged_copy_is_loaded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    assert run_program(RUN.split()) == 0
    (file,) = (one for one in Path("sets").glob("*/data/*") if one.stat().st_size > 1 << 20)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)
    capsys.readouterr()
    assert run_program(RUN.split()) == 0
    message = capsys.readouterr().err
    assert f"is damaged: the content of {file.name} has changed" in message
    assert str(Path("sets")) in message
    assert run_program(RUN.split()) == 0
    assert how_loaded() == ["loaded", "loaded", "restored"]


STEPS = """\
[[tests.t.steps]]
do = "load"

[[tests.t.steps]]
do = "drive"
name = "reads"
scripts = ["read.sql"]
passes = 7
{result}
[[tests.t.steps]]
do = "drive"
name = "clean-up"
scripts = ["vacuum.sql"]
passes = 1
{again}"""
RESULT = "result = true\n"


def workload(folder: Path, result: str = "", again: str = "") -> Path:
    """A drive, and a timed clean-up."""
    steps = STEPS.format(result=result, again=again)
    return folder_of(folder / "mine", steps, vacuum="VACUUM;\n")


@pytest.mark.parametrize(("result", "transactions"), [(RESULT, 7), ("", 1)])
def test_the_declared_step_is_the_result(
    result: str, transactions: int, assay: Assay, working_folder: Path
) -> None:
    ended = assay("run", workload(working_folder, result), "--on", "sqlite")
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.driven is not None
    assert run.driven.outcomes.ok == transactions
    report = assay("report", "1", "--format", "markdown").out
    beside = [line for line in report.splitlines() if "| drive | " in line]
    assert len(beside) == 2  # a row for each step, with its TPS


def test_two_results_are_refused(assay: Assay, working_folder: Path) -> None:
    ended = assay("run", workload(working_folder, RESULT, RESULT), "--on", "sqlite")
    assert ended.status == 2
    assert "two steps are the result of the test: expected one" in ended.err

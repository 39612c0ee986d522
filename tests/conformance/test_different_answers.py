"""One script on two databases is ranked only where both give the same answers, on real systems."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assay import registry
from assay.contracts.storage_facts import StorageFacts
from assay.provision.engine.session import session
from commands import Assay, need
from servers import ask, provisioned, url_of

ROWS = 2000
TABLE = """CREATE TABLE t (id integer PRIMARY KEY, k integer, name varchar(20), fee decimal(8,2),
share double precision, day date, at timestamp, remark varchar(9))"""
SCRIPT = (
    "\\set k random(0, 19)\n"
    f"\\set id random(1, {ROWS})\n"
    "SELECT * FROM t WHERE k = :k;\n"
    "SELECT name, fee, avg(share), sum(fee) FROM t WHERE id = :id GROUP BY name, fee;\n"
    "SELECT k, avg(fee), count(remark) FROM t GROUP BY k;\n"
)
SERVERS = ("postgresql", "mariadb")
WORDS = ("--clients", "2", "--transactions", "30", "--warm-up", "0", "--repetitions", "3")


def statements(rows: int) -> list[str]:
    """Create the table with its first rows."""
    values = ", ".join(
        f"({number}, {number % 20}, 'name {number}', {number * 7 % 1000}.{number % 100:02}, "
        f"{number / 8}, '2026-01-{number % 28 + 1:02}', '2026-02-03 04:05:{number % 60:02}', "
        f"{'NULL' if number % 3 else repr('x')})"
        for number in range(1, rows + 1)
    )
    return [TABLE, f"INSERT INTO t VALUES {values}"]


def sqlite_url(file: Path, rows: int = ROWS) -> str:
    with sqlite3.connect(file) as made:
        for statement in statements(rows):
            made.execute(statement)
    return f"sqlite:///{file}"


@pytest.fixture(params=SERVERS)
def urls(request: pytest.FixtureRequest, storage: StorageFacts) -> Iterator[tuple[str, str]]:
    """Of two databases of one server, the second half empty. They have two names of the host, as
    the host names a server in the results."""
    need(request.param)
    system = registry.system(request.param)
    with provisioned(system, storage, options={"transport": "tcp"}) as server:
        ask(server, "CREATE DATABASE half")
        for database, rows in ((server.address.database, ROWS), ("half", ROWS // 2)):
            with session(replace(server.address, database=database)) as opened:
                for statement in statements(rows):
                    opened.execute(statement)
        yield url_of(system, server), url_of(system, server, host="localhost", database="half")


@pytest.fixture
def script(working_folder: Path) -> str:
    (working_folder / "read.sql").write_text(SCRIPT)
    return "read.sql"


def test_a_half_empty_side_is_no_winner(assay: Assay, urls: tuple[str, str], script: str) -> None:
    ran = assay("run", script, "--on", ",".join(urls), *WORDS)
    assert ran.status == 0, ran.err
    assert "answers-differ" in ran.out
    between = ("compare", "latest", "--between", "system")
    verdict = assay(*between, "--format", "json").document["ratios"][0]["verdict"]
    assert verdict.startswith("not comparable: rows of t: 2000 → 1000; answers to read:3 (SELECT ")
    assert "100 rows per answer → 50 rows per answer; and the answers to 2 further" in verdict
    assert assay(*between, "--fail-if", "throughput_per_s < 0.01x").status == 2
    passed_over = ("--despite", "answers", "--despite", "data")
    despite = assay(*between, *passed_over, "--format", "json").document["ratios"][0]
    assert "not comparable" not in despite["verdict"]


def test_systems_with_the_same_rows_give_the_same_answers(
    assay: Assay, urls: tuple[str, str], script: str, working_folder: Path
) -> None:
    """Averages have as many digits as a system likes, and times may have a zone."""
    url = sqlite_url(working_folder / "same.db")
    ran = assay("run", script, "--on", f"{urls[0]},{url}", *WORDS)
    assert ran.status == 0, ran.err
    assert "answers-differ" not in ran.out
    report = " ".join(assay("report").out.split())
    assert "the same: 3 statements, first 16 transactions of each of 2 clients, by values" in report

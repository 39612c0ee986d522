"""pgbench's TPC-B-like script, as its manual prints it, runs unchanged on tables that pgbench
created, and on other systems.

Afterwards every delta that was acknowledged is in all four tables.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from assay import registry
from assay.cli.program import run_program
from assay.contracts.deployment import Address, Deployment
from assay.contracts.storage_facts import StorageFacts
from pgbench import TPCB_LIKE, pgbench, port_of, socket_of, url_of
from servers import ask, provisioned

TABLES = {
    "pgbench_accounts": "aid INTEGER NOT NULL PRIMARY KEY, bid INTEGER, abalance INTEGER",
    "pgbench_tellers": "tid INTEGER NOT NULL PRIMARY KEY, bid INTEGER, tbalance INTEGER",
    "pgbench_branches": "bid INTEGER NOT NULL PRIMARY KEY, bbalance INTEGER",
    "pgbench_history": "tid INTEGER, bid INTEGER, aid INTEGER, delta INTEGER, mtime TIMESTAMP",
}
ACCOUNTS = 100_000
BALANCES = """
SELECT (SELECT count(*) FROM pgbench_history),
       (SELECT coalesce(sum(delta), 0) FROM pgbench_history),
       (SELECT sum(abalance) FROM pgbench_accounts),
       (SELECT sum(tbalance) FROM pgbench_tellers),
       (SELECT sum(bbalance) FROM pgbench_branches)
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "tpcb-like.sql"
    path.write_text(TPCB_LIKE)
    return path


def ran(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    status = run_program(["run", *words, "--format", "json"])
    out, errors = capsys.readouterr()
    assert status == 0, errors
    document: dict[str, Any] = json.loads(out)
    return document


def ended_ok(document: dict[str, Any]) -> int:
    (run,) = document["tables"]["runs"]
    assert run["ok"] == run["scheduled"]
    count: int = run["ok"]
    return count


def check_balances(row: tuple[str | None, ...], transactions: int) -> None:
    """Every acknowledged transaction is in the history, and its delta in all three balances."""
    count, *sums = (int(value or 0) for value in row)
    assert count == transactions
    assert len(set(sums)) == 1, row


def test_the_tpcb_like_script_runs_on_tables_of_pgbench(
    script: Path, storage: StorageFacts, capsys: pytest.CaptureFixture[str]
) -> None:
    program = pgbench()
    with provisioned(registry.system("postgresql"), storage) as deployment:
        address = deployment.address
        made = subprocess.run(
            [program, "-i", "-q", "-h", str(socket_of(address).parent), "-p", port_of(address),
             "-U", address.user, address.database],
            capture_output=True,
            text=True,
        )  # fmt: skip
        assert made.returncode == 0, made.stderr
        words = [str(script), "--on", url_of(deployment), "--clients", "4"]
        document = ran([*words, "--threads", "2", "--transactions", "50"], capsys)
        assert ended_ok(document) == 200
        check_balances(ask(deployment, BALANCES)[0], 200)
        prepared = ran([*words, "--protocol", "prepared", "--duration", "1"], capsys)
        check_balances(ask(deployment, BALANCES)[0], 200 + ended_ok(prepared))
        # The old rows are still there: an ad hoc script drops nothing.
        assert ask(deployment, "SELECT count(*) FROM pgbench_accounts") == [(str(ACCOUNTS),)]


def test_the_same_text_runs_on_mariadb(
    script: Path, storage: StorageFacts, capsys: pytest.CaptureFixture[str]
) -> None:
    # END is no statement there; everything else is the same.
    script.write_text(TPCB_LIKE.replace("END;", "COMMIT;"))
    with provisioned(registry.system("mariadb"), storage) as deployment:
        for statement in _schema(deployment):
            ask(deployment, statement)
        words = [str(script), "--on", url_of(deployment), "--clients", "4"]
        document = ran([*words, "--transactions", "20", "--retries", "10"], capsys)
        check_balances(ask(deployment, BALANCES)[0], ended_ok(document))


def test_the_same_text_runs_on_sqlite(
    script: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from assay._engine import Session

    file = tmp_path / "bank.sqlite"
    address = Address("sqlite", file=str(file))
    opened = Session(address.for_engine().json)
    for statement in _schema(None):
        opened.execute(statement)
    opened.close()
    words = [str(script), "--on", f"sqlite:///{file}"]
    document = ran([*words, "--transactions", "30"], capsys)
    opened = Session(address.for_engine().json)
    check_balances(opened.execute(BALANCES).rows[0], ended_ok(document))
    opened.close()


def _schema(deployment: Deployment | None) -> list[str]:
    """pgbench's tables and rows at scale 1, in SQL that all systems accept."""
    engine = " ENGINE=InnoDB" if deployment is not None else ""
    numbers = (
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
        "SELECT i{} FROM n"
    )
    statements = [f"CREATE TABLE {name} ({columns}){engine}" for name, columns in TABLES.items()]
    if deployment is not None:
        # The limit is per session, and each statement here is a session: ten times ten thousand.
        tens = "SELECT 0 d" + "".join(f" UNION ALL SELECT {digit}" for digit in range(1, 10))
        places = ", ".join(f"({tens}) t{power}" for power in range(5))
        number = " + ".join(f"t{power}.d * {10**power}" for power in range(5))
        statements.append(f"INSERT INTO pgbench_accounts SELECT 1 + {number}, 1, 0 FROM {places}")
    else:
        statements.append(f"INSERT INTO pgbench_accounts {numbers.format(ACCOUNTS, ', 1, 0')}")
    statements += [f"INSERT INTO pgbench_tellers VALUES ({tid}, 1, 0)" for tid in range(1, 11)]
    statements.append("INSERT INTO pgbench_branches VALUES (1, 0)")
    return statements

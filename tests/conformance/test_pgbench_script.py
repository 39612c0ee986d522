"""pgbench's scripts mean the same here, and its modes have the same results."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from assay import registry
from assay.cli.program import run_program
from assay.contracts.deployment import Address, Deployment
from assay.contracts.storage_facts import StorageFacts
from assay.systems.postgresql import installation
from programs import PGBENCH, need_program
from servers import ask, directory_for_servers, provisioned


def pgbench() -> str:
    """The program; skips the test where there is none."""
    beside = installation.find_server().program("pgbench")
    return str(beside) if beside.is_file() else need_program(PGBENCH)


def socket_of(address: Address) -> Path:
    assert address.unix is not None
    return Path(address.unix)


def port_of(address: Address) -> str:
    return str(socket_of(address)).rpartition(".")[2]


def url_of(deployment: Deployment) -> str:
    """The URL of the private server, as of a foreign one."""
    address = deployment.address
    socket = socket_of(address)
    where = {
        "postgresql": f"host={socket.parent}&port={port_of(address)}",
        "mariadb": f"socket={socket}",
    }[deployment.system]
    password = f":{address.password}" if address.password else ""
    return f"{deployment.system}://{address.user}{password}@/{address.database}?{where}"


TPCB_LIKE = r"""
\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)
    VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
"""
"""pgbench's own script, as `pgbench --show-script=tpcb-like` shows it."""
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


CLIENTS, TRANSACTIONS = 2, 2
SCHEMA = """
CREATE TABLE said (t text);
CREATE TABLE customer (c_id int PRIMARY KEY, c_last text, c_balance numeric, c_phone text);
INSERT INTO customer VALUES (1, 'BARBARBAR', 10.50, '007'), (2, 'O''BAR', NULL, '12');
"""


@dataclass(frozen=True)
class Wild:
    text: str
    modes: tuple[str, ...] = ("simple",)


ALL = ("simple", "extended", "prepared")
SCRIPTS = {
    "values pasted everywhere": Wild(r"""
\set d 1.0 / 3
\set big 1e20 * 10
\set small 0.00001234
\set yes true
\set none NULL
INSERT INTO said
  SELECT current_query() FROM (SELECT :d, :big, :small, :yes, :none, -:d) x;
INSERT INTO said SELECT current_query() || ':client_id' || $$:scale$$ || E'\\:d';
"""),
    "last name as in TPC-C": Wild(r"""
SELECT c_last FROM customer WHERE c_id = 1 \gset
BEGIN;
INSERT INTO said SELECT c_id::text FROM customer WHERE c_last = ':c_last';
UPDATE customer SET c_balance = c_balance + 0 WHERE c_last = ':c_last';
COMMIT;
"""),
    "names in identifiers": Wild(r"""
CREATE TABLE IF NOT EXISTS sl_:client_id (a int);
INSERT INTO sl_:client_id VALUES (:client_id);
INSERT INTO said SELECT 'sl_:client_id ' || count(a) / count(a) FROM sl_:client_id;
DROP TABLE sl_:client_id;
"""),
    "settings": Wild(r"""
\set kb 64 * (:client_id + 1)
SET work_mem = :kb;
SET application_name = 'p:client_id';
INSERT INTO said SELECT current_setting('work_mem') || current_setting('application_name');
"""),
    "answers as they came": Wild(r"""
SELECT c_phone AS phone, c_balance AS balance FROM customer WHERE c_id = 1 \gset c_
INSERT INTO said VALUES ('[:c_phone] [:c_balance]');
SELECT c_balance AS gone FROM customer WHERE c_id = 2 \gset
INSERT INTO said VALUES ('[:gone]');
SELECT now() AS t, 1.50 AS n, true AS b \gset
INSERT INTO said SELECT (':t'::timestamptz IS NOT NULL)::text || :n || ':b';
"""),
    "what only looks like a variable": Wild(r"""
\set t 1
SELECT 1 AS one \gset
INSERT INTO said
  SELECT to_char(timestamp '2011-03-04 05:06:07', 'HH24:MI:SS') || '12:30'::text || ':nothing'
    || (array['a','b','c'])[1:2]::text || (array['a','b'])[1:n]::text || 5::int::text
  FROM (SELECT 1 AS n) x;
"""),
    "a block": Wild(r"""
DO $$ DECLARE i int := 0; BEGIN
  FOR i IN 1..:scale LOOP INSERT INTO said VALUES ('in a block :client_id'); END LOOP;
END $$;
"""),
    "combined statements": Wild(r"""
BEGIN \; INSERT INTO said VALUES (current_query()) \; SELECT 7 AS seven \; COMMIT;
SELECT 1 AS a \; SELECT 2 AS b \aset
SELECT 3 AS c \; SELECT 4 AS d \gset
INSERT INTO said VALUES (':a :b :d');
"""),
    "a level": Wild(r"""
BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE;
INSERT INTO said SELECT current_setting('transaction_isolation');
END;
""", ALL),
    "pgbench's own": Wild(TPCB_LIKE, ALL),
    "a pipeline": Wild(r"""
\startpipeline
INSERT INTO said VALUES ('p');
SELECT 1;
\endpipeline
""", ALL),
    "conditions": Wild(r"""
\set r :client_id % 2
\if :r = 0
INSERT INTO said VALUES ('even');
\elif :r = 1
INSERT INTO said VALUES ('odd');
\else
SELECT 1 / 0;
\endif
""", ALL),
    "bound values": Wild(r"""
\set id 1
INSERT INTO said SELECT c_last FROM customer WHERE c_id = :id;
INSERT INTO said SELECT :id::text || (:id + 1)::text || abs(:id - 5)::text;
""", ALL),
    "operators with a question mark": Wild(r"""
INSERT INTO said SELECT ('{"a": 1}'::jsonb ? 'a')::text || ('{"a": 1}'::jsonb ?| array['b'])::text;
""", ALL),
    "several levels of quotes": Wild(r"""
INSERT INTO said VALUES ('it''s :client_id'), (E'a\':scale'), ($x$ $$:scale$$ $x$);
INSERT INTO said SELECT 1 /* :scale */; -- :client_id
/* :x */ SELECT 1 AS "a :scale";
"""),
    "rows from the client": Wild("COPY said FROM STDIN;"),
    "a transaction that is never ended": Wild("BEGIN; INSERT INTO said VALUES ('open');", ALL),
    "an error": Wild("SELECT 1 / 0;", ALL),
    # In the other modes pgbench binds NULL; Assay refuses a name that nothing sets, in all modes.
    "no such variable": Wild("INSERT INTO said VALUES (:nothing);"),
}  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    """One server for all cases, with the tables of pgbench and of these scripts."""
    program = pgbench()
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path_factory.mktemp("state")))
        storage = stack.enter_context(directory_for_servers())
        deployment = stack.enter_context(provisioned(registry.system("postgresql"), storage))
        made = subprocess.run(
            [program, "-i", "-q", *words_of(deployment)], capture_output=True, text=True
        )
        assert made.returncode == 0, made.stderr
        for statement in SCHEMA.split(";\n"):
            if statement.strip():
                ask(deployment, statement)
        yield deployment


def words_of(deployment: Deployment) -> list[str]:
    address = deployment.address
    return ["-h", str(socket_of(address).parent), "-p", port_of(address),
            "-U", address.user, address.database]  # fmt: skip


def left(deployment: Deployment) -> list[str]:
    """What the transactions left in the table `said`, which is emptied; without what separates
    several statements in one text."""
    rows = ask(deployment, "SELECT t FROM said")
    ask(deployment, "TRUNCATE said")
    return sorted(re.sub(r"[;\s]+", " ", str(text)).replace(" ", "") for (text,) in rows)


CASES = [(name, mode) for name, one in SCRIPTS.items() for mode in one.modes]


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_both_accept_the_same_scripts_and_leave_the_same_rows(
    name: str,
    mode: str,
    server: Deployment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wild.sql").write_text(SCRIPTS[name].text)
    theirs = subprocess.run(
        [pgbench(), "-n", "-f", "wild.sql", "-M", mode, "-c", str(CLIENTS), "-t", str(TRANSACTIONS),
         *words_of(server)],
        capture_output=True,
        text=True,
    )  # fmt: skip
    expected = left(server)
    ours = run_program(
        ["run", "wild.sql", "--on", url_of(server), "-M", mode, "--clients", str(CLIENTS),
         "--transactions", str(TRANSACTIONS)]
    )  # fmt: skip
    out, errors = capsys.readouterr()
    assert (ours == 0) == (theirs.returncode == 0), f"{theirs.stderr}\n{out}\n{errors}"
    found = left(server)
    if ours == 0:
        assert found == expected

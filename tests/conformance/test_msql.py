"""mSQL by URL, on a server of tests that speaks its protocol: no real one can be
had."""

from __future__ import annotations

import json
import re
import socketserver
import sqlite3
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from assay import _engine
from assay.contracts.dialects import Column, Table
from assay.contracts.experiment import SystemChoice
from assay.dialects.msql import MSQL as DIALECT
from assay.errors import ArgumentError
from assay.provision.engine.engine_calls import session
from assay.systems.msql.system import MSQL
from assay.workload.reader import read
from commands import Assay, is_delayed

_NOT_IN_MSQL = re.compile(
    r"\b(?:begin|commit|rollback|group|having|union|case|exists|join|limit|count|sum|in)\b", re.I
)
_LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'", re.S)
MAX_PACKET_BYTES = 32 * 1024


class _Refused(Exception):
    pass


class MsqlServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self.lock = threading.Lock()
        self.statements: list[str] = []

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def execute(self, text: str) -> sqlite3.Cursor:
        """Raises `_Refused`."""
        self.statements.append(text)
        if found := _NOT_IN_MSQL.search(_LITERAL.sub("''", text)):
            raise _Refused(f"Parse error near {found[0]!r}")
        try:
            return self.database.execute(_LITERAL.sub(_doubled, text))
        except sqlite3.Error as error:
            words = str(error).replace("no such", "Unknown")
            raise _Refused(words.replace("UNIQUE", "Non unique value:")) from error


class _Session(socketserver.BaseRequestHandler):
    server: MsqlServer

    def handle(self) -> None:
        self._send("0:4:1.0.16\n")
        name = self._packet()
        if not name:
            return
        assert name.endswith("\n"), "the client sends its name and a newline"
        self._send("1")
        while text := self._packet():
            command, _, argument = text.partition(":")
            if command == "1":
                return
            if command == "2":
                known = argument == "e831"
                self._send("1" if known else f'-1:Unknown database "{argument}"\n')
            elif command == "3":
                with self.server.lock:
                    self._answer(argument)
            else:
                self._send("-1:Unknown command\n")

    def _answer(self, statement: str) -> None:
        try:
            found = self.server.execute(statement)
        except _Refused as refused:
            self._send(f"-1:{refused}\n")
            return
        if found.description is None:
            self._send("1")
            return
        names = [column[0] for column in found.description]
        self._send(f"1:{len(names)}")
        for row in found:
            self._send("".join("-2:" if value is None else _field(value) for value in row))
        self._send("-100\n")
        for name in names:
            self._send("".join(map(_field, ("data", name, "1", "4", "N", "N"))))
        self._send("-100\n")

    def _send(self, text: str) -> None:
        content = text.encode()
        self.request.sendall(struct.pack("<I", len(content)) + content)

    def _packet(self) -> str:
        """Empty once the client has gone."""
        head = self._bytes(4)
        if not head:
            return ""
        (length,) = struct.unpack("<I", head)
        assert length <= MAX_PACKET_BYTES, length
        return self._bytes(length).decode()

    def _bytes(self, count: int) -> bytes:
        content = b""
        while len(content) < count:
            part = self.request.recv(count - len(content))
            if not part:
                return b""
            content += part
        return content


def _field(value: object) -> str:
    text = str(value)
    return f"{len(text.encode())}:{text}"


def _doubled(literal: re.Match[str]) -> str:
    plain = re.sub(r"\\(.)", r"\1", literal[0][1:-1], flags=re.S)
    return "'" + plain.replace("'", "''") + "'"


@contextmanager
def msql_server() -> Iterator[MsqlServer]:
    """A server on a free port of this machine until the end of the block."""
    with MsqlServer() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def server() -> Iterator[MsqlServer]:
    with msql_server() as running:
        yield running


def _url(server: MsqlServer, database: str = "e831") -> str:
    return f"msql://accel@127.0.0.1:{server.port}/{database}"


@pytest.mark.parametrize("test", ["load", "append", "update", "select"])
def test_e831_runs_as_far_as_msql_can_express_it(
    assay: Assay, server: MsqlServer, test: str
) -> None:
    words = [] if test == "load" else ["--set", "updates=20"]
    ended = assay("run", f"e831.{test}", "--on", _url(server), "--set", "records=40", *words)
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.driven is not None
    expected = {"load": 40, "append": 20, "update": 20, "select": 40}[test]
    assert run.driven.outcomes.ok == expected, run.driven.errors
    inserts = [text for text in server.statements if text.lower().startswith("insert")]
    assert len(inserts) == {"load": 40, "append": 60, "update": 60, "select": 40}[test]
    assert server.statements[-1] == "DROP TABLE data", "nothing is left behind"


def test_sets_at_once_leave_the_rows_of_a_single_client(assay: Assay, server: MsqlServer) -> None:
    for stagger_s in ("0.05", "0.5", "0.1") * 3:
        ended = assay(
            "run", "e831.reliability", "--on", _url(server), "--set", "updates=3",
            "--set", f"stagger_s={stagger_s}", "--clients", "3",
        )  # fmt: skip
        if not is_delayed(ended):
            break
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    sets = [check["ok"] for check in run.checks if check["id"].startswith("set ")]
    assert len(sets) == 3 and set(sets) <= {True, None}, run.checks
    assert run.driven is not None and run.driven.outcomes.ok == 9


def test_what_it_cannot_express_is_refused_with_the_reason(
    assay: Assay, server: MsqlServer
) -> None:
    for test, reason in [
        ("e831.contention", "mSQL has no transactions"),
        ("tpcb", "mSQL has no transactions"),
    ]:
        ended = assay("run", test, "--on", _url(server))
        assert reason in ended.out + ended.err
        assert not [text for text in server.statements if text.startswith("CREATE")]


def test_what_it_can_do_it_does_as_every_system(assay: Assay, server: MsqlServer) -> None:
    ended = assay("verify", _url(server))
    assert ended.status == 0, ended.out
    assert "14 met" in ended.err


def test_values_are_read_back_as_they_were_written(server: MsqlServer) -> None:
    choice = SystemChoice("msql", url=_url(server))
    with MSQL.attach(choice) as deployment:
        assert deployment.version == "mSQL 1.0.16"
        with session(deployment.address) as opened:
            opened.execute("create table t (a int, b char(80))")
        text = "it's a \\ back\nslash, ä ☃ and 1:2"
        table = {
            "name": "t",
            "bulk": "INSERT INTO t (a, b) VALUES",
            "form": "multi-row",
            "types": ["int", "char(80)"],
        }
        document = {
            "deployment": deployment.address.for_engine().plain,
            "tables": [table],
            "checksums": True,
        }
        rows = [(number, text if number % 2 else None) for number in range(1000)]
        report = json.loads(_engine.load(json.dumps(document), {"t": rows}))
        (loaded,) = report["tables"]
        assert (loaded["rows"], loaded["affected"]) == (1000, 1000)
        with session(deployment.address) as opened:
            assert opened.execute("select b from t where a = 1").rows == [(text,)]
            found = opened.digest("select a, b from t", ["int", "char(80)"])
            assert found == (1000, loaded["checksum"])
            with pytest.raises(_engine.EngineError) as caught:
                opened.execute(DIALECT.exists("nowhere"))
            assert caught.value.error_class == "unknown object"
            with pytest.raises(_engine.EngineError) as caught:
                opened.execute("select count(*) from t")
            assert caught.value.error_class == "syntax"
            assert opened.execute("select a from t where a = 7").rows == [("7",)], "it goes on"


def test_a_row_that_msql_cannot_hold_ends_the_load(server: MsqlServer) -> None:
    with MSQL.attach(SystemChoice("msql", url=_url(server))) as deployment:
        with session(deployment.address) as opened:
            opened.execute("create table t (a int)")
        bulk = {"name": "t", "bulk": "INSERT INTO t (a) VALUES", "form": "multi-row", "types": []}
        document = {"deployment": deployment.address.for_engine().plain, "tables": [bulk]}
        rows = [(number,) for number in (1, 2, 2**31, 3)]
        with pytest.raises(_engine.EngineError, match="32 bits"):
            _engine.load(json.dumps(document), {"t": rows})


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("msql://u:secret@h/d", "has a password"),
        ("msql://u@h", "names no database"),
        ("msql://u@h:x/d", "the URL's port: expected a number from 0 to 65535, found x"),
        ("msql://u@h:0/d", "port=0 in the URL: expected a number from 1 to 65535"),
        ("msql://u@h/d?tls=on", "parameters"),
        ("msql://u@h/d?socket=/tmp/s", "both"),
    ],
)
def test_bad_urls_are_refused(url: str, words: str) -> None:
    with pytest.raises(ArgumentError, match=words) as caught:
        MSQL.check_url(url)
    assert "secret" not in f"{caught.value.message}{caught.value.hint}"


def test_the_table_of_e831_as_msql_has_it() -> None:
    (table,) = read("e831").tables
    assert DIALECT.create_table(table, {}) == [
        "CREATE TABLE data (\n  name char(16) not null,\n  start int not null,\n"
        "  exp int not null,\n  val int not null,\n  lo int not null,\n  hi int not null\n)"
    ]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (Table("t", (Column("a", "bigint"),)), "no type for the column a, which is bigint"),
        (Table("t", (Column("a" * 21, "int"),)), "longer than 20"),
        (Table("t", tuple(Column(f"a{n}", "int") for n in range(41))), "at most 40"),
    ],
)
def test_tables_that_msql_cannot_hold_are_refused(table: Table, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        DIALECT.create_table(table, {})

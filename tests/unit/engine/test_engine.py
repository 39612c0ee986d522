"""What the engine is given from Python: scripts with mistakes, drivers of modules, its descriptors
and its processors."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from assay import _engine
from running import started
from waiting import wait_until

BAD = [
    ("SELECT 1;\n  \\endfi", (2, 3), "found \\endfi", "did you mean \\endif?"),
    ("SELECT :x;", (1, 8), "nothing sets the variable :x", "\\set x"),
    ("\\set x radnom(1, 2)", (1, 8), "expected a function, found radnom", "did you mean random?"),
    ("DELETE FROM :{tabel};", (1, 13), "nothing declares the identifier", "did you mean :{table}?"),
    ("\\begin serialisable", (1, 1), "expected an isolation level", "did you mean serializable?"),
    ("A;\n\\shell date", (2, 1), "which is not allowed here", "--allow-shell"),
    ("\\think normal:1s", (1, 8), "expected a distribution", "exponential:12s,120s"),
    ("\\set x 1 / (:scale - 10)", (1, 10), "division by zero: 1 / 0", ""),
]


def document(text: str) -> str:
    return json.dumps(
        {
            "scripts": [{"name": "bad", "path": "bad.sql", "text": text}],
            "variables": {"scale": 10},
            "identifiers": {"table": ["a", "b"]},
            "begins": {"": ["BEGIN"], "serializable": ["BEGIN ISOLATION LEVEL SERIALIZABLE"]},
            "order": "sequence",
            "clients": 1,
            "seed": 1,
            "stop": {"passes": 1},
        }
    )


@pytest.mark.parametrize(("text", "place", "message", "hint"), BAD)
def test_a_mistake_is_reported_with_its_place_and_its_fix(
    text: str, place: tuple[int, int], message: str, hint: str
) -> None:
    with pytest.raises(_engine.EngineError) as caught:
        _engine.explain(document(text))
    error = caught.value
    assert (error.kind, error.file, (error.line, error.column)) == ("script", "bad.sql", place)
    assert message in error.message
    assert hint in (error.hint or "")


class Cursor:
    rowcount = 1

    def __init__(self, calls: list[Any], module: ModuleType) -> None:
        self._calls = calls
        self._module = module
        self.description: list[tuple[str]] | None = None
        self._rows: list[list[object]] = []

    def execute(self, text: str, *values: Any) -> None:
        self._calls.append((text, *values))
        if "fail" in text:
            raise self._module.IntegrityError("no")
        is_query = text.startswith("SELECT")
        self.description = [("a",), ("b",)] if is_query else None
        self._rows = [[1, None], [2, "x"]] if is_query else []

    def executemany(self, text: str, values: list[Any]) -> None:
        self._calls.append((text, values))

    def fetchmany(self, size: int) -> list[list[object]]:
        taken, self._rows = self._rows[:size], self._rows[size:]
        return taken

    def close(self) -> None:
        pass


class Connection:
    def __init__(self, calls: list[Any], module: ModuleType) -> None:
        self._calls = calls
        self._module = module

    def cursor(self) -> Cursor:
        return Cursor(self._calls, self._module)

    def commit(self) -> None:
        self._calls.append("commit")

    def rollback(self) -> None:
        self._calls.append("rollback")

    def close(self) -> None:
        self._calls.append("close")


class WithSwitch(Connection):
    def set_autocommit(self, on: bool) -> None:
        self._calls.append(f"autocommit {on}")


class Module(ModuleType):
    paramstyle = "qmark"

    class IntegrityError(Exception):
        pass

    def __init__(self, connection: type[Connection]) -> None:
        super().__init__("invented_dbapi")
        self.calls: list[Any] = []
        self._connection = connection

    def connect(self, **keywords: object) -> Connection:
        self.calls.append(keywords)
        return self._connection(self.calls, self)


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def made(connection: type[Connection] = Connection) -> Module:
        module = Module(connection)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return module

    yield made


def deployment(password: str | None = None, **options: str) -> dict[str, Any]:
    return {
        "driver": "dbapi",
        "password": password,
        "options": {"module": "invented_dbapi", **options},
    }


def driven(script: str, **options: str) -> Any:
    """The observation of one pass of one client."""
    document = {
        "deployment": deployment(**options),
        "scripts": [{"name": "s", "path": "s.sql", "text": script}], "order": "sequence",
        "clients": 1, "protocol": "prepared", "stop": {"passes": 1}, "seed": 1,
    }  # fmt: skip
    return json.loads(_engine.drive(json.dumps(document)))


@pytest.mark.parametrize(
    ("style", "text", "values"),
    [
        ("qmark", "SELECT ? || 'a%b' || ?", (5, "t")),
        ("numeric", "SELECT :1 || 'a%b' || :2", (5, "t")),
        ("named", "SELECT :p1 || 'a%b' || :p2", {"p1": 5, "p2": "t"}),
        ("format", "SELECT %s || 'a%%b' || %s", (5, "t")),
        ("pyformat", "SELECT %(p1)s || 'a%%b' || %(p2)s", {"p1": 5, "p2": "t"}),
    ],
)
def test_values_are_placed_in_the_style_of_the_module(
    modules: Any, style: str, text: str, values: object
) -> None:
    module = modules()
    module.paramstyle = style
    observed = driven("\\set a 5\n\\set b 't'\nSELECT :a || 'a%b' || :b;\nSELECT 'a%b';\n")
    assert observed["outcomes"]["ok"] == 1, observed["errors"]
    sent = [call for call in module.calls if isinstance(call, tuple)]
    assert sent == [(text, values), ("SELECT 'a%b'",)]


SCRIPT = """
\\begin
UPDATE t SET a = 1;
\\commit
UPDATE t SET a = 2;
BEGIN;
UPDATE t SET a = 3;
ROLLBACK;
"""


def statements_of(module: Any) -> list[str]:
    """The calls in order, without the one that connects."""
    return [one[0] if isinstance(one, tuple) else one for one in module.calls[1:]]


A, B, C = (f"UPDATE t SET a = {number}" for number in (1, 2, 3))
ON, OFF = "autocommit True", "autocommit False"


@pytest.mark.parametrize(
    ("connection", "options", "statements"),
    [
        (Connection, {}, [A, "commit", B, "commit", C, "rollback"]),
        (WithSwitch, {}, [ON, OFF, A, "commit", ON, B, OFF, C, "rollback"]),
        (WithSwitch, {"begin": "START TRANSACTION"},
         [ON, "START TRANSACTION", A, "COMMIT", B, "BEGIN", C, "ROLLBACK"]),
    ],
    ids=["each is committed", "switched where the next needs it", "a statement begins"],
)  # fmt: skip
def test_statements_outside_a_transaction_are_committed(
    modules: Any, connection: type[Connection], options: dict[str, str], statements: list[str]
) -> None:
    module = modules(connection)
    driven(SCRIPT, **options)
    assert statements_of(module) == [*statements, "close"]


@pytest.mark.parametrize("begin", ["", "BEGIN"])
def test_after_an_error_the_transaction_is_rolled_back(modules: Any, begin: str) -> None:
    module = modules(WithSwitch)
    observed = driven("\\begin\nINSERT fail;\n\\commit\n", begin=begin)
    assert observed["outcomes"]["failed"] == 1
    (error,) = observed["errors"]
    assert (error["class"], error["certainty"]) == ("constraint", "undone")
    assert ("ROLLBACK" if begin else "rollback") in statements_of(module)
    assert "COMMIT" not in statements_of(module) and "commit" not in statements_of(module)


def test_a_password_goes_by_the_keyword_of_the_module_and_into_no_message(modules: Any) -> None:
    module = modules()
    keywords = json.dumps({"host": "h"})
    opened = _engine.Session(
        json.dumps(deployment("geheim", password_keyword="pwd", keywords=keywords))
    )
    assert module.calls[0] == {"host": "h", "pwd": "geheim"}
    opened.close()

    def connect(**keywords: object) -> None:
        raise Module.IntegrityError(f"cannot connect with {keywords}")

    module.connect = connect
    with pytest.raises(_engine.EngineError, match="cannot connect with") as raised:
        _engine.Session(json.dumps(deployment("geheim", password_keyword="pwd")))
    assert "geheim" not in str(raised.value)


def test_rows_are_lists_or_tuples_with_none_for_null(modules: Any) -> None:
    modules()
    opened = _engine.Session(json.dumps(deployment()))
    found = opened.execute("SELECT a, b FROM t")
    assert (found.columns, found.rows) == (["a", "b"], [("1", None), ("2", "x")])
    assert opened.execute("UPDATE t").affected == 1
    opened.close()


def test_a_file_stays_open_and_a_number_without_a_file_is_refused(tmp_path: Path) -> None:
    bibliography = tmp_path / "a.bib"
    bibliography.write_text("@Article{a, title = {T}}\n")
    document = json.dumps({"files": [str(bibliography)]})
    out = tmp_path / "copy.bib"
    with out.open("wb", buffering=0) as file:
        _engine.bib_replicate(document, file.fileno())
        file.write(b"% the end\n")
    assert out.read_bytes().endswith(b"% the end\n") and b"@" in out.read_bytes()
    closed = os.open(out, os.O_WRONLY)
    os.close(closed)
    for number in (closed, -1):
        with pytest.raises(OSError, match="Bad file descriptor"):
            _engine.bib_replicate(document, number)


ALLOWED = sorted(os.sched_getaffinity(0))


def processors_of_threads(process: int) -> Iterator[str]:
    """As ``0``, ``0-1``: what each thread of it may use."""
    for status in Path(f"/proc/{process}/task").glob("*/status"):
        with contextlib.suppress(OSError):  # it has ended
            for line in status.read_text("utf-8").splitlines():
                if line.startswith("Cpus_allowed_list:"):
                    yield line.split()[1]


@pytest.mark.slow
@pytest.mark.skipif(len(ALLOWED) < 2, reason="there is one processor")
def test_a_thread_with_few_clients_stays_on_a_processor_of_its_own(tmp_path: Path) -> None:
    threads = str(len(ALLOWED))
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    words = ("run", "one.sql", "--on", "null[protocol=postgresql]", "--duration", "600")
    with started(tmp_path, *words, "--clients", threads, "--threads", threads) as run:
        wanted = {str(one) for one in ALLOWED}
        wait_until(
            lambda: wanted <= set(processors_of_threads(run.pid)),
            "each of its threads has a CPU of its own",
            goes_on=lambda: run.poll() is None,
        )

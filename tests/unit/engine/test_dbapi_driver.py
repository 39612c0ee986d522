"""The driver that calls DB-API modules: how a module is called, in each parameter style and with
each way to end transactions."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from assay import _engine


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
        "scripts": [{"name": "s", "path": "s.sql", "text": script}],
        "order": "sequence",
        "clients": 1,
        "protocol": "prepared",
        "stop": {"passes": 1},
        "seed": 1,
    }
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


def test_without_autocommit_each_statement_outside_a_transaction_is_committed(modules: Any) -> None:
    module = modules()
    driven(SCRIPT)
    a, b, c = (f"UPDATE t SET a = {number}" for number in (1, 2, 3))
    assert statements_of(module) == [a, "commit", b, "commit", c, "rollback", "close"]


def test_autocommit_is_switched_only_where_the_next_request_needs_it(modules: Any) -> None:
    module = modules(WithSwitch)
    driven(SCRIPT)
    on, off = "autocommit True", "autocommit False"
    a, b, c = (f"UPDATE t SET a = {number}" for number in (1, 2, 3))
    assert statements_of(module) == [on, off, a, "commit", on, b, off, c, "rollback", "close"]


def test_a_dialect_with_a_statement_that_begins_uses_statements(modules: Any) -> None:
    module = modules(WithSwitch)
    driven(SCRIPT, begin="START TRANSACTION")
    a, b, c = (f"UPDATE t SET a = {number}" for number in (1, 2, 3))
    assert statements_of(module) == [
        "autocommit True", "START TRANSACTION", a, "COMMIT", b, "BEGIN", c, "ROLLBACK", "close",
    ]  # fmt: skip


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


def test_a_module_that_is_missing_is_named(modules: Any) -> None:
    del modules
    with pytest.raises(_engine.EngineError, match="module no_such_module cannot be imported"):
        _engine.Session(json.dumps({"driver": "dbapi", "options": {"module": "no_such_module"}}))

"""Takes a script and its dialect; returns the tables and views that the script itself makes, and
the script without the statements that name one of them: before it has run they cannot be prepared.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from assay import _engine
from assay.contracts.dialects.protocol import Dialect, NamesTables

_META = re.compile(r"^[ \t]*\\[^\n]*", re.MULTILINE)
_VIEW = re.compile(r"create\s+(?:\w+\s+)*?view\s+(?:if\s+not\s+exists\s+)?([^\s(]+)", re.IGNORECASE)
_MAKING = ("create", "select")
"""SELECT … INTO makes a table."""


class OwnTables(NamedTuple):
    names: frozenset[str]
    """In lower case, without the quotes."""
    statements: tuple[str, ...]
    """Those that name one of them, in order."""

    def without(self, text: str) -> str:
        """The text without these statements; what is left stays in its line."""
        pieces, at = [], 0
        for statement in self.statements:
            begin = text.find(statement, at)
            if begin < 0:
                continue
            end = begin + len(statement)
            end += text[end : end + 1] == ";"
            pieces += [text[at:begin], "\n" * statement.count("\n")]
            at = end
        return "".join([*pieces, text[at:]])


def own_tables(text: str, dialect: Dialect) -> OwnTables:
    """No tables where the dialect does not find those that a statement names."""
    found = [one for one, *_ in statements(text, dialect)]
    if not isinstance(dialect, NamesTables):
        return OwnTables(frozenset(), ())
    made = frozenset(name for one in found for name in _made(one, dialect))
    return OwnTables(made, tuple(one for one in found if made & named(one, dialect)))


def statements(text: str, dialect: Dialect) -> list[tuple[str, int, int]]:
    """(statement, line, column), without meta commands; none where they cannot be cut apart."""
    try:
        bare = _META.sub(lambda line: " " * len(line[0]), text)
        return _engine.split_statements(bare, "", dialect.literal_style)
    except _engine.EngineError:
        return []


def named(statement: str, dialect: Dialect) -> frozenset[str]:
    """The tables that the statement names, as `OwnTables.names` has them."""
    if not isinstance(dialect, NamesTables):
        return frozenset()
    found = dialect.tables_named(statement)
    return frozenset(map(_plain, (*found.read, *found.added_to, *found.changed, *found.made)))


def _made(statement: str, dialect: NamesTables) -> frozenset[str]:
    if not statement.lower().startswith(_MAKING):
        return frozenset()
    view = _VIEW.match(statement)
    made = {*dialect.tables_named(statement).made, *([view[1]] if view else [])}
    return frozenset(map(_plain, made))


def _plain(name: str) -> str:
    return re.sub(r'["`\[\]]', "", name).casefold()

"""Takes a statement of SQL, or of a language that is like it; returns the tables that it names,
apart from those that it makes itself, and whether it only reads."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from msgspec import Struct, field

from assay.contracts.dialects import NamedTables
from assay.text import pattern

_TOKEN = pattern(
    r"""(?P<left_out>\s+|--[^\n]*|/\*.*?\*/|(?P<dollar>\$\w*\$).*?(?P=dollar)|'(?:[^']|'')*')
    |(?P<name>"(?:[^"]|"")*"|`[^`]*`|:?[^\W\d][\w$\#@]*|@\w+)
    |(?P<other>\d[\w.]*|.)""",
    re.VERBOSE | re.DOTALL,
)
_WORDS_BEHIND_TABLES = """
    where group having order limit union except intersect minus select set values returning window
    offset fetch when with qualify
"""
_WORDS_OF_STATEMENTS = """
    select with insert update delete merge replace create explain copy truncate table
"""
_STATEMENTS = frozenset(_WORDS_OF_STATEMENTS.split())
_BEFORE_TABLES = {"from", "join", "using"}
_END_OF_TABLES = frozenset(_WORDS_BEHIND_TABLES.split())
_NO_TABLES = {"lateral", "only", "table", "unnest", "rows", "if", "not", "exists", "ignore"}
"""Words that may stand before the name of a table, or in its place."""
_CALLS = {"call", "exec", "execute", "do", "perform"}
_PLACE_OF_ROWS = {"stdin", "stdout", "program"}
"""Of a copy: rows that come from the client."""


class _Level(Struct):
    """What stands between two parentheses, or outside all."""

    first: str = ""
    """Its first word, in lower case: only a query, or a statement, has tables behind FROM."""
    is_list: bool = False
    """Whether a comma is followed by a table."""
    expects: str = ""
    """``read``, ``changed``, ``added`` or ``made``: what the next name is; empty: no table."""


class _Found(Struct):
    read: set[str] = field(default_factory=set)
    added: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)

    def add(self, kind: str, name: str) -> None:
        {"added": self.added, "made": self.made}.get(kind, self.read).add(name)
        if kind in {"added", "changed"}:
            self.changed.add(name)


def tables_named(statement: str, catalogue: Collection[str] = ()) -> NamedTables:
    """``catalogue``: how the names of the system's own tables begin, in lower case; they are left
    out."""
    tokens = list(_tokens(statement))
    found = _Found()
    levels = [_Level()]
    position = 0
    while position < len(tokens):
        token = tokens[position]
        word, level = token.lower(), levels[-1]
        before = tokens[position - 1].lower() if position else ""
        position += 1
        if token == "(":
            # Behind FROM stand a query, or tables that are joined.
            is_joined = level.expects == "read"
            levels.append(_Level(expects=level.expects if is_joined else "", is_list=is_joined))
            level.expects = ""
        elif token == ")":
            if len(levels) > 1:
                levels.pop()
        elif token == ",":
            level.expects = "read" if level.is_list else ""
        elif level.expects and _is_name(token) and word not in _NO_TABLES | _STATEMENTS:
            name, position = _whole_name(tokens, position - 1)
            is_call = tokens[position : position + 1] == ["("] and level.expects == "read"
            if not is_call and word not in _PLACE_OF_ROWS:
                found.add(level.expects, name)
            level.expects = ""
        else:
            level.first = level.first or word
            _note(word, before, level, tokens[position : position + 1])
            if word in {"as", "materialized"} and tokens[position : position + 1] == ["("]:
                found.made |= _made_by_with(tokens, position - 1)
    own = {name.casefold() for name in found.made}

    def known(names: Collection[str]) -> frozenset[str]:
        return frozenset(
            name
            for name in names
            if name.casefold() not in own and not name.lower().startswith(tuple(catalogue))
        )

    callees = (name for name, after in pairwise(tokens) if after == "(" and _is_name(name))
    first = next((token.lower() for token in tokens), "")
    calls = first in _CALLS
    variable = next((name for name in (*found.read, *found.added) if name.startswith(":")), "")
    return NamedTables(
        known(found.read),
        known(found.added),
        known(found.changed),
        frozenset(found.made),
        f"{first.upper()} does not say which tables it reads"
        if calls
        else f"the table is a variable, {variable}"
        if variable
        else "",
        frozenset() if calls else frozenset(name.strip('"`').lower() for name in callees),
    )


def _note(word: str, before: str, level: _Level, following: list[str]) -> None:
    """What a word that names no table says of those that follow it."""
    is_statement = level.first in _STATEMENTS or level.is_list
    if word in _BEFORE_TABLES and is_statement and before != "distinct":
        if word != "using" or following != ["("]:
            level.expects, level.is_list = "changed" if before == "delete" else "read", True
    elif word == "into" and is_statement:
        # SELECT … INTO makes a table.
        level.expects = "made" if level.first == "select" else "added"
    elif word in {"update", "truncate"} and before not in {"for", "key", "do", "on", "then"}:
        level.expects = "changed"
    elif word == "table" and level.first in {"create", "alter", "drop"}:
        level.expects = "made"
    elif word == "copy" and level.first == "copy":
        level.expects = "read"
    elif word in _END_OF_TABLES:
        level.expects, level.is_list = "", False


def _tokens(statement: str) -> Iterator[str]:
    for match in _TOKEN.finditer(statement):
        if match["left_out"] is None:
            yield match[0]


def _is_name(token: str) -> bool:
    return token[0] in '"`:@_' or token[0].isalpha()


def _whole_name(tokens: list[str], position: int) -> tuple[str, int]:
    """``schema.table`` from ``position`` on, and the place behind it."""
    name, position = tokens[position], position + 1
    while tokens[position : position + 1] == ["."] and position + 1 < len(tokens):
        name, position = f"{name}.{tokens[position + 1]}", position + 2
    return name, position


def _made_by_with(tokens: list[str], at: int) -> set[str]:
    """The name before ``AS (`` or ``AS MATERIALIZED (``, with or without a list of columns: that of
    a query of WITH. An alias is never followed by a parenthesis."""
    before = at - 1
    while before >= 0 and tokens[before].lower() in {"as", "not"}:
        before -= 1
    if before >= 0 and tokens[before] == ")":
        depth = 0
        while before >= 0:
            depth += {")": 1, "(": -1}.get(tokens[before], 0)
            before -= 1
            if depth == 0:
                break
    return {tokens[before]} if before >= 0 and _is_name(tokens[before]) else set()


class NamedInText:
    """`assay.contracts.dialects.NamesTables` for SQL and languages that are like it.
    Limits of a statement's time are a server's own."""

    own_tables: tuple[str, ...] = ("information_schema.",)
    """How the names of the system's own tables begin, in lower case."""

    def tables_named(self, statement: str) -> NamedTables:
        return tables_named(statement, self.own_tables)

    def rows_of(self, table: str) -> str:
        return f"SELECT count(*) FROM {table}"

    def whole_rows(self, table: str) -> str:
        return f"SELECT * FROM {table}"

    def limit_statements(self, longest_s: float) -> list[str]:
        del longest_s
        return []


_READS = pattern(r"\s*(begin|commit|rollback|select)\b", re.IGNORECASE)
_QUOTED = pattern(r"""'(?:[^']|'')*'|"[^"]*"|\[[^\]]*\]|`[^`]*`""")
_NOT_CERTAIN = pattern(r"--|/[*/]|\\|;\s*\S|\bn?q'", re.IGNORECASE)
"""Comments, backslashes and quotes of one's own choice (``q'{…}'``), in which quotes do not count,
and further statements."""
_MAY_WRITE = pattern(
    r"\b(decr|delete|incr|insert|into|merge|next|next_?val(ue)?|update|with)\b", re.IGNORECASE
)
"""Counters and sequences change with a SELECT; SELECT INTO makes a table; a SELECT can be one FROM
what an INSERT changes, or FOR UPDATE."""
_CALLED = pattern(r"(\w+)\s*\(")
_READ_ONLY = frozenset(["and", "avg", "count", "in", "max", "min", "or", "sum", "values", "where"])
"""Words before a parenthesis that call nothing which could write."""


def only_reads(statement: str) -> bool:
    """Whether it is a SELECT that calls nothing but aggregates, or the end of a transaction; False
    where that is not certain. A name without parentheses is taken for a column."""
    text = _QUOTED.sub(" quoted ", statement)
    called = {word.lower() for word in _CALLED.findall(text)}
    return (
        _NOT_CERTAIN.search(statement) is None
        and _READS.match(text) is not None
        and _MAY_WRITE.search(text) is None
        and called <= _READ_ONLY
    )

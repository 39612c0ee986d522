"""Takes a text of a workload that is for all dialects, and a dialect; returns it as that dialect
has it: the text of its own or of its line, or the common one with names as it writes them.

Text in double quotes is a name there, as in standard SQL: ``"year"``. One that the workload
declares is written as in the statement that makes it, bare where the dialect does not reserve it;
any other one letter by letter, in the dialect's own quotes. ``{year(day)}`` is a word of the
dialect's `script_words` with its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from assay import _engine
from assay.contracts.dialects import QuotesNames, Table
from assay.contracts.documents import TextStyle
from assay.dialects.standard import StandardSql
from assay.errors import ArgumentError
from assay.text import pattern

INSTANCE = "{instance}"
"""The placeholder in a table's name for the number of the instance."""
LITERAL = pattern(r"'[^']*'|--[^\n]*")
"""A text, or a comment."""
VALUE = pattern(r"(?<![:\w]):\{?([A-Za-z_]\w*)")
"""Of a script, by its name."""
_BARE = pattern(r"(?<![\w:`\[])[A-Za-z_]\w*+(?!\s*\()")
_WORD = pattern(r"\{(" + "|".join(StandardSql.script_words) + r")(?:\}|\()")
_TOKEN = pattern(r"'(?:[^']|'')*'|.", re.DOTALL)
Own = TypeVar("Own")


class Speaks(Protocol):
    """A dialect, as far as texts are chosen by it."""

    @property
    def name(self) -> str: ...

    @property
    def language(self) -> str: ...


class Writes(Speaks, Protocol):
    """A dialect, as far as names are written by it."""

    @property
    def text_style(self) -> TextStyle: ...

    def identifier(self, name: str) -> str: ...


def lineage(dialect: Speaks) -> tuple[str, ...]:
    """The names by which a workload can mean the dialect, the nearest first: its own, those of the
    dialects that its class derives from, its language."""
    inherited = (vars(base).get("name") for base in type(dialect).__mro__)
    names = [dialect.name, *(name for name in inherited if isinstance(name, str))]
    return tuple(dict.fromkeys([*names, dialect.language]))


def own(texts: Mapping[tuple[str, str], Own], name: str, dialect: Speaks) -> Own | None:
    """What stands there for the dialect under this name, by `lineage`."""
    keys = ((line, name) for line in lineage(dialect))
    return next((texts[key] for key in keys if key in texts), None)


class DeclaredNames:
    """The names of the tables, columns, indexes and views that a workload declares."""

    def __init__(self, tables: Iterable[Table], views: Iterable[str] = ()) -> None:
        self._plain = set(views)
        for table in tables:
            self._plain |= {column.name for column in table.columns}
            self._plain |= {table.name, *(index.name for index in table.indexes)}
            self._plain |= {view.name for view in table.views}
        of_instances = (re.escape(name) for name in self._plain if INSTANCE in name)
        joined = "|".join(name.replace(re.escape(INSTANCE), r"\d+") for name in of_instances)
        self._of_instances = re.compile(joined or r"(?!)")

    def __contains__(self, name: str) -> bool:
        return name in self._plain or self._of_instances.fullmatch(name) is not None

    def written(self, text: str, dialect: Writes) -> str:
        """The text of a script, or of a statement, with its names and words as the dialect writes
        them. Raises `ArgumentError` for a word without its arguments."""
        text = with_words(text, getattr(dialect, "script_words", StandardSql.script_words))
        if '"' not in text:
            return text
        pieces = _engine.cut_at_names(text, dialect.text_style)
        pieces[1::2] = [self._written(piece, dialect) for piece in pieces[1::2]]
        return "".join(pieces)

    def reserved_in(self, statement: str, dialect: Writes) -> list[str]:
        """The declared names that stand bare in the statement, and that the dialect reserves. A
        word before a parenthesis may be a function's."""
        pieces = _engine.cut_at_names(LITERAL.sub("''", statement), dialect.text_style)
        found = dict.fromkeys(_BARE.findall(" ; ".join(pieces[::2])))
        return [word for word in found if word in self and dialect.identifier(word) != word]

    def _written(self, quoted: str, dialect: Writes) -> str:
        name = quoted[1:-1].replace('""', '"')
        if name in self:
            return dialect.identifier(name)
        return dialect.quoted(name) if isinstance(dialect, QuotesNames) else quoted


def with_words(text: str, words: Mapping[str, str] = StandardSql.script_words) -> str:
    """The text with what a dialect says in place of each word in braces; else as in standard
    SQL."""
    pieces, copied = list[str](), 0
    while found := _WORD.search(text, copied):
        arguments, end = list[str](), found.end()
        if found[0].endswith("("):
            arguments, end = _arguments(text, end)
        arguments = [with_words(one, words) for one in arguments]
        said = _said(words[found[1]], arguments)
        if said is None:  # an argument that other dialects do not need may be left out
            said = _said(StandardSql.script_words[found[1]], arguments)
        if said is None:
            word, form = text[found.start() : end], words[found[1]]
            raise ArgumentError(f"{word}: too few arguments for {form!r}")
        pieces += [text[copied : found.start()], said]
        copied = end
    return "".join([*pieces, text[copied:]])


def _said(form: str, arguments: list[str]) -> str | None:
    """None: too few arguments for the form."""
    try:
        return form.format(*arguments)
    except (IndexError, KeyError, ValueError):
        return None


def _arguments(text: str, start: int) -> tuple[list[str], int]:
    """The arguments of a word, cut at the commas that are in no parentheses, and the place behind
    its ``)}``."""
    arguments, depth = [""], 0
    for token in _TOKEN.finditer(text, start):
        if token[0] == ")" and not depth:
            if not text.startswith("}", token.end()):
                break
            return [one.strip() for one in arguments], token.end() + 1
        depth += {"(": 1, ")": -1}.get(token[0], 0)
        if token[0] == "," and not depth:
            arguments.append("")
        else:
            arguments[-1] += token[0]
    raise ArgumentError(f"{text[start:].splitlines()[0]}: expected )}} behind its arguments")

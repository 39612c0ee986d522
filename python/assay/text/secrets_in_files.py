"""Takes the text of a file that is shown or given to others; returns where passwords are in it.

Of less than `secrets.without_secrets` hides, which may hide too much: a file has columns that are
called password, and prose about them. Found are URLs and connection strings with a password, and
the forms of `secret_forms`: statements that give a server one, tokens, headers and keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.text.secret_forms import (
    ANYWHERE,
    COMMANDS,
    DOCUMENTS,
    IN_URLS,
    SIGN,
    STATEMENTS,
    VALUE,
)
from assay.text.secrets import HIDDEN, NAME, URL_PASSWORD, is_connection_string

_NO_PASSWORD = re.compile(
    r"[:@$]\w[\w.]*|[$%]?\{[^{}]*\}|\?|%\w|<[^<>]*>|…|\.\.\.|\**|[A-Z_]*PASSWORD", re.DOTALL
)
"""What stands in the place of a value: a parameter, or what a hint writes."""
_QUOTES = re.compile(r"\A(?:\$\w*\$|['\"\\]+)|(?:\$\w*\$|['\"\\]+)\Z")
_PAIRS = re.compile(rf"\b{NAME}\s*(?:=|%3d)\s*(?P<value>{VALUE})", re.IGNORECASE)
_URL = re.compile(r"\w://[^\s'\"<>]+")
_OTHER = (
    r"(?:host|hostaddr|server|addr|address|port|user|uid|user\s?name|dbname|database|dsn|"
    rf"data\s+source|initial\s+catalog|user\s+id)=(?:{VALUE})"
)
_PAIR = rf"{NAME}=(?P<value>{VALUE})"
_BETWEEN = rf"(?:[ \t]*;[ \t]*|[ \t]+)(?:\w+=(?:{VALUE})(?:[ \t]*;[ \t]*|[ \t]+)){{0,20}}"
_CONNECTION_STRINGS = (
    re.compile(rf"\b{_OTHER}{_BETWEEN}{_PAIR}", re.IGNORECASE),
    re.compile(rf"\b{_PAIR}{_BETWEEN}{_OTHER}", re.IGNORECASE),
)
_COMMENT_OR_LITERAL = re.compile(
    r"(?P<literal>'(?:[^']|'')*')|\"[^\"\n]*\"|--[^\n]*|/\*.*?\*/|^[ \t]*(?:#|//)[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_MOST_NESTED = 3
"""Literals in literals: a statement that a function is given to run."""


def line_with_password(text: str) -> int | None:
    """The number of the first line with one, of a file with statements."""
    first = min((start for start, _ in _places(text)), default=None)
    return None if first is None else text.count("\n", 0, first) + 1


def has_password(line: str) -> bool:
    """Whether a line of prose or of data has one, in which there are no statements."""
    return any(True for _ in _in_words(line))


def without_file_passwords(text: str) -> str:
    """The text of a file with statements, with `HIDDEN` in place of each."""
    shown: list[str] = []
    end = 0
    for start, stop in sorted(_places(text)):
        if start >= end:
            shown += text[end:start], HIDDEN
        end = max(end, stop)
    return "".join(shown) + text[end:]


def _places(text: str) -> Iterator[tuple[int, int]]:
    """Where a password begins and ends."""
    yield from _in_words(text)
    if SIGN.search(text):
        yield from _values(text, *COMMANDS, *DOCUMENTS)
        yield from _in_statements(text, 0)


def _in_words(text: str) -> Iterator[tuple[int, int]]:
    """In URLs and connection strings."""
    if "://" in text:
        for found in URL_PASSWORD.finditer(text):
            yield found.end(1), found.end() - 1
        for found in _URL.finditer(text):
            yield from _moved(_values(found[0], _PAIRS, *IN_URLS), found.start())
    yield from _values(text, *ANYWHERE)
    if "=" in text and SIGN.search(text):
        yield from _values(text, *_CONNECTION_STRINGS)


def _moved(places: Iterator[tuple[int, int]], by: int) -> Iterator[tuple[int, int]]:
    return ((start + by, end + by) for start, end in places)


def _values(text: str, *patterns: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    for pattern in patterns:
        for found in pattern.finditer(text):
            plain = _QUOTES.sub("", found["value"])
            if not _NO_PASSWORD.fullmatch(plain):
                yield found.span("value")


def _in_statements(text: str, nested: int) -> Iterator[tuple[int, int]]:
    """``nested``: in so many literals."""
    code = _COMMENT_OR_LITERAL.sub(_code, text)
    yield from _values(code, *STATEMENTS)
    for found in _COMMENT_OR_LITERAL.finditer(text):
        literal = found["literal"]
        if not literal or nested == _MOST_NESTED or not SIGN.search(literal):
            continue
        # As long as it was, so that a place in it is one of the text.
        inner = literal[1:-1].replace("''", " '")
        if is_connection_string(inner):
            places = _values(inner, _PAIRS)
        else:
            places = _in_statements(inner, nested + 1)
        yield from _moved(places, found.start() + 1)


def _code(token: re.Match[str]) -> str:
    """Blanks in place of a comment."""
    text = token[0]
    return text if text[0] in "'\"" else re.sub(r"[^\n]", " ", text)

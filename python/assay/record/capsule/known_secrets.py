"""Takes the members of a capsule that is to be packed; insists that none of them holds a password:
one of a URL or a connection string, a token, or one that the environment has for a server.

A script's own statements are looked at in `named_files`, where the error can name the line. Here it
is what a record keeps of a run: messages, documents, the command.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

from assay import registry
from assay.errors import InputError
from assay.record.capsule import input_files, layout
from assay.record.file import long_texts
from assay.record.file.read_only import open_for_reading
from assay.record.file.record_file import reading_errors
from assay.text import secrets_in_files

_NAME = re.compile(r"(?:passw(?:or)?d|passphrase|_pwd)$", re.IGNORECASE)
"""Of a variable of the environment. ``PWD`` is a directory."""
_WHOLE: Final = (layout.REPORT, layout.FACTS, layout.EXPERIMENT)
_LEAST_CHARACTERS: Final = 6
"""Of a known password: a shorter one is part of many words."""


def insist_on_none(
    members: Mapping[str, Path], environment: Mapping[str, str] = os.environ
) -> None:
    """``members``: by name, the files with their content. Raises `InputError`."""
    known = _known(environment)
    for name, file in members.items():
        if name == layout.RECORD:
            for place, text in _of_record(file):
                _insist(f"{name}, {place}", text, known, has_words=True)
        elif name in _WHOLE:
            # The report is made of the record, and escapes what it shows.
            text = file.read_text(encoding="utf-8")
            _insist(name, text, known, has_words=name != layout.REPORT)
        elif known:
            for line in input_files.lines(file):
                _insist(name, line, known, has_words=False)


def _known(environment: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    """By the name of the variable. A password that is a common word of a record (the name of a
    system, of the user) hides nothing, and would be found everywhere."""
    words = {*registry.systems(), environment.get("USER", ""), "password"}
    words |= {scheme for one in registry.systems() for scheme in registry.url_schemes(one)}
    return {
        name: re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, _spellings(value)))})(?!\w)")
        for name, value in environment.items()
        if _NAME.search(name)
        and len(value) >= _LEAST_CHARACTERS
        and value.lower() not in {word.lower() for word in words}
    }


def _spellings(value: str) -> list[str]:
    """As texts, URLs, documents and pages write it."""
    return sorted({value, quote(value, safe=""), json.dumps(value)[1:-1], html.escape(value)})


def _insist(
    place: str, text: str, known: Mapping[str, re.Pattern[str]], *, has_words: bool
) -> None:
    for name, value in known.items():
        if value.search(text):
            raise _holds(f"the password of the environment's {name}", place)
    if has_words and secrets_in_files.has_password(text):
        raise _holds("a password or a token", place)


def _holds(what: str, place: str) -> InputError:
    return InputError(
        f"holds {what}: expected none, as a capsule is for others",
        file=place,
        hint="run the experiment again without it in a script, a title or a name, and pack that",
    )


def _of_record(file: Path) -> Iterator[tuple[str, str]]:
    """Each text of the record with its table."""
    with closing(open_for_reading(file)) as connection, reading_errors(file):
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        for (table,) in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                yield from ((f"table {table}", one) for one in row if isinstance(one, str))
        for text in long_texts.every(connection):
            yield "long texts", text

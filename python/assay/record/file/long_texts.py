"""Takes scripts and documents with long texts, such as a statement of 10 MB; keeps each text once,
compressed, by its digest, and gives it back where it stood.

Every run of an experiment sends the same statements, and the answers to them name them again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from typing import Final

from assay.contracts.observation import ShapeError

LEAST_CHARACTERS: Final = 100_000
"""Of a text that is kept apart: most are shorter, and can be read with SQL where they stand."""
_REFERENCE: Final = "$text"

Texts = Mapping[str, str]
"""By their digests."""
NO_TEXTS: Final[Texts] = {}


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def apart(document: str) -> tuple[str, Texts]:
    """The JSON document with references in place of long texts, and these."""
    if len(document) < LEAST_CHARACTERS:
        return document, {}
    found: dict[str, str] = {}
    short = _without(json.loads(document), found)
    return (json.dumps(short, ensure_ascii=False), found) if found else (document, {})


def _without(value: object, texts: dict[str, str]) -> object:
    if isinstance(value, dict):
        return {key: _without(item, texts) for key, item in value.items()}
    if isinstance(value, list):
        return [_without(item, texts) for item in value]
    if isinstance(value, str) and len(value) >= LEAST_CHARACTERS:
        digest = digest_of(value)
        texts[digest] = value
        return {_REFERENCE: digest}
    return value


def keep(connection: sqlite3.Connection, texts: Texts) -> None:
    """Those that are not there yet."""
    for digest, text in texts.items():
        question = "SELECT 1 FROM texts WHERE digest = ?"
        if connection.execute(question, (digest,)).fetchone() is None:
            content = zlib.compress(text.encode())
            connection.execute("INSERT INTO texts VALUES (?, ?)", (digest, content))


def add(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Those that the target has not."""
    for digest, content in source.execute("SELECT digest, content FROM texts"):
        target.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (digest, content))


def every(connection: sqlite3.Connection) -> Iterator[str]:
    """All of the record."""
    for (content,) in connection.execute("SELECT content FROM texts"):
        yield zlib.decompress(content).decode()


class LongTexts:
    """Of a record; each is read once."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: dict[str, str] = {}

    def text(self, digest: str) -> str:
        """Raises `ShapeError` where it is damaged or not there."""
        if digest not in self._known:
            question = "SELECT content FROM texts WHERE digest = ?"
            row = self._connection.execute(question, (digest,)).fetchone()
            if row is None:
                raise ShapeError(f"the text {digest[:12]}: expected it in the table texts")
            try:
                self._known[digest] = zlib.decompress(row[0]).decode()
            except zlib.error as error:
                raise ShapeError(f"the text {digest[:12]}: {error}") from error
        return self._known[digest]

    def whole(self, document: str) -> str:
        """The JSON document with its long texts."""
        if f'"{_REFERENCE}"' not in document:
            return document
        return json.dumps(self._with_texts(json.loads(document)), ensure_ascii=False)

    def _with_texts(self, value: object) -> object:
        if isinstance(value, dict):
            digest = value.get(_REFERENCE)
            if isinstance(digest, str) and len(value) == 1:
                return self.text(digest)
            return {key: self._with_texts(item) for key, item in value.items()}
        return [self._with_texts(item) for item in value] if isinstance(value, list) else value

"""Takes what Assay records; returns it as JSON text without its passwords; keeps each long text
once, compressed, by its digest."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from assay.contracts import server_url
from assay.contracts.observation import ShapeError
from assay.text.keys import field_names
from assay.text.secrets import HIDDEN, is_secret, without_secrets

LEAST_CHARACTERS: Final = 100_000
"""Of a text that is kept apart: most are shorter, and can be read with SQL where they stand."""
_REFERENCE: Final = "$text"

Texts = Mapping[str, str]
"""By their digests."""
NO_TEXTS: Final[Texts] = {}


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def texts_apart(document: str) -> tuple[str, Texts]:
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


def keep_texts(connection: sqlite3.Connection, texts: Texts) -> None:
    """Those that are not there yet."""
    for digest, text in texts.items():
        question = "SELECT 1 FROM texts WHERE digest = ?"
        if connection.execute(question, (digest,)).fetchone() is None:
            content = zlib.compress(text.encode())
            connection.execute("INSERT INTO texts VALUES (?, ?)", (digest, content))


def add_texts(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    """Those that the target has not."""
    for digest, content in source.execute("SELECT digest, content FROM texts"):
        target.execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (digest, content))


def every_text(connection: sqlite3.Connection) -> Iterator[str]:
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


def json_text(value: object) -> str:
    """The value as JSON. Structs and dataclasses become objects, paths text; a lone surrogate (from
    a file name that is no UTF-8) becomes its escape, which SQLite can hold."""
    return storable(json.dumps(_plain(value), ensure_ascii=False, allow_nan=False))


def storable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _plain(value: object) -> Any:
    """Most values of a record are of the first classes: for them no other question is asked."""
    kind: Any = value.__class__
    if kind in _AS_THEY_ARE:
        return value
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, dict):
        return {str(key): _plain_item(str(key), item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [item if item.__class__ in _AS_THEY_ARE else _plain(item) for item in value]
    if (names := field_names(kind)) is not None:
        return {name: _plain_item(name, getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): _plain_item(str(key), item) for key, item in value.items()}
    return str(value) if isinstance(value, Path) else value


_AS_THEY_ARE = frozenset({int, float, bool, type(None)})


def _plain_item(key: str, value: object) -> Any:
    if value.__class__ in _AS_THEY_ARE:
        return value
    if isinstance(value, str | list | tuple) and _is_secret(key):
        return None if isinstance(value, str) else [_hidden(item) for item in value]
    if key == "url" and isinstance(value, str):
        value = server_url.with_hidden_password(value)
    return _plain(value)


def _hidden(value: object) -> Any:
    """Of several levels of a parameter with such a name, one."""
    return HIDDEN if isinstance(value, str) else _plain(value)


_is_secret = lru_cache(maxsize=4096)(is_secret)

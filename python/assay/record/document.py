"""Takes any value of ours; returns the JSON text that is kept, with every password taken out."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_SECRET_KEY = re.compile(r"(password|passwd|passphrase)$", re.IGNORECASE)
_SECRETS_IN_TEXT = (
    # ?password=secret in a URL, password=secret in a connection string
    (
        re.compile(r"\b(\w*passw(?:or)?d|passphrase|pwd)(\s*=\s*)('[^']*'|[^\s;&]+)", re.I),
        r"\1\2***",
    ),
    # scheme://user:secret@host; up to the last @, because a secret may hold an @ of its own
    (re.compile(r"(\w://[^\s/:@]*):\S*@"), r"\1:***@"),
)


def json_text(value: object) -> str:
    """The value as JSON. Dataclasses become objects, paths text; a lone surrogate (from a file name
    that is no UTF-8) becomes its escape, which SQLite can hold."""
    return storable(json.dumps(_plain(value), ensure_ascii=False, allow_nan=False))


def storable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def without_secrets(text: str) -> str:
    """The message without the passwords of URLs and connection strings."""
    for pattern, replacement in _SECRETS_IN_TEXT:
        text = pattern.sub(replacement, text)
    return text


def _plain(value: object) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _plain_item(field.name, getattr(value, field.name))
            for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {str(key): _plain_item(str(key), item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return without_secrets(value)
    return str(value) if isinstance(value, Path) else value


def _plain_item(key: str, value: object) -> Any:
    is_secret = isinstance(value, str) and _SECRET_KEY.search(key)
    return None if is_secret else _plain(value)

"""Takes any value that Assay records; returns it as JSON text without its passwords."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from assay.contracts import server_url
from assay.text.field_names import field_names
from assay.text.secrets import HIDDEN, is_secret, without_secrets


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
        return [_plain(item) for item in value]
    if (names := field_names(kind)) is not None:
        return {name: _plain_item(name, getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): _plain_item(str(key), item) for key, item in value.items()}
    return str(value) if isinstance(value, Path) else value


_AS_THEY_ARE = frozenset({int, float, bool, type(None)})


def _plain_item(key: str, value: object) -> Any:
    if isinstance(value, str | list | tuple) and _is_secret(key):
        return None if isinstance(value, str) else [_hidden(item) for item in value]
    if key == "url" and isinstance(value, str):
        value = server_url.with_hidden_password(value)
    return _plain(value)


def _hidden(value: object) -> Any:
    """Of several levels of a parameter with such a name, one."""
    return HIDDEN if isinstance(value, str) else _plain(value)


_is_secret = lru_cache(maxsize=4096)(is_secret)

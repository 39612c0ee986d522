"""Takes any value that Assay records; returns it as JSON text without its passwords."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.text.secrets import is_secret, without_secrets


def json_text(value: object) -> str:
    """The value as JSON. Dataclasses become objects, paths text; a lone surrogate (from a file name
    that is no UTF-8) becomes its escape, which SQLite can hold."""
    return storable(json.dumps(_plain(value), ensure_ascii=False, allow_nan=False))


def storable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _plain(value: object) -> Any:
    if isinstance(value, str):
        return without_secrets(value)
    if value is None or isinstance(value, int | float):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _plain_item(field.name, getattr(value, field.name))
            for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {str(key): _plain_item(str(key), item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def _plain_item(key: str, value: object) -> Any:
    return None if isinstance(value, str) and is_secret(key) else _plain(value)

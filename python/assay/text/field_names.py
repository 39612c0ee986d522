"""Takes a class; returns the names of its fields, where it is a Struct or a dataclass."""

from __future__ import annotations

import dataclasses
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=512)
def field_names(kind: Any) -> tuple[str, ...] | None:
    """None: it is neither."""
    if dataclasses.is_dataclass(kind):
        return tuple(field.name for field in dataclasses.fields(kind))
    return getattr(kind, "__struct_fields__", None)

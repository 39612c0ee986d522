"""Takes tables as Python has them; returns the text of a TOML file that says the same."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

Value = str | int | float | bool | Sequence["Value"] | Mapping[str, "Value"]
Table = Mapping[str, Value]
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(table: Table) -> str:
    """Its values first, then a heading for each table in it. Raises `ValueError` for a text that no
    TOML file can hold (a lone surrogate)."""
    text = "\n".join(_lines(table, ())) + "\n"
    text.encode("utf-8")
    return text


def _lines(table: Table, path: tuple[str, ...]) -> list[str]:
    lines = [
        f"{_key(name)} = {_value(value)}"
        for name, value in table.items()
        if not isinstance(value, Mapping)
    ]
    for name, value in table.items():
        if isinstance(value, Mapping):
            inner = (*path, name)
            found = _lines(value, inner)
            # A table of tables alone needs no heading of its own.
            is_named = not value or any(not isinstance(one, Mapping) for one in value.values())
            lines += ["", f"[{'.'.join(map(_key, inner))}]", *found] if is_named else found
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Value) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case int():
            return str(value)
        case float():
            return repr(value)
        case Mapping():
            inner = ", ".join(f"{_key(name)} = {_value(one)}" for name, one in value.items())
            return f"{{ {inner} }}"
        case _:
            return f"[{', '.join(map(_value, value))}]"


def _text(text: str) -> str:
    """A basic string of TOML has JSON's escapes; JSON leaves one control character as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

"""Takes a `Report`; returns it with every control character escaped, safe for a terminal or a page.

Text from a server, a file name or a script cannot move the cursor, change a colour or begin a
heading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import is_
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from assay.report.values import MadeWhenAsked, Report
from assay.text.field_names import field_names
from assay.text.visible import visible, visible_lines


def for_people(report: Report) -> Report:
    """The report with every text in it escaped; its title is one line."""
    shown: Report = _shown(report)
    return structs.replace(shown, title=" ".join(shown.title.split()))


Escape = Callable[[Any], Any]


class _Escapes(dict[Any, Escape | None]):
    """What escapes the values of a class, and returns a value itself where there is nothing to
    escape, as nearly always: a long report is not copied. None: they hold no text."""

    def __missing__(self, kind: Any) -> Escape | None:
        self[kind] = found = _escape_of(kind)
        return found


_ESCAPES = _Escapes()


def _shown(value: Any) -> Any:
    escape = _ESCAPES[value.__class__]
    return value if escape is None else escape(value)


def _escape_of(kind: Any) -> Escape | None:
    if names := field_names(kind):
        change = structs.replace if issubclass(kind, Struct) else replace
        return _of_fields(names, change)
    if issubclass(kind, str):
        return visible_lines
    if issubclass(kind, Path):
        return lambda path: Path(visible(str(path)))
    if issubclass(kind, MadeWhenAsked):
        return None  # rows for programs, which a form escapes where it shows them
    if issubclass(kind, Mapping):
        return _of_mapping
    return _of_tuple if issubclass(kind, tuple) else None


def _of_fields(names: tuple[str, ...], change: Callable[..., Any]) -> Escape:
    def escape(value: Any) -> Any:
        changed = {}
        for name in names:
            part = getattr(value, name)
            escape_part = _ESCAPES[part.__class__]
            if escape_part is not None and (shown := escape_part(part)) is not part:
                changed[name] = shown
        return change(value, **changed) if changed else value

    return escape


def _of_mapping(items: Mapping[Any, Any]) -> Mapping[Any, Any]:
    if not items:
        return items
    shown = {_shown(key): _shown(item) for key, item in items.items()}
    is_same = all(shown.get(key) is item for key, item in items.items())
    return items if is_same else shown


def _of_tuple(values: Any) -> Any:
    if not values:
        return values
    shown = tuple(map(_shown, values))
    if all(map(is_, shown, values)):
        return values
    return type(values)(*shown) if hasattr(values, "_fields") else shown

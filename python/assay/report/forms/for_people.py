"""Takes a `Report`; returns it with every control character escaped, safe for a terminal or a page.

Text from a server, a file name or a script cannot move the cursor, change a colour or begin a
heading.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from operator import is_
from pathlib import Path
from typing import Any

from assay.report.values import MadeWhenAsked, Report
from assay.text.visible import visible, visible_lines


def for_people(report: Report) -> Report:
    """The report with every text in it escaped; its title is one line."""
    shown: Report = _shown(report)
    return replace(shown, title=" ".join(shown.title.split()))


def _shown(value: Any) -> Any:
    """The value itself where there is nothing to escape, as nearly always: a long report is not
    copied."""
    kind: Any = type(value)
    escape = _escape_of(kind)
    return value if escape is None else escape(value)


@cache
def _escape_of(kind: Any) -> Callable[[Any], Any] | None:
    """What escapes the values of a class; None: they hold no text."""
    if is_dataclass(kind):
        return _of_fields(tuple(one.name for one in fields(kind)))
    if issubclass(kind, str):
        return visible_lines
    if issubclass(kind, Path):
        return lambda path: Path(visible(str(path)))
    if issubclass(kind, MadeWhenAsked):
        return None  # rows for programs, which a form escapes where it shows them
    if issubclass(kind, Mapping):
        return _of_mapping
    return _of_tuple if issubclass(kind, tuple) else None


def _of_fields(names: tuple[str, ...]) -> Callable[[Any], Any]:
    def escape(value: Any) -> Any:
        changed = {}
        for name in names:
            part = getattr(value, name)
            shown = _shown(part)
            if shown is not part:
                changed[name] = shown
        return replace(value, **changed) if changed else value

    return escape


def _of_mapping(items: Mapping[Any, Any]) -> Mapping[Any, Any]:
    shown = {_shown(key): _shown(item) for key, item in items.items()}
    is_same = all(shown.get(key) is item for key, item in items.items())
    return items if is_same else shown


def _of_tuple(values: Any) -> Any:
    shown = tuple(map(_shown, values))
    if all(map(is_, shown, values)):
        return values
    return type(values)(*shown) if hasattr(values, "_fields") else shown

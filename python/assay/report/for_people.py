"""Takes a `Report`; returns it with every control character escaped, safe for a terminal or a
page; and for a number the place of the page that it leads to: its run, or its cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from operator import is_
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from assay.report.values import MadeWhenAsked, Report, RunOfCell
from assay.text.keys import field_names
from assay.text.terminal import visible, visible_lines


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


_HTML_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def html_escaped(text: str) -> str:
    """Text as it may stand in the page, also in an attribute."""
    return visible_lines(text).translate(_HTML_ESCAPES)


class Links:
    def __init__(self, runs: Iterable[RunOfCell]) -> None:
        self._cells: Mapping[int, int] = {one.run.id: one.cell for one in runs}

    def target(self, runs: Iterable[int]) -> str:
        """``run-5``, ``cell-5``; empty: no run of this page."""
        known = [run for run in runs if run in self._cells]
        if not known:
            return ""
        if len(known) == 1:
            return f"run-{known[0]}"
        return f"cell-{self._cells[known[0]]}"

    def around(self, shown: str, runs: Iterable[int]) -> str:
        """``shown``, already escaped, as a link to the runs."""
        target = self.target(runs)
        return f'<a href="#{target}">{shown}</a>' if target and shown else shown

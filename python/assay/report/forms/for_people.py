"""Takes a `Report`; returns it with every control character escaped, safe for a terminal or a page.

Text from a server, a file name or a script cannot move the cursor, change a colour or begin a
heading.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from assay.report.values import Report
from assay.text.visible import visible, visible_lines


def for_people(report: Report) -> Report:
    """The report with every text in it escaped; its title is one line."""
    shown: Report = _shown(report)
    return replace(shown, title=" ".join(shown.title.split()))


def _shown(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{field.name: _shown(getattr(value, field.name)) for field in fields(value)}
        )
    if isinstance(value, str):
        return visible_lines(value)
    if isinstance(value, Path):
        return Path(visible(str(value)))
    if isinstance(value, Mapping):
        return {_shown(key): _shown(item) for key, item in value.items()}
    if isinstance(value, tuple):
        shown = tuple(map(_shown, value))
        return type(value)(*shown) if hasattr(value, "_fields") else shown
    return value

"""Takes a `Report`; gives the same one as a terminal or a page may show it.

What came from a server, a file name or a script cannot move the cursor, change a colour or begin a
heading there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from assay.report.values import Report
from assay.text.visible import visible, visible_lines


def for_people(report: Report) -> Report:
    """Every text of the report, however deep it lies; its title is one line."""
    shown: Report = _shown(report)
    return replace(shown, title=" ".join(shown.title.split()))


def _shown(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{one.name: _shown(getattr(value, one.name)) for one in fields(value)}
        )
    if isinstance(value, str):
        return visible_lines(value)
    if isinstance(value, Path):
        return Path(visible(str(value)))
    if isinstance(value, Mapping):
        return {_shown(key): _shown(one) for key, one in value.items()}
    if isinstance(value, tuple):
        return tuple(_shown(one) for one in value)
    return value

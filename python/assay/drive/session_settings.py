"""Takes the statements of a run's scripts; returns those by which its sessions set themselves up
(`SessionSettings`), as ``SET synchronous_commit = off``, with the values of the run.

They are found by their first words. What a function or a procedure sets is not seen here; that a
run flushed too seldom for the class that was measured without it is
(`assay.judge.evidence.durability`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from assay.contracts.dialects.protocol import Dialect, SetsSessions
from assay.contracts.durability import NO_SETTINGS, SessionSettings
from assay.experiment import Scalar

_BEGINS = re.compile(r"\s*(begin|start\s+transaction)\b", re.IGNORECASE)
_ENDS = re.compile(r"\s*(abort|commit|end|rollback(?!\s+to\b))\b", re.IGNORECASE)
_VARIABLE = re.compile(r"('(?:[^']|'')*'|::)|:(\w+)")


def of_statements(
    statements: Iterable[tuple[str, str]], values: Mapping[str, Scalar | None], dialect: Dialect
) -> SessionSettings:
    """``statements``: (script, text with its values as ``:name``), in order; ``values``: of the
    variables that the run does not change."""
    if not isinstance(dialect, SetsSessions):
        return NO_SETTINGS
    before: list[str] = []
    after: list[str] = []
    unknown = ""
    last, is_begun = "", False
    for script, text in statements:
        if script != last:
            last, is_begun = script, False
        if _BEGINS.match(text) or _ENDS.match(text):
            is_begun = bool(_BEGINS.match(text))
        elif dialect.sets_session(text):
            spelled = _with_values(text, values)
            if spelled is None:
                unknown = f"its sessions execute {text}, whose value is chosen in the run"
            else:
                (after if is_begun else before).append(spelled)
    return SessionSettings(tuple(dict.fromkeys(before)), tuple(dict.fromkeys(after)), unknown)


def joined(settings: Iterable[SessionSettings]) -> SessionSettings:
    """Of sessions one after another: what the last one sets counts."""
    each = tuple(settings)
    return SessionSettings(
        tuple(dict.fromkeys(text for one in each for text in one.before_begin)),
        tuple(dict.fromkeys(text for one in each for text in one.after_begin)),
        next((one.why_unknown for one in each if one.why_unknown), ""),
    )


def _with_values(text: str, values: Mapping[str, Scalar | None]) -> str | None:
    """None where a value is not known before the run."""
    names = {name for _, name in _VARIABLE.findall(text) if name}
    if any(values.get(name) is None for name in names):
        return None
    return _VARIABLE.sub(lambda match: match[1] or str(values[match[2]]), text)

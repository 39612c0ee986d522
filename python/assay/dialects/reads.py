"""Takes a statement of SQL; returns whether it only reads, for dialects whose sessions cannot be
made read-only."""

from __future__ import annotations

import re

_READS = re.compile(r"\s*(begin|commit|rollback|select)\b", re.IGNORECASE)
_QUOTED = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|\[[^\]]*\]|`[^`]*`""")
_NOT_CERTAIN = re.compile(r"--|/[*/]|\\|;\s*\S|\bn?q'", re.IGNORECASE)
"""Comments, backslashes and quotes of one's own choice (``q'{…}'``), in which quotes do not count,
and further statements."""
_MAY_WRITE = re.compile(
    r"\b(decr|delete|incr|insert|into|merge|next|next_?val(ue)?|update|with)\b", re.IGNORECASE
)
"""Counters and sequences change with a SELECT; SELECT INTO makes a table; a SELECT can be one FROM
what an INSERT changes, or FOR UPDATE."""
_CALLED = re.compile(r"(\w+)\s*\(")
_READ_ONLY = frozenset(["and", "avg", "count", "in", "max", "min", "or", "sum", "values", "where"])
"""Words before a parenthesis that call nothing which could write."""


def only_reads(statement: str) -> bool:
    """Whether it is a SELECT that calls nothing but aggregates, or the end of a transaction; False
    where that is not certain. A name without parentheses is taken for a column."""
    text = _QUOTED.sub(" quoted ", statement)
    called = {word.lower() for word in _CALLED.findall(text)}
    return (
        _NOT_CERTAIN.search(statement) is None
        and _READS.match(text) is not None
        and _MAY_WRITE.search(text) is None
        and called <= _READ_ONLY
    )

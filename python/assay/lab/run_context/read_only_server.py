"""Takes a run on a server that takes no writes; refuses it before its first step where it would
write: every statement would get the same error."""

from __future__ import annotations

import re

from assay.drive.commits import first_word
from assay.drive.read_only import may_change_data
from assay.errors import SystemRefused
from assay.lab.run_context.context import RunState
from assay.lab.run_context.existing_data import statements_of_run
from assay.text.cut import beginning

_WRITES = frozenset(("insert", "update", "delete", "merge", "replace", "truncate"))
"""Words that begin a statement which changes rows, and does nothing else."""
_MAY_BE_ALLOWED = re.compile(r"\b(temp|temporary|read_only|read\s+(write|only))\b", re.IGNORECASE)
"""Words of scripts that write to temporary tables, or that set themselves what their sessions may
do: only the server knows whether it takes their writes."""
_SHOWN = 60
"""Characters of a statement."""


def refuse_writes(state: RunState) -> None:
    """Raises `SystemRefused` with the server's reason and where writes are taken."""
    role = state.pooled.deployment.role if state.pooled is not None else None
    if role is None or not role.why_read_only:
        return
    if writing := _writing(state):
        raise SystemRefused(
            f"{state.up().deployment.label} takes no writes: it is a {role.described}; {writing}",
            hint=role.fix,
        )


def _writing(state: RunState) -> str:
    """What the run would write; empty: nothing, as far as its statements show it."""
    if state.test.loads:
        return f"the test {state.test.name} loads its tables"
    if not state.test.drives or not may_change_data(state.context.compiled, state.planned):
        return ""
    statements = statements_of_run(state)
    if any(_MAY_BE_ALLOWED.search(statement) for statement in statements):
        return ""
    written = (one for one in statements if first_word(one) in _WRITES)
    first = next(written, None)
    return "" if first is None else f"the run would send: {beginning(first, _SHOWN)}"

"""Takes statements of a dialect; executes them once in a session of their own, outside any
measurement."""

from __future__ import annotations

from collections.abc import Sequence

from assay.provision.session import session
from assay.steps.context import RunState


def execute(state: RunState, stage: str, statements: Sequence[str]) -> None:
    """No other run uses the system afterwards: its data are not as a load leaves them. Raises
    `SystemRefused` with the first error."""
    pooled = state.up()
    state.context.progress.stage(stage)
    pooled.forget()
    state.must_be_discarded = True
    with session(pooled.deployment.address) as opened:
        for statement in statements:
            opened.execute(statement)

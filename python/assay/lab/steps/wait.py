"""Waits for a fixed time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from assay.lab.run_context.context import RunState
from assay.text import quantities
from assay.text.files.keys import NumberWithin, in_file
from assay.workload.steps import Step


@dataclass(frozen=True)
class Wait(Step):
    """Waits for ``duration_s``."""

    do: ClassVar[str] = "wait"
    duration_s: Annotated[
        float,
        in_file(
            NumberWithin(quantities.WAIT_S),
            "How long to wait: seconds, or with a unit (500ms, 5s, 2min, 1h).",
        ),
    ] = field(kw_only=True)

    def take(self, state: RunState) -> None:
        state.context.events.stage(f"wait {self.duration_s:g} s")
        state.context.stop.wait(self.duration_s)

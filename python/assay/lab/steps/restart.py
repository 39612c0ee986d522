"""Restarts the server on its data, so that its buffer is cold, and, where asked, the operating
system's page cache; or waits for a fixed time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from assay.lab.run_context.context import RunState
from assay.provision import page_cache
from assay.text import quantities
from assay.text.keys import FLAG, NumberWithin, in_file
from assay.workload.steps import Step


@dataclass(frozen=True)
class Restart(Step):
    """Restarts the server on its data, so that its buffer is cold."""

    do = "restart"
    needs = "restart"
    drop_page_cache: Annotated[
        bool,
        in_file(
            FLAG,
            "Whether the files of the data are removed from the operating system's page cache.",
        ),
    ] = False

    def take(self, state: RunState) -> None:
        """Raises `ArgumentError` where Assay did not start the server."""
        state.context.events.stage("restart")
        restarted = state.up().restart(page_cache.drop_cached if self.drop_page_cache else None)
        state.context.store.deployment_changed(restarted)


@dataclass(frozen=True)
class Wait(Step):
    """Waits for ``duration_s``."""

    do = "wait"
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

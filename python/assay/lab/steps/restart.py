"""Restarts the server on its data, so that its buffer is cold; where asked, the operating system's
page cache is cold as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from assay.lab.run_context.context import RunState
from assay.provision.disk import page_cache
from assay.text.files.keys import FLAG, in_file
from assay.workload.steps import Step


@dataclass(frozen=True)
class Restart(Step):
    """Restarts the server on its data, so that its buffer is cold."""

    do: ClassVar[str] = "restart"
    needs: ClassVar[str] = "restart"
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
        restarted = state.up().restart(page_cache.drop if self.drop_page_cache else None)
        state.context.store.deployment_changed(restarted)

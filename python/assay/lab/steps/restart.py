"""Restarts the server on its data, so that its buffer is cold; where asked, the operating system's
page cache is cold as well."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from assay.lab.run_context.context import RunState
from assay.provision.disk import page_cache
from assay.text.files.keys import FLAG, Key
from assay.text.files.toml_file import TomlTable
from assay.workload.steps import Names, Step, common


@dataclass(frozen=True)
class Restart(Step):
    """Restarts the server on its data, so that its buffer is cold."""

    do: ClassVar[str] = "restart"
    keys: ClassVar[tuple[Key, ...] | None] = (
        Key(
            "drop_page_cache",
            FLAG,
            "Whether the files of the data are removed from the operating system's page cache.",
        ),
    )
    needs: ClassVar[str] = "restart"
    drops_page_cache: bool = False
    """Whether the files of the data are removed from the operating system's page cache."""

    @classmethod
    def read(cls, section: TomlTable, names: Names) -> Self:
        drops = section.boolean("drop_page_cache", False)
        return cls(drops_page_cache=drops, **common(section, names))

    def take(self, state: RunState) -> None:
        """Raises `ArgumentError` where Assay did not start the server."""
        state.context.events.stage("restart")
        restarted = state.up().restart(page_cache.drop if self.drops_page_cache else None)
        state.context.store.deployment_changed(restarted)

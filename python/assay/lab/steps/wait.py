"""Waits for a fixed time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

from assay.lab.run_context.context import RunState
from assay.text import quantities
from assay.text.files.keys import Key, NumberWithin
from assay.text.files.toml_file import TomlTable
from assay.workload.steps import Names, Step, common


@dataclass(frozen=True)
class Wait(Step):
    """Waits for ``duration_s``."""

    do: ClassVar[str] = "wait"
    keys: ClassVar[tuple[Key, ...] | None] = (
        Key(
            "duration_s",
            NumberWithin(quantities.WAIT_S),
            "How long to wait: seconds, or with a unit (500ms, 5s, 2min, 1h).",
            is_required=True,
        ),
    )
    duration_s: float = field(kw_only=True)

    @classmethod
    def read(cls, section: TomlTable, names: Names) -> Self:
        duration_s = section.number("duration_s", quantities.WAIT_S)
        return cls(duration_s=duration_s, **common(section, names))

    def take(self, state: RunState) -> None:
        state.context.events.stage(f"wait {self.duration_s:g} s")
        state.context.stop.wait(self.duration_s)

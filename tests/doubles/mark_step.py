"""A step of another package: it writes the name of the system into a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from assay.lab.run_context.context import RunState
from assay.text.toml_file import TomlTable
from assay.workload.steps import Names, Step, common


@dataclass(frozen=True)
class Mark(Step):
    """A line in a file."""

    do = "mark"
    needs = "transactions"
    file: str = field(kw_only=True)

    @classmethod
    def read(cls, section: TomlTable, names: Names) -> Self:
        return cls(file=section.text("file"), **common(section, names))

    def take(self, state: RunState) -> None:
        with Path(self.file).open("a", encoding="utf-8") as file:
            file.write(f"{state.up().deployment.label}\n")

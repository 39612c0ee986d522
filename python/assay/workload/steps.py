"""What every step of a test is, and the step in which clients run scripts, as frozen values.

A kind of step is a class of its own in `assay.steps`: its fields, how it is read from a workload
file, and how it is taken. `assay.registry.step` finds it by its name. `Drive` is here, because
plans are made of it; it is taken in `assay.steps.drive`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from assay.files.toml_file import Section
from assay.workload.parameters import Parameter
from assay.workload.schema import Expression
from assay.workload.step_keys import parameters


@dataclass(frozen=True)
class Names:
    """What a step may name."""

    scripts: Mapping[str, Any]
    parameters: Mapping[str, Parameter]
    before: tuple[Step, ...] = ()
    """The steps before it."""


@dataclass(frozen=True)
class Step:
    """What every step has."""

    do: ClassVar[str]
    """Its kind, as workload files name it."""
    needs: ClassVar[str] = ""
    """The capability that a system must have for it (`assay.capabilities`); empty: none."""
    needs_system: ClassVar[bool] = True
    """Whether the run's system must be up; False: it brings up its own."""
    loads: ClassVar[bool] = False
    """Whether it fills the system with the workload's data."""
    updates_rows: ClassVar[bool] = False
    changes_data: ClassVar[bool] = False
    """Whether the data behind it are not as they were loaded, whatever the test's scripts do."""
    has_clients: ClassVar[bool] = False
    staggers_clients: ClassVar[bool] = False
    """Whether clients start one after the other, so that counts and not times end them."""
    found_as: ClassVar[str] = ""
    """Among which steps others, and reports, find it by its name; empty: none look for it."""
    name: str = ""
    """By which other steps and reports find its results; its ``do`` where none is given."""
    parameters: Mapping[str, Expression] = field(default_factory=dict, kw_only=True)
    """Parameters that differ in this step: expressions of the run's parameters and of
    ``:clients``."""

    @property
    def label(self) -> str:
        return self.name or self.do

    @property
    def scripts_run_once(self) -> tuple[str, ...]:
        """Names of the scripts that it runs once, outside any measurement."""
        return ()

    @property
    def own_variables(self) -> Mapping[str, int]:
        """Variables that these scripts have beside the parameters."""
        return {}

    @classmethod
    def read(cls, section: Section, names: Names) -> Self:
        """The step that the section declares; raises `ExperimentError` with the line."""
        return cls(**common(section, names))

    def take(self, state: Any) -> None:
        """Does it; ``state`` is the `assay.steps.context.RunState`."""
        raise NotImplementedError(self.do)


def common(section: Section, names: Names) -> dict[str, Any]:
    """What every step may declare."""
    return {
        "name": section.text("name", ""),
        "parameters": parameters(section.section("parameters"), names.parameters),
    }


@dataclass(frozen=True)
class Group:
    """Clients that run the same scripts at the same pace; the groups of a step work at once."""

    name: str
    scripts: tuple[str, ...]
    """Names of the transaction types, in order."""
    order: str
    mix: Mapping[str, int]
    clients: int | str
    """Their number, or the parameter that holds it."""
    said: Mapping[str, Any] = field(default_factory=dict)
    """What differs from the step: fields of `Driving`."""


@dataclass(frozen=True)
class Drive(Step):
    """Clients run scripts, and are measured."""

    do: ClassVar[str] = "drive"
    has_clients: ClassVar[bool] = True
    found_as: ClassVar[str] = "drive"
    scripts: tuple[str, ...] = ()
    """Empty: those of the test, in its order."""
    order: str = "sequence"
    mix: Mapping[str, int] = field(default_factory=dict)
    clients: int | str | None = None
    """Their number, or the parameter that holds it; None: as the run says."""
    is_one_client: bool = False
    """One client does the work of all: its transactions are those of all of them together."""
    said: Mapping[str, Any] = field(default_factory=dict)
    """What differs from the test: fields of `Driving`."""
    groups: tuple[Group, ...] = ()
    """Clients of several kinds at once; empty: all are of one kind."""

    @property
    def is_as_the_test_says(self) -> bool:
        """Whether scripts, clients and pace are the test's own."""
        return not (
            self.scripts or self.clients or self.is_one_client or self.said or self.parameters
        )

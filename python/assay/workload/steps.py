"""The base class of a test's steps, and the step in which clients run scripts, as frozen values;
takes the keys that steps share, returns their values with every name checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypedDict

from assay.contracts.driving import DrivingChanges
from assay.errors import Bug
from assay.text.keys import Key, of_fields
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload.parameters import Parameter
from assay.workload.schema import Expression


@dataclass(frozen=True)
class Names:
    """The names that a step may use."""

    scripts: Mapping[str, Any]
    parameters: Mapping[str, Parameter]
    before: tuple[Step, ...] = ()
    """The steps before it."""
    constants: Collection[str] = ()


@dataclass(frozen=True)
class Step:
    """The fields and methods of every step. A kind of step sets the class variables that it has
    otherwise."""

    do: ClassVar[str]
    """The name of its kind in workload files."""
    needs: ClassVar[str] = ""
    """The capability that it needs of a system (`assay.contracts.capabilities`); empty: none."""
    needs_system: ClassVar[bool] = True
    """Whether the run's system must be running; False: the step starts its own."""
    loads: ClassVar[bool] = False
    """Whether it fills the system with the workload's data."""
    updates_rows: ClassVar[bool] = False
    changes_data: ClassVar[bool] = False
    """Whether it changes the loaded data, whatever the test's scripts do."""
    has_clients: ClassVar[bool] = False
    staggers_clients: ClassVar[bool] = False
    """Whether clients start one after the other and end by counts, not by time."""
    found_as: ClassVar[str] = ""
    """The kind of results under which other steps and reports look it up; empty: never looked
    up."""
    keys: ClassVar[tuple[Key, ...] | None] = None
    """What a workload file may say of it beside `common`; None: its fields declare it, or its
    ``read`` alone knows."""
    name: str = ""
    """The name under which other steps and reports look up its results; by default its ``do``."""
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
        """Variables of these scripts, in addition to the parameters."""
        return {}

    @classmethod
    def read(cls, section: TomlTable, names: Names) -> Self:
        """The step that the section declares; raises `ExperimentError` with the line."""
        own = section.fields(cls, names) if cls.keys is None else {}
        return cls(**own, **common(section, names))

    @classmethod
    def declared_keys(cls) -> tuple[Key, ...] | None:
        """As `keys`, with those of its fields; None: its ``read`` alone knows."""
        if cls.keys is not None:
            return cls.keys
        own: type = cls
        return of_fields(own) or None

    def why_refused(self, run: Any) -> str | None:
        """Why the run, an `assay.plan.PlannedRun`, cannot take this step, as far as that is known
        from the plan; None: it can."""
        del run
        return None

    def take(self, state: Any) -> None:
        """Executes the step; ``state`` is the `assay.lab.run_context.context.RunState`. A class
        that only declares, as plans hold them, has its execution in a subclass in
        `assay.lab.steps`."""
        del state
        raise Bug(f"the step {self.do!r} is only declared here and cannot be executed")


class CommonFields(TypedDict):
    """Of `Step`."""

    name: str
    parameters: Mapping[str, Expression]


def common(section: TomlTable, names: Names) -> CommonFields:
    """The fields that every step may declare."""
    return CommonFields(
        name=section.text("name", ""),
        parameters=parameters_of_keys(section.section("parameters"), names.parameters),
    )


@dataclass(frozen=True)
class Clients:
    """Clients that run the same scripts at the same pace."""

    scripts: tuple[str, ...] = ()
    """Names of the transaction types, in order; empty: those of the test, in its order."""
    order: str = "sequence"
    mix: Mapping[str, int | str] = field(default_factory=dict)
    clients: int | str | None = None
    """Their number, or the parameter that holds it; None: that of the run."""
    driving_changes: DrivingChanges = field(default_factory=DrivingChanges)
    """Fields of `Driving` that differ from the step, or from the test."""


@dataclass(frozen=True)
class Group(Clients):
    """Some of the clients of a step; its groups run concurrently."""

    name: str = ""
    ends_with: str = ""
    """The group with whose last client its clients end; empty: they end by themselves."""


@dataclass(frozen=True)
class Deferred:
    """Clients, beside those of the run, that run the scripts which these queue (`\\defer`)."""

    scripts: tuple[str, ...]
    """Names of the transaction types."""
    clients: int = 1
    latency_limit_s: float | None = None
    """Those that end later, counted from `\\defer`, are late; they are run all the same."""


@dataclass(frozen=True)
class Drive(Clients, Step):
    """Clients run scripts and are measured."""

    do = "drive"
    has_clients = True
    found_as = "drive"
    is_one_client: bool = False
    """One client does the work of all: it runs the transactions of all of them."""
    is_result: bool = False
    """Its numbers are those of the run, whatever other steps measure; without such a step those of
    the last one are."""
    groups: tuple[Group, ...] = ()
    """Groups of clients that run concurrently; empty: all clients are alike."""

    @property
    def is_as_the_test_says(self) -> bool:
        """Whether scripts, clients and pace are the test's own."""
        return not (
            self.scripts
            or self.clients
            or self.is_one_client
            or self.driving_changes
            or self.parameters
        )


def script_of_key(section: TomlTable, key: str, names: Names) -> str:
    """The name of the one script that is the value of ``key``."""
    word = section.text(key)
    from assay.workload import script_names

    found = script_names.named_scripts(section, key, (word,), names.scripts)
    if len(found) > 1:
        raise section.error(
            f"{key} = {word!r}: expected one script, found {len(found)}",
            key,
            hint=f"name one of them: {', '.join(found)}",
        )
    return found[0]


def parameters_of_keys(section: TomlTable, known: Mapping[str, Parameter]) -> dict[str, Expression]:
    """Parameters that differ in a step: name → expression."""
    for name in section.names():
        if name not in known:
            raise section.error(f"unknown parameter {name!r}", name, hint=did_you_mean(name, known))
    return {
        name: Expression(str(section.scalar(name)), section.line_of(name))
        for name in section.names()
    }


def parameter_of_key(kind: str) -> Callable[[TomlTable, str, Names], str]:
    """Reads the name of a parameter of that type."""

    def read(section: TomlTable, key: str, names: Names) -> str:
        name = section.choice(key, names.parameters)
        if names.parameters[name].type != kind:
            raise section.error(f"{key} names {name!r}, which is not of type {kind}", key)
        return name

    return read


def earlier_of_key(do: str) -> Callable[[TomlTable, str, Names], str]:
    """Reads the name of an earlier step of that kind."""

    def read(section: TomlTable, key: str, names: Names) -> str:
        known = [step.label for step in names.before if step.do == do]
        name = section.text(key)
        if name not in known:
            raise section.error(
                f"{key} = {name!r}: no earlier step {do!r} has that name",
                key,
                hint=did_you_mean(name, known),
            )
        return name

    return read


def seconds_of_key(section: TomlTable, key: str, names: Names) -> str:
    """The name of a parameter that holds seconds."""
    name = section.choice(key, names.parameters)
    if names.parameters[name].type != "float":
        raise section.error(
            f"{key} names {name!r}, which is not a float", key, hint="it holds seconds"
        )
    return name

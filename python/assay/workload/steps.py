"""The base class of a test's steps, and the step in which clients run scripts, as frozen values;
takes the keys that steps share, returns their values with every name checked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self, TypedDict, cast

from assay.contracts.driving import DrivingChanges
from assay.errors import Bug
from assay.text import quantities
from assay.text.keys import (
    FLAG,
    SCALAR,
    TEXT,
    TEXTS,
    Key,
    NumberWithin,
    OneOf,
    SeveralKeys,
    in_file,
    named,
    of_fields,
)
from assay.text.phrases import did_you_mean
from assay.text.toml_file import TomlTable
from assay.workload import driving, script_names
from assay.workload.parameters import Parameter
from assay.workload.schema import Expression
from assay.workload.script_names import NamedScript


@dataclass(frozen=True)
class Names:
    """The names that a test and its steps may use."""

    scripts: Mapping[str, Any]
    parameters: Mapping[str, Parameter]
    constants: Collection[str] = ()
    checks: Mapping[str, NamedScript] = field(default_factory=dict)
    before: tuple[Step, ...] = ()
    """The steps before it."""


def _parameter(section: TomlTable, name: str, names: Names) -> Expression:
    if name not in names.parameters:
        hint = did_you_mean(name, names.parameters)
        raise section.error(f"unknown parameter {name!r}", name, hint=hint)
    return Expression(str(section.scalar(name)), section.line_of(name))


PARAMETERS = in_file(
    (), "Parameters that differ in this step: expressions of the run's.",
    below=named(SCALAR, _parameter),
)  # fmt: skip


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
    name: Annotated[str, in_file(
        TEXT, "The name under which other steps and reports refer to its results.",
    )] = ""  # fmt: skip
    """By default its ``do``."""
    parameters: Annotated[Mapping[str, Expression], PARAMETERS] = field(
        default_factory=dict, kw_only=True
    )
    """Also of ``:clients``."""

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
        return cls(**(section.fields(cls, names) or common(section, names)))

    @classmethod
    def declared_keys(cls) -> tuple[Key, ...] | None:
        """As `keys`, or those of its fields, and those of every step; None: its ``read`` alone
        knows."""
        every: type = Step
        kind: type = cls
        of_each = of_fields(every)
        own = tuple(key for key in of_fields(kind) if key not in of_each) or None
        declared = cls.keys if cls.keys is not None else own
        return None if declared is None else (*declared, *of_each)

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


class CommonFields(TypedDict, total=False):
    """Of `Step`."""

    name: str
    parameters: Mapping[str, Expression]


def common(section: TomlTable, names: Names) -> CommonFields:
    """The fields that every step may declare."""
    return cast(CommonFields, section.fields(Step, names))


ORDERS = ("sequence", "mix", "deck")
MIX = in_file(
    (), "Script file → its weight: clients choose at random.",
    below=named((TEXT, NumberWithin(quantities.WEIGHT_IN_A_MIX))),
)  # fmt: skip
SCRIPTS = in_file(TEXTS, "Script files, in their order; * stands for any letters.")
ORDER = in_file(
    OneOf(ORDERS),
    "`sequence`: each client runs the scripts in their order; `mix`: at random by weight; `deck`: "
    "as many of each as its weight, shuffled, until none is left, and again.",
)


def clients_of_key(section: TomlTable, key: str, names: Names) -> int | str:
    """A number, or the name of a parameter or constant that holds it."""
    if not section.is_text(key):
        return section.whole(key, quantities.CLIENTS)
    name = section.text(key)
    if name in names.constants:
        return name
    if name not in names.parameters or names.parameters[name].type != "int":
        raise driving.no_number(section, key, name, names.parameters, ("int",))
    return name


CHANGES = SeveralKeys(
    driving.IN_WORKLOADS, lambda section, names: driving.read(section, names.parameters)
)
_NUMBER_OF_CLIENTS = (TEXT, NumberWithin(quantities.CLIENTS))


@dataclass(frozen=True)
class Clients:
    """Clients that run the same scripts at the same pace."""

    scripts: Annotated[tuple[str, ...], SCRIPTS] = ()
    """Names of the transaction types, in order; empty: those of the test, in its order."""
    order: Annotated[str, ORDER] = "sequence"
    mix: Annotated[Mapping[str, int | str], MIX] = field(default_factory=dict)
    clients: Annotated[int | str | None, in_file(
        _NUMBER_OF_CLIENTS,
        "The number of clients, or the parameter or constant that holds it; otherwise that of the "
        "run.",
        clients_of_key,
    )] = None  # fmt: skip
    driving_changes: Annotated[DrivingChanges, CHANGES] = field(default_factory=DrivingChanges)
    """Fields of `Driving` that differ from the step, or from the test."""


@dataclass(frozen=True)
class Group(Clients):
    """Some of the clients of a step; its groups run concurrently."""

    clients: Annotated[int | str | None, in_file(
        _NUMBER_OF_CLIENTS,
        "The number of its clients, or the parameter or constant that holds it; where that is 0, "
        "the group is left out.",
        clients_of_key,
    )] = 1  # fmt: skip
    name: Annotated[str, in_file(TEXT, "The name of the group, for --clients NAME=N.")] = field(
        kw_only=True
    )
    ends_with: Annotated[str, in_file(
        TEXT,
        "The group of the step with whose last client these clients end, each after its "
        "transaction; otherwise they end by themselves.",
    )] = ""  # fmt: skip


@dataclass(frozen=True)
class Deferred:
    """Clients, beside those of the run, that run the scripts which these queue (`\\defer`)."""

    scripts: Annotated[tuple[str, ...], in_file(
        TEXTS, "The scripts that are queued.", scripts_of_key
    )]  # fmt: skip
    """Names of the transaction types."""
    clients: Annotated[int, in_file(
        NumberWithin(quantities.CLIENTS),
        "How many clients run them, beside those of the run; otherwise 1.",
    )] = 1  # fmt: skip
    latency_limit_s: Annotated[float | None, in_file(
        NumberWithin(quantities.LATENCY_LIMIT_S),
        "From \\defer to the end; one that takes longer is late, and is run all the same.",
        lambda section, key, _: section.number(key, quantities.LATENCY_LIMIT_S) or None,
    )] = None  # fmt: skip


@dataclass(frozen=True)
class Drive(Clients, Step):
    """Clients run scripts and are measured."""

    do = "drive"
    has_clients = True
    found_as = "drive"
    is_one_client: Annotated[bool, in_file(
        FLAG, "One client does the work of all.", name="one_client",
    )] = False  # fmt: skip
    """It runs the transactions of all of them."""
    is_result: Annotated[bool, in_file(
        FLAG,
        "The numbers of the run are those of this step; otherwise of its last step that measures.",
        name="result",
    )] = False  # fmt: skip
    groups: Annotated[tuple[Group, ...], in_file(
        (),
        "[[…groups]]: clients that run the same scripts at the same pace; groups run at the same "
        "time.",
        below=Group, is_list=True,
    )] = ()  # fmt: skip
    """Empty: all clients are alike."""

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


def scripts_of_key(section: TomlTable, key: str, names: Names) -> tuple[str, ...]:
    """The names of the scripts that the words of ``key`` mean."""
    return script_names.named_scripts(section, key, section.texts(key), names.scripts)


def script_of_key(section: TomlTable, key: str, names: Names) -> str:
    """The name of the one script that is the value of ``key``."""
    word = section.text(key)
    found = script_names.named_scripts(section, key, (word,), names.scripts)
    if len(found) > 1:
        raise section.error(
            f"{key} = {word!r}: expected one script, found {len(found)}",
            key,
            hint=f"name one of them: {', '.join(found)}",
        )
    return found[0]


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

"""The steps a test can take, as frozen values: a class each, whose ``do`` is its name in a workload
file. `assay.steps` takes them; `assay.workload.declared_steps` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from assay.workload.schema import Expression


@dataclass(frozen=True)
class Step:
    """What every step has."""

    do: ClassVar[str]
    needs: ClassVar[str] = ""
    """The capability that a system must have for it (`assay.capabilities`); empty: none."""
    name: str = ""
    """By which other steps and reports find what it gave; its ``do`` where none is said."""
    parameters: Mapping[str, Expression] = field(default_factory=dict, kw_only=True)
    """Parameters that differ in this step: expressions of the run's parameters and of
    ``:clients``."""

    @property
    def label(self) -> str:
        return self.name or self.do


@dataclass(frozen=True)
class Load(Step):
    """The system holds the data set of the run, counted, and its consistency checks pass."""

    do: ClassVar[str] = "load"
    needs: ClassVar[str] = "tables"


@dataclass(frozen=True)
class Ddl(Step):
    """The statements of a script, once, outside any measurement."""

    do: ClassVar[str] = "ddl"
    script: str = field(kw_only=True)


@dataclass(frozen=True)
class Restart(Step):
    """The server is stopped, and started again on its data: its buffer is cold."""

    do: ClassVar[str] = "restart"
    needs: ClassVar[str] = "restart"


@dataclass(frozen=True)
class Wait(Step):
    """Nothing is done for a while."""

    do: ClassVar[str] = "wait"
    duration_s: float = field(kw_only=True)


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


@dataclass(frozen=True)
class Overlap(Step):
    """Clients start one after the other, each on its share of the work, so that at least some are
    at work together and none overtakes another."""

    do: ClassVar[str] = "overlap"
    alone: str = field(kw_only=True)
    """The drive by one client, which measures how long the work takes."""
    stagger: str = field(kw_only=True)
    """The parameter that holds the seconds between two clients' starts. Where it is 0 they are
    found: what one client takes by itself, divided by `at_once`."""
    pause: str = field(kw_only=True)
    """The parameter that holds the seconds a client rests behind each transaction. Where it is 0
    they are found too: a system may be so fast that a hiccup of the machine would make clients
    overtake one another."""
    at_once: int = field(kw_only=True)
    """How many clients must be at work together."""


@dataclass(frozen=True)
class Dump(Step):
    """The rows that a query answers are kept for a `Compare`."""

    do: ClassVar[str] = "dump"
    script: str = field(kw_only=True)
    own: str = ""
    """The script that asks for the part of a client's rows that other clients cannot change; empty:
    none. Where dumps differ and this part does not, clients overtook one another, and nothing was
    lost."""
    each: str = ""
    """The variable that numbers the dumps, from 0 up to the number of clients; empty: one dump."""


@dataclass(frozen=True)
class Compare(Step):
    """Two dumps must hold the same rows in the same order."""

    do: ClassVar[str] = "compare"
    expected: str = field(kw_only=True)
    found: str = field(kw_only=True)


@dataclass(frozen=True)
class SessionCost(Step):
    """What a session costs: the difference between two drives."""

    do: ClassVar[str] = "session_cost"
    kept: str = field(kw_only=True)
    """The drive whose clients keep their session."""
    per_transaction: str = field(kw_only=True)
    """The drive whose clients open one for each transaction."""


@dataclass(frozen=True)
class Update(Step):
    """Some input files change, the rows follow, and are compared with a fresh load."""

    do: ClassVar[str] = "update"


@dataclass(frozen=True)
class Limit(Step):
    """Sessions are opened until one is refused, with the default limit and with it raised."""

    do: ClassVar[str] = "limit"


STEPS: Mapping[str, type[Step]] = {
    one.do: one
    for one in (
        Load, Ddl, Restart, Wait, Drive, Overlap, Dump, Compare, SessionCost, Update, Limit,
    )
}  # fmt: skip
"""By their names in a workload file."""

CHANGING = (Ddl, Overlap, Update)
"""Steps behind which the data are not as they were loaded, whatever the test's scripts do."""

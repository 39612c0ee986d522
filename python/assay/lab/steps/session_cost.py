"""Computes the cost of a session: the difference between clients that open one per transaction and
clients that keep theirs.

Kreymer (1995): «By moving the server connect and disconnect code in and out of this loop we have
measured the connect+disconnect overhead».
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

from assay.contracts.observation import ConnectReport, Observation
from assay.drive.observe import first_error
from assay.errors import RunFailed
from assay.lab.run_context.context import RunState
from assay.text.files.keys import TEXT, Key
from assay.text.files.toml_file import TomlTable
from assay.workload.steps import Names, Step, common
from assay.workload.tests.declared_steps import earlier


@dataclass(frozen=True)
class SessionCost(Step):
    """The cost of a session: the difference between two drives."""

    do: ClassVar[str] = "session_cost"
    keys: ClassVar[tuple[Key, ...] | None] = (
        Key("kept", TEXT, "The drive whose clients keep their session.", is_required=True),
        Key(
            "per_transaction",
            TEXT,
            "The drive whose clients open a session for each transaction.",
            is_required=True,
        ),
    )
    kept: str = field(kw_only=True)
    """The drive whose clients keep their session."""
    per_transaction: str = field(kw_only=True)
    """The drive whose clients open one for each transaction."""

    @classmethod
    def read(cls, section: TomlTable, names: Names) -> Self:
        return cls(
            kept=earlier(section, "kept", "drive", names),
            per_transaction=earlier(section, "per_transaction", "drive", names),
            **common(section, names),
        )

    def take(self, state: RunState) -> None:
        """Sets ``connect`` of the last observation: the time per transaction of both drives, and
        their difference."""
        outside_ns = _round_ns(state.driven(self.kept))
        inside_ns = _round_ns(state.driven(self.per_transaction))
        state.add(connect=ConnectReport(inside_ns, outside_ns, inside_ns - outside_ns))


def _round_ns(observation: Observation) -> int:
    """The time of one transaction of one client, with the overhead of the loop around it."""
    ended = observation.outcomes.ok
    if not ended or ended < observation.outcomes.scheduled:
        raise RunFailed(f"a transaction of the loop failed{first_error(observation)}")
    return round(observation.elapsed_ns / (ended // observation.clients))

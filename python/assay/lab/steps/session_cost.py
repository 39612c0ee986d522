"""Computes the cost of a session: the difference between clients that open one per transaction and
clients that keep theirs.

Kreymer (1995): «By moving the server connect and disconnect code in and out of this loop we have
measured the connect+disconnect overhead».
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from assay.contracts.observation import ConnectReport, Observation
from assay.drive.observe import first_error
from assay.errors import RunFailed
from assay.lab.run_context.context import RunState
from assay.text.files.keys import TEXT, in_file
from assay.workload.steps import Step
from assay.workload.tests.step_keys import earlier


@dataclass(frozen=True)
class SessionCost(Step):
    """The cost of a session: the difference between two drives."""

    do: ClassVar[str] = "session_cost"
    kept: Annotated[
        str, in_file(TEXT, "The drive whose clients keep their session.", earlier("drive"))
    ] = field(kw_only=True)
    per_transaction: Annotated[
        str,
        in_file(
            TEXT,
            "The drive whose clients open a session for each transaction.",
            earlier("drive"),
        ),
    ] = field(kw_only=True)

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

"""The load generators of a fleet, what each did, and what its machine and clock were."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from msgspec.structs import replace

from assay.contracts.observation.parts.outcomes import Outcomes
from assay.contracts.observation.parts.shape import Shape

Counts = TypeVar("Counts", bound=Outcomes)


class GeneratorReport(Shape, frozen=True):
    machine: str
    """Its name in the fleet."""
    clients: int
    ok: int
    """Measured transactions; of one that was lost, those that it had reported."""
    failed: int
    """While it works, those of unknown outcome are among them; of one that was lost, 0."""
    unknown: int
    """Of one that was lost: what it had reported as not ok, which may have committed, and the most
    that it may have done since its last report, where that is known."""
    lag_p99_ns: int | None = None
    """How late transactions of an open loop were begun; None: a closed loop, or it was lost. While
    it works, this and the next two are of the last second."""
    cpu_share: float | None = None
    """Busy share of its threads; None: not measured."""
    waited_share: float | None = None
    """Share of their time in which its threads waited for a processor."""
    load_1min: float | None = None
    """Of its machine, behind the measurement; while it works, now."""
    clock_ahead_ns: int | None = None
    """Its monotonic clock after that of the machine that coordinates."""
    clock_uncertainty_ns: int | None = None
    """The most by which that may be wrong."""
    clock_drift_ns_per_s: float | None = None
    """How much farther its clock went in each second, as far as that is certain; None: it was not
    read afterwards."""
    lost_after_s: float | None = None
    """Since clients began; None: it was not lost."""
    is_bound_known: bool = True
    """False of one that was lost before its rate was known: it may have done more than ``unknown``
    says."""

    @property
    def is_lost(self) -> bool:
        return self.lost_after_s is not None


def with_lost(outcomes: Counts, generators: Iterable[GeneratorReport], times: int = 1) -> Counts:
    """With the transactions of those that were lost, ``times`` -1: without them. So the server has
    at least what is ``ok``, and at most that and what is ``unknown``. What they had reported as
    rolled back or skipped is not there: it changed nothing."""
    lost = [one for one in generators if one.is_lost]
    ok, unknown = times * sum(one.ok for one in lost), times * sum(one.unknown for one in lost)
    return replace(
        outcomes,
        scheduled=outcomes.scheduled + ok + unknown,
        attempts=outcomes.attempts + ok + unknown,
        ok=outcomes.ok + ok,
        unknown=outcomes.unknown + unknown,
    )


def without_lost(reports: Iterable[GeneratorReport]) -> str:
    """``without 2 lost generators: 1234 ok, at most 56 unknown``: what numbers do not have that are
    of the others alone. Empty: none was lost."""
    lost = [one for one in reports if one.is_lost]
    if not lost:
        return ""
    many = f"{len(lost)} lost generators" if len(lost) > 1 else "the lost generator"
    return f"without {many}: {sum(one.ok for one in lost)} ok, {most_unknown(lost)}"


def most_unknown(lost: Iterable[GeneratorReport], unknown: str = "unknown") -> str:
    """``at most 56 unknown``, or ``bound not known``: what those that were lost may have done
    beside what they reported."""
    reports = list(lost)
    if not all(one.is_bound_known for one in reports):
        return BOUND_NOT_KNOWN
    return f"at most {sum(one.unknown for one in reports)} {unknown}"


BOUND_NOT_KNOWN = "bound not known"
"""Of what a lost generator did."""


def clients_left(reports: Sequence[GeneratorReport]) -> str:
    """``on 4 of 6 clients from 31 s on, on 2 from 40 s on``, since clients began: how many there
    were after generators were lost. Empty: none was."""
    every = left = sum(one.clients for one in reports)
    said: list[str] = []
    lost = [(one.lost_after_s, one.clients) for one in reports if one.lost_after_s is not None]
    for after_s, clients in sorted(lost):
        left -= clients
        number = f"{left} of {every} clients" if not said else str(left)
        said.append(f"on {number} from {after_s:.0f} s on")
    return ", ".join(said)

"""Takes the reports of a load generator; returns what is known of its transactions where it is
lost: those that it had reported, and how many may have been done since then.

A generator says ten times a second how many of its transactions have ended. Where it is lost, each
of its clients may have had one under way, and since its last report it may have ended more: at most
as many as at the greatest rate that it was seen to have, taken twice. None of them was counted, so
that their outcome is unknown. One that was lost before it had reported for half a second has shown
no such rate: clients begin slowly, and their rate then doubles more than once between two reports.
No bound is known of what it did, and its run is not valid.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace

from assay.contracts.engine.drive import (
    ArrivalDocument,
    ClientsSoFar,
    DriveDocument,
    DriveProgress,
    ThreadUse,
)
from assay.contracts.observation import Arrival, Observation
from assay.contracts.observation.of_nothing import of_nothing
from assay.contracts.observation.parts.shape import convert

_MARGIN = 2.0
"""Between two reports a generator may have been faster than from one to the next."""
_LEAST_S = 0.05
"""Reports that follow each other faster say nothing of a rate."""
_REPORT_EVERY_S = 0.1
_RATE_KNOWN_AFTER_S = 0.5


class GeneratorAccount:
    """Of one generator."""

    def __init__(self, clients: int) -> None:
        self.clients = clients
        self.last: DriveProgress | None = None
        self.lag_p99_ns: int | None = None
        """Of the last second; None: none has passed, or its clients have no schedule."""
        self.so_far: ClientsSoFar | None = None
        self.use: ThreadUse | None = None
        """Of the last second, as far as it is known."""
        self._at_s = 0.0
        self._first: tuple[float, int] | None = None
        """When it first reported since its clients began, and how many had ended by then."""
        self._greatest_per_s = 0.0

    def reported(self, report: DriveProgress, now_s: float) -> None:
        before, before_s = self.last, self._at_s
        if before is not None and now_s - before_s >= _LEAST_S:
            rate_per_s = (report.done - before.done) / (now_s - before_s)
            self._greatest_per_s = max(self._greatest_per_s, rate_per_s)
        if self._first is None:
            self._first = now_s, report.done
        self.last, self._at_s = report, now_s
        if report.so_far is not None:
            self.use, self.so_far = report.so_far.use_since(self.so_far), report.so_far
        if report.seconds:
            last = report.seconds[-1].second
            lags = [one.schedule_lag_p99_ns for one in report.seconds if one.second == last]
            self.lag_p99_ns = max((lag for lag in lags if lag is not None), default=None)

    @property
    def greatest_per_client_s(self) -> float:
        return self._greatest_per_s / self.clients if self.clients else 0.0

    @property
    def is_bound_known(self) -> bool:
        """Whether its rate was seen for long enough to say what it can have done at most."""
        return self._first is not None and self._at_s - self._first[0] >= _RATE_KNOWN_AFTER_S

    def unknown(self, now_s: float, others_per_client_s: float) -> int:
        """What its last report said of transactions that failed or are unknown, which are one
        number in it, and the most that it may have done since then; where no bound is known, one
        for each client alone. ``others_per_client_s``: the greatest rate of each client of the
        other generators."""
        if self.last is None or self._first is None:
            return self.clients
        reported = self.last.failed
        if not self.is_bound_known:
            return reported + self.clients
        silent_s = now_s - self._at_s + _REPORT_EVERY_S
        first_s, first_done = self._first
        # Slow transactions: each client may have been about to end one.
        about_to_end = self.last.done - first_done + self.clients
        under_way_per_s = about_to_end / (self._at_s - first_s)
        per_client_s = max(self.greatest_per_client_s, others_per_client_s)
        per_s = max(per_client_s * self.clients, under_way_per_s)
        return reported + self.clients + math.ceil(_MARGIN * per_s * silent_s)


class Lost(Protocol):
    @property
    def account(self) -> GeneratorAccount: ...
    @property
    def unknown(self) -> int: ...
    @property
    def lost_after_s(self) -> float | None: ...


def known_of_lost(parts: Sequence[Lost]) -> str:
    """What is known where all were lost, as the end of a sentence."""
    reported = sum(one.account.last.ok for one in parts if one.account.last is not None)
    unknown = sum(one.unknown for one in parts)
    more = f"at most {unknown} more are unknown"
    if not all(one.account.is_bound_known for one in parts):
        more = "it is not known how many more they did"
    return f"; {reported} transactions were reported ok, and {more}"


def unknown_since(parts: Sequence[Lost]) -> int:
    """The most that those that were lost may have done since their last reports."""
    lost = [one for one in parts if one.lost_after_s is not None]
    said = sum(one.account.last.failed for one in lost if one.account.last is not None)
    return sum(one.unknown for one in lost) - said


def nothing_observed(document: DriveDocument, parts: Sequence[Lost]) -> Observation:
    """The observation of a drive that lost every generator, in which no transaction was timed."""
    elapsed_ns = int(max(part.lost_after_s or 0.0 for part in parts) * 1e9)
    arrival = document.arrival or ArrivalDocument(kind="closed")
    rate_per_s = arrival.offered_rate_per_s
    arrived = {
        "kind": arrival.kind,
        "offered_rate_per_s": rate_per_s if isinstance(rate_per_s, float) else None,
    }
    return replace(
        of_nothing(
            sum(part.account.clients for part in parts), convert(arrived, Arrival, "arrival")
        ),
        started_unix_ns=time.time_ns() - elapsed_ns,
        elapsed_ns=elapsed_ns,
    )

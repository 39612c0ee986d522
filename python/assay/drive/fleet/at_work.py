"""Takes what is known of the parts of a drive while they work; returns a report of each load
generator, once a second and when one is lost."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.contracts.observation import GeneratorReport
from assay.drive.fleet.clocks import drift_ns_per_s
from assay.drive.fleet.generator_reports import reports
from assay.drive.fleet.values import DrivenPart

_EVERY_S = 1.0


class GeneratorsAtWork:
    """Of one drive."""

    def __init__(self, machines: Sequence[str]) -> None:
        """``machines``: the name of that of each part."""
        self._machines = machines
        self._reported_s = -_EVERY_S
        self._lost = 0

    def take(self, parts: Sequence[DrivenPart], now_s: float) -> tuple[GeneratorReport, ...]:
        """Empty: they were reported less than a second ago, and none was lost since."""
        lost = sum(part.lost_after_s is not None for part in parts)
        if now_s - self._reported_s < _EVERY_S and lost == self._lost:
            return ()
        self._reported_s, self._lost = now_s, lost
        return tuple(
            _at_work(report, part)
            if part.observation is None and part.lost_after_s is None
            else report
            for part, report in zip(parts, reports(parts, self._machines), strict=True)
        )


def _at_work(report: GeneratorReport, part: DrivenPart) -> GeneratorReport:
    """With what it did in the last second, and the drift of its clock so far."""
    account, clock = part.account, part.clock.at_work
    use, so_far = account.use, account.so_far
    return replace(
        report,
        lag_p99_ns=account.lag_p99_ns,
        cpu_share=None if use is None else use.busy,
        waited_share=None if use is None else use.waited,
        load_1min=None if so_far is None else so_far.load_1min,
        clock_drift_ns_per_s=None if clock is None else drift_ns_per_s(part.before, clock),
    )

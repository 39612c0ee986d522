"""Takes what is known of the parts of a drive, and the machines that drove them; returns a report
of each load generator."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.contracts.engine.drive import thread_use
from assay.contracts.observation import GeneratorReport, Observation
from assay.drive.fleet.clocks import drift_ns_per_s
from assay.drive.fleet.values import DrivenPart


def reports(parts: Sequence[DrivenPart], machines: Sequence[str]) -> tuple[GeneratorReport, ...]:
    """``machines``: the name of that of each part."""
    return tuple(_report(part, name) for part, name in zip(parts, machines, strict=True))


def _report(part: DrivenPart, machine: str) -> GeneratorReport:
    last, after = part.account.last, part.after
    report = GeneratorReport(
        machine=machine,
        clients=part.account.clients,
        ok=last.ok if last is not None else 0,
        failed=last.failed if last is not None and part.lost_after_s is None else 0,
        unknown=part.unknown,
        clock_ahead_ns=part.before.ahead_ns,
        clock_uncertainty_ns=max(
            part.before.uncertainty_ns, after.uncertainty_ns if after is not None else 0
        ),
        clock_drift_ns_per_s=None if after is None else drift_ns_per_s(part.before, after),
        load_1min=part.load_1min,
        lost_after_s=part.lost_after_s,
        is_bound_known=part.lost_after_s is None or part.account.is_bound_known,
    )
    return report if part.observation is None else _with(report, part.observation)


def _with(report: GeneratorReport, observation: Observation) -> GeneratorReport:
    cost = observation.client_cost
    use = thread_use(
        cost.cpu_ns, cost.waited_for_processor_ns, observation.elapsed_ns, observation.threads
    )
    lag = observation.all_ok.schedule_lag
    return replace(
        report,
        ok=observation.outcomes.ok,
        failed=observation.outcomes.failed,
        unknown=observation.outcomes.unknown,
        lag_p99_ns=lag.p99_ns if lag is not None else None,
        cpu_share=None if use is None else use.busy,
        waited_share=None if use is None else use.waited,
    )

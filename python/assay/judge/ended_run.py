"""A run that has ended, as it is judged with others: by its cell, by the goal of its experiment, by
metrics. It is kept in memory until then; one of an earlier process is read from the record once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from assay.contracts.deployment import Deployment
from assay.contracts.observation import Observation, Observed, StepReport
from assay.experiment import Driving, Scalar
from assay.judge.check.answers import Check
from assay.judge.evidence.values import Evidence
from assay.judge.verdict import Verdict
from assay.judge.warnings.run_warnings import RunWarning
from assay.load.dataset_facts import DatasetFacts
from assay.probe import Probe


class MeasuredRun(Protocol):
    """What metrics and goals read of a run, one in memory and one of the record alike."""

    @property
    def id(self) -> int: ...
    @property
    def state(self) -> str: ...
    @property
    def reason(self) -> str: ...
    @property
    def driving(self) -> Driving | None: ...
    @property
    def deployment(self) -> Deployment | None: ...
    @property
    def data(self) -> DatasetFacts | None: ...
    @property
    def observation(self) -> Observed | None: ...
    @property
    def driven(self) -> Observation | None: ...
    @property
    def reports(self) -> Sequence[StepReport]: ...
    @property
    def checks(self) -> Sequence[Check]: ...
    @property
    def evidence(self) -> Evidence: ...
    @property
    def judged(self) -> Verdict: ...
    @property
    def warnings(self) -> Sequence[RunWarning]: ...
    @property
    def probe(self) -> Probe | None: ...
    @property
    def parameters(self) -> Mapping[str, Scalar]: ...


class EndedRun(Struct, frozen=True):
    evidence: Evidence
    judged: Verdict
    warnings: Sequence[RunWarning] = ()
    probe: Probe | None = None
    """The last one of its storage; None: it was not probed."""
    parameters: Mapping[str, Scalar] = field(default_factory=dict)
    """Of the workload."""

    @property
    def id(self) -> int:
        return self.evidence.run

    @property
    def state(self) -> str:
        return self.evidence.state

    @property
    def reason(self) -> str:
        return self.evidence.reason

    @property
    def driving(self) -> Driving:
        return self.evidence.driving

    @property
    def deployment(self) -> Deployment | None:
        return self.evidence.deployment

    @property
    def data(self) -> DatasetFacts | None:
        return self.evidence.dataset

    @property
    def observation(self) -> Observed | None:
        return self.evidence.observation

    @property
    def driven(self) -> Observation | None:
        return self.evidence.driven

    @property
    def reports(self) -> Sequence[StepReport]:
        return self.evidence.reports

    @property
    def checks(self) -> Sequence[Check]:
        return self.evidence.checks

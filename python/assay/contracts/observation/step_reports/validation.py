"""Takes the type of a step's report; reports every violation of the contract of `StepReport`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.contracts.members import ContractBroken
from assay.contracts.metric import Metric
from assay.contracts.observation.step_reports.step_report import StepReport
from assay.contracts.warning_text import WarningText


def validate(report: Any) -> None:
    """Raises `ContractBroken` with every violation."""
    violations = list(_violations(report))
    if violations:
        raise ContractBroken(f"the report {report!r} of a step", violations)


def _violations(report: Any) -> Iterator[str]:
    if not isinstance(report, type) or not issubclass(report, StepReport):
        yield f"expected a class derived from StepReport, found {report!r}"
        return
    declared = report.__struct_config__
    if declared.tag_field != "kind" or not isinstance(declared.tag, str):
        yield 'expected a class declared with tag_field="kind" and tag="NAME"'
        return
    if not declared.frozen:
        yield "expected a class declared with frozen=True"
    for metric in report.metrics:
        if not isinstance(metric, Metric):
            yield f"metrics: expected Metric, found {metric!r}"
        elif not metric.name.startswith(f"{declared.tag}_"):
            yield f"metrics: expected names that begin with {declared.tag}_, found {metric.name!r}"
    for name, text in report.warning_texts.items():
        if not isinstance(text, WarningText):
            yield f"warning_texts: {name}: expected WarningText, found {text!r}"

"""What reports need of a workload, whose folder may be gone, as a record keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from msgspec import field, structs

from assay.contracts.documents import convert
from assay.workload.derived_metrics import DerivedMetric
from assay.workload.values import Reported

_IF_ANY = ("sheets", "derived", "bytes_per_unit")
"""Fields that a record has where they are not empty."""


class WorkloadRecord(Reported, frozen=True, kw_only=True):
    """What reports need of a workload, as a record keeps it."""

    fingerprint: str = ""
    """Of all texts that determine what was run."""
    derived: tuple[DerivedMetric, ...] = ()
    """In the order in which they were declared."""
    bytes_per_unit: Mapping[str, float] = field(default_factory=dict)
    """By parameter: what one unit of its level takes, where that is declared."""

    @classmethod
    def of_record(cls, document: Any) -> Self:
        """Raises `ShapeError`."""
        if isinstance(document, dict) and isinstance(document.get("derived"), list):
            document = {**document, "derived": list(map(_with_formula, document["derived"]))}
        return convert(document, cls, "workload")

    def for_record(self) -> dict[str, Any]:
        """Plain data, as `record` keeps it."""
        fields = structs.asdict(self)
        fingerprint = fields.pop("fingerprint")
        found: dict[str, Any] = {}
        for name, value in fields.items():
            if value or name not in _IF_ANY:
                found[name] = value
            if name == "source":
                found["fingerprint"] = fingerprint
        if self.derived:
            found["derived"] = list(map(_without_line, self.derived))
        return found


def _with_formula(document: Any) -> Any:
    """A record has of a formula its text."""
    if not isinstance(document, dict):
        return document
    return {**document, "value": {"text": document.get("value"), "line": 0}}


def _without_line(metric: DerivedMetric) -> dict[str, str | bool]:
    fields = {**structs.asdict(metric), "value": metric.value.text}
    del fields["scripts"]
    return fields

"""A metric that a workload derives from what was measured, with its formula; and what reports need
of a workload, whose folder may be gone."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from msgspec import Struct, field, structs

from assay.contracts.documents import convert
from assay.errors import ExperimentError
from assay.text.keys import TEXT, in_file
from assay.workload.parameters import Scalar
from assay.workload.schema import Expression, evaluate
from assay.workload.values import Reported

_VARIABLE = re.compile(r":([A-Za-z_]\w*)")
INPUTS = {
    "geometric_mean_s": "the geometric mean of the mean times of the scripts, in seconds",
    "completed": "how many of their transactions ended ok",
    "elapsed_s": "the seconds of the whole measurement",
}
"""What a formula reads of a run."""


class DerivedMetric(Struct, frozen=True):
    name: str
    title: Annotated[str, in_file(TEXT, "Its name, for reports.")]
    help: Annotated[str, in_file(TEXT, "What it says, in a few words.")]
    value: Expression
    test: str
    """Empty: it is derived from the metrics of other tests."""
    is_more_better: bool
    scripts: tuple[str, ...] = ()
    """Whose transactions it reads; on record they are not, as the formula does not need them."""

    def of_values(self, values: Mapping[str, Scalar], file: Path) -> float | None:
        """None where the formula has no value, as after a division by 0."""
        try:
            found = evaluate(self.value, values, file)
        except ExperimentError:  # with other values it has one, or the workload would be refused
            return None
        is_number = isinstance(found, int | float) and not isinstance(found, bool)
        return float(found) if is_number and math.isfinite(found) else None

    def is_text_or_condition(self, values: Mapping[str, Scalar], file: Path) -> bool:
        """Whether the formula gives something that is no number with any values."""
        return isinstance(evaluate(self.value, values, file), str | bool)

    @property
    def variables(self) -> list[str]:
        """Those of its formula."""
        return list(dict.fromkeys(_VARIABLE.findall(self.value.text)))


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

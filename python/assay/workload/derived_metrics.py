"""A metric that a workload derives from what was measured, and its formula."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from assay.contracts.recorded import DerivedRecord
from assay.errors import ExperimentError
from assay.text.keys import TEXT, in_file
from assay.workload.parameters import Scalar
from assay.workload.schema import VARIABLE, Expression, evaluate

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
    scripts: tuple[str, ...]
    """Whose transactions it reads."""
    is_more_better: bool

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
        return list(dict.fromkeys(VARIABLE.findall(self.value.text)))

    @staticmethod
    def of_record(record: DerivedRecord) -> DerivedMetric:
        """Without its scripts, which are not needed for the formula."""
        return DerivedMetric(
            name=record["name"],
            title=record["title"],
            help=record["help"],
            value=Expression(record["value"], 0),
            test=record["test"],
            scripts=(),
            is_more_better=record["is_more_better"],
        )

    def for_record(self) -> DerivedRecord:
        return DerivedRecord(
            name=self.name,
            title=self.title,
            help=self.help,
            value=self.value.text,
            test=self.test,
            is_more_better=self.is_more_better,
        )

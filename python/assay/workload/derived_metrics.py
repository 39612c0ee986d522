"""A metric that a workload derives from what was measured, with its formula."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

from msgspec import Struct

from assay.errors import ExperimentError
from assay.text.keys import SCALAR, TEXT, TEXTS, OneOf, in_file
from assay.text.toml_file import TomlTable
from assay.workload import script_names
from assay.workload.parameters import Scalar
from assay.workload.schema import VARIABLE, Expression, evaluate, expression_of_key
from assay.workload.script_names import NamedScript

INPUTS = {
    "geometric_mean_s": "the geometric mean of the mean times of the scripts, in seconds",
    "completed": "how many of their transactions ended ok",
    "elapsed_s": "the seconds of the whole measurement",
}
"""What a formula reads of a run."""


BETTER = ("more", "less")


def _scripts(
    section: TomlTable, key: str, _tests: Iterable[str], scripts: Mapping[str, NamedScript]
) -> tuple[str, ...]:
    if "test" not in section:
        raise section.error("scripts of no test", key, hint='test = "NAME"')
    return script_names.named_scripts(section, key, section.texts(key), scripts)


class DerivedMetric(Struct, frozen=True):
    name: str
    title: Annotated[str, in_file(TEXT, "Its name, for reports.")]
    help: Annotated[str, in_file(TEXT, "What it says, in a few words.")]
    value: Annotated[Expression, in_file(
        SCALAR, f"The formula: {', '.join(f':{name}' for name in INPUTS)}, parameters and "
        "constants.",
        expression_of_key,
    )]  # fmt: skip
    test: Annotated[str, in_file(
        TEXT, "The test whose runs have it; without one it is derived from the metrics above it, "
        "of several tests.",
        lambda section, key, tests, _scripts: section.choice(key, tests),
    )] = ""  # fmt: skip
    scripts: Annotated[tuple[str, ...], in_file(
        TEXTS, "The scripts whose transactions it reads; otherwise all of the test. Where one of "
        "these did not end ok, there is no value.",
        _scripts,
    )] = ()  # fmt: skip
    is_more_better: Annotated[bool, in_file(
        OneOf(BETTER), "Which value is better; otherwise the greater one.",
        lambda section, key, *_: section.choice(key, BETTER) == BETTER[0],
        name="better",
    )] = True  # fmt: skip

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

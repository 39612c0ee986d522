"""A metric that is derived from several tests is compared, from the runs of one repetition each."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import comparison
from assay.comparison.sides.values import Compared
from assay.record import ExperimentRecord
from step_workloads import folder_of, ran

TESTS = """\
scripts = ["read.sql"]
passes = 3
clients = [1]

[tests.other]
title = "Other"
help = "Another test"
scripts = ["all.sql"]
passes = 2
clients = [2]

[derived.one]
title = "One"
help = "of the first test"
test = "t"
value = ":completed"

[derived.two]
title = "Two"
help = "of the other"
test = "other"
value = "10.0 * :completed / 2"

[derived.both]
title = "Both"
help = "of both"
value = ":one * :two"
better = "less"
"""


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRecord:
    folder = folder_of(tmp_path_factory.mktemp("both") / "both", TESTS)
    return ran(
        Path(f"{folder}.t,other"),
        "sqlite",
        records=folder / "records.sqlite",
        repetitions=2,
        set=("sqlite.synchronous=full,off",),
    )


def of_cell(record: ExperimentRecord, test: str) -> dict[str, Compared]:
    found = comparison.compare(comparison.side("A", "", [record]), None, between="synchronous")
    (cell,) = (one for one in found.cells if one.test == test)
    return {one.metric.name: one for one in cell.metrics}


def test_it_has_a_ratio_with_the_last_of_its_tests(record: ExperimentRecord) -> None:
    assert "both" not in of_cell(record, "t")
    metrics = of_cell(record, "other")
    assert (metrics["two"].a, metrics["both"].a) == (20, 60)
    assert metrics["both"].a_values == metrics["both"].b_values == (60, 60)
    estimate = metrics["both"].estimate
    assert estimate is not None and estimate.ratio == 1
    assert not metrics["both"].metric.is_more_better

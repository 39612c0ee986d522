"""A workload derives metrics from what was measured: of a run, where each of its transactions ended
ok, and of several tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_declared_results import WORKLOAD

import observations
from assay.contracts.observation import DerivedValue, Observation
from assay.errors import ExperimentError
from assay.judge import derived_metrics
from assay.judge.check.verdict import STATEMENT_LIMIT
from assay.workload import reader

S = 10**9
SPEED = """
[derived.speed]
title = "Speed"
help = "by the geometric mean"
test = "all"
scripts = ["buy", "look"]
value = "12.0 / :geometric_mean_s + :completed / :elapsed_s"
"""


def _read(folder: Path, more: str) -> reader.Workload:
    (folder / "workload.toml").write_text(WORKLOAD + more, encoding="utf-8")
    for name in ("buy", "look", "other"):
        (folder / f"{name}.sql").write_text("select 1;\n")
    return reader.read(str(folder))


def _observation(**of_look: int) -> Observation:
    def of_type(name: str, count: int, each_s: int) -> dict[str, Any]:
        times = observations.latency(count, each_s * S)
        beside = {"late": 0, "service_time": times, "schedule_lag": None}
        return {"name": name, "outcome": "ok", "count": count, "latency": times, **beside}

    return observations.observation(
        elapsed_ns=50 * S,
        outcomes_by_transaction=[
            {"name": "buy", **observations.outcomes(ok=4)},
            {"name": "look", **observations.outcomes(**{"ok": 1, **of_look})},
        ],
        transactions=[of_type("buy", 4, 2), of_type("look", 1, 8)],
        errors=[
            observations.error(transaction="look", code=STATEMENT_LIMIT)
            for _ in range(of_look.get("failed", 0))
        ],
    )


def _found(workload: reader.Workload, observation: Observation) -> DerivedValue:
    metrics = list(workload.derived.values())
    (found,) = derived_metrics.of_run(metrics, observation, {}, workload.schema.file)
    return found


def test_a_metric_is_of_the_named_scripts(tmp_path: Path) -> None:
    found = _found(_read(tmp_path, SPEED), _observation())
    assert found.value == pytest.approx(12 / 4 + 5 / 50)


def test_there_is_none_where_a_transaction_did_not_end_ok(tmp_path: Path) -> None:
    """Its time would be missing in the mean, and the metric better for it."""
    workload = _read(tmp_path, SPEED)
    cancelled = _found(workload, _observation(failed=1))
    assert cancelled.value is None
    assert cancelled.why_none == "look: cancelled at the limit of a statement"
    unknown = _found(workload, _observation(unknown=1))
    assert (unknown.value, unknown.why_none) == (None, "look: not all ended ok")


@pytest.mark.parametrize("numerator", ["1.0", "1"])
def test_there_is_none_where_the_formula_divides_by_0(tmp_path: Path, numerator: str) -> None:
    divided = SPEED.replace("12.0", f"{numerator} / (:completed - :completed) + 12.0")
    found = _found(_read(tmp_path, divided), _observation())
    assert (found.value, found.why_none) == (None, "the formula has no value")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ((":geometric_mean_s", ":geometric_mean"), "nothing is called 'geometric_mean'"),
        (('"look"', '"other"'), "the test does not run 'other'"),
        (("12.0", "12.0 +"), "value|expression|expected"),
        (('test = "all"\n', ""), "scripts of no test"),
        (('help = "by', 'better = "most"\nhelp = "by'), "better"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, change: tuple[str, str], reason: str
) -> None:
    assert SPEED.count(change[0]) == 1
    with pytest.raises(ExperimentError, match=reason) as refused:
        _read(tmp_path, SPEED.replace(*change))
    assert refused.value.line

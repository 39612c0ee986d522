"""The questions and refreshes of TPC-H on real systems: all systems answer alike, and a wrong
refresh is found by the check that is for it."""

from __future__ import annotations

import math
import statistics
from pathlib import Path

import pytest

from able import able_to_run, beside_their_line, of_each_kind
from assay import registry
from commands import IN_MEMORY, Assay, need, why_missing
from smaller_workloads import changed_copy

FOLDER = Path(registry.__file__).parent / "workloads" / "tpch"
SCALE = "scale=0.01"


def test_systems_answer_the_22_questions_alike(
    assay: Assay, request: pytest.FixtureRequest
) -> None:
    """With the values of the validation, and with others, on data that are loaded once."""
    able = able_to_run("tpch")
    left = [] if request.config.getoption("--every-system") else beside_their_line(able)
    systems = [one for one in able if one not in left and why_missing(one) is None]
    assert len(systems) > 1, "nothing to compare with"
    ended = assay(
        "run", "tpch", "--on", ",".join(systems), "--set", SCALE,
        "--set", "substitution=validation,drawn", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    for substitution in ("validation", "drawn"):
        runs = [one for one in ended.runs if one.parameters["substitution"] == substitution]
        assert [run.system for run in runs] == systems
        for run in runs:
            assert run.driven is not None
            assert run.driven.outcomes.ok == 22
        # The first had nothing to be compared with.
        for run in runs[1:]:
            assert [check["ok"] for check in run.checks] == [True] * 22


@pytest.mark.parametrize("system", of_each_kind(able_to_run("tpch.power,throughput"), turn=0))
def test_refreshes_leave_what_was_acknowledged(assay: Assay, system: str) -> None:
    need(system)
    ended = assay(
        "run", "tpch.power,throughput", "--on", system, "--set", SCALE, *IN_MEMORY
    )  # fmt: skip
    assert ended.status == 0, ended.err
    power, throughput = ended.runs
    for run, transactions in ((power, 24), (throughput, 2 * 22 + 2 * 2)):
        assert run.driven is not None
        assert run.driven.outcomes.ok == transactions
        assert run.checks and all(check["ok"] for check in run.checks)
    assert power.driven is not None and throughput.driven is not None
    names = [one.name for one in power.driven.outcomes_by_transaction]
    means_s = [one.mean_ns / 1e9 for name in names if (one := power.driven.latency_of(name))]
    (of_power,) = power.driven.derived
    (of_throughput,) = throughput.driven.derived
    assert of_power.value == pytest.approx(36 / statistics.geometric_mean(means_s))
    of_streams = 36 * 2 * 22 / (throughput.driven.elapsed_ns / 1e9)
    assert of_throughput.value == pytest.approx(of_streams)
    ended = assay("report", "--format", "json")
    both = ended.document["tables"]["derived"][-1]
    assert both["value"] == pytest.approx(math.sqrt(of_power.value * of_streams))
    assert both["runs"] == [str(power.id), str(throughput.id)]


def test_a_query_over_the_limit_is_in_no_figure(assay: Assay) -> None:
    """It is cancelled, the others go on, and neither mean nor table passes it over in silence."""
    ended = assay(
        "run", "tpch.power", "--on", "sqlite", "--set", SCALE,
        "--statement-limit", "1ms", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.driven is not None
    assert run.driven.outcomes.failed > 0 < run.driven.outcomes.ok
    assert "for the limit of a statement" in run.judged.reason
    (figure,) = run.driven.derived
    assert figure.value is None and "cancelled at the limit" in figure.why_none


@pytest.mark.parametrize(
    "mistakes",
    [
        {
            "inserted": ("rf1.sql", "\\commit", "rollback;"),
            "deleted": ("rf2.sql", "\\commit", "rollback;"),
        },
        {
            "totals": ("rf1.sql", "set total :total +", "set total 1 +"),
            "lines": ("rf2.sql", "delete from lineitem where l_orderkey = :key;\n", ""),
        },
    ],
    ids=["rolled back", "wrong rows"],
)
def test_a_wrong_refresh_is_found_by_its_check(
    assay: Assay, tmp_path: Path, mistakes: dict[str, tuple[str, str, str]]
) -> None:
    folder = changed_copy("tpch", tmp_path, *mistakes.values())
    ended = assay(
        "run", f"{folder}.power", "--on", "sqlite", "--set", SCALE, *IN_MEMORY
    )  # fmt: skip
    assert ended.status == 1, ended.err
    (run,) = ended.runs
    assert {check["id"] for check in run.checks if not check["ok"]} >= set(mistakes)

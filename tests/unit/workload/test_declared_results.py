"""A test declares the rate by which it is known, and how long its transactions may take."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.contracts.experiment import ScriptFile
from assay.contracts.observation import Headline, ResponseLimit
from assay.errors import ExperimentError
from assay.workload import ad_hoc_script, reader

WORKLOAD = """\
title = "Small"
source = "nowhere"
default_test = "all"

[data]
source = "none"

[tests.all]
title = "All"
help = "All of it"
scripts = ["buy", "look"]
passes = 1
"""


def _read(folder: Path, more: str) -> reader.Workload:
    (folder / "workload.toml").write_text(WORKLOAD + more, encoding="utf-8")
    for name in ("buy", "look", "other"):
        (folder / f"{name}.sql").write_text("select 1;\n")
    return reader.read(str(folder))


def test_both_are_of_the_scripts_that_are_named_in_any_way(tmp_path: Path) -> None:
    more = (
        'headline = { title = "sales", transactions = ["b*.sql"] }\n'
        'response_limits = { buy = "p90 < 5s", "look.sql" = " p99.9<250 ms" }\n'
    )
    test = _read(tmp_path, more).test("all")
    assert test.headline == Headline("sales", ("buy",))
    assert test.response_limits == (
        ResponseLimit("buy", "p90", 5_000_000_000),
        ResponseLimit("look", "p99.9", 250_000_000),
    )


def test_other_scripts_have_neither(tmp_path: Path) -> None:
    more = (
        'headline = { title = "sales", transactions = ["buy"] }\nresponse_limits.buy = "p90 < 5s"\n'
    )
    workload = _read(tmp_path, more)
    given = [ScriptFile(str(tmp_path / "other.sql"))]
    test = ad_hoc_script.with_scripts(workload, given, ["all"]).test("all")
    assert (test.headline, test.response_limits) == (None, ())


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('headline = { title = "sales", transactions = ["bye"] }', "no script is called 'bye'"),
        ('headline = { title = "sales", transactions = ["other"] }', "does not run 'other'"),
        ('headline = { transactions = ["buy"] }', "title"),
        ('response_limits = { other = "p90 < 5s" }', "does not run 'other'"),
        ('response_limits = { buy = "p90 > 5s" }', "expected a percentile, < and a duration"),
        ('response_limits = { buy = "p42 < 5s" }', "expected a percentile, < and a duration"),
        ('headline = { transaction = ["buy"], title = "" }', "transactions is missing"),
        ('response_limits = { buy = "p90 < soon" }', "expected a number of seconds"),
        ('response_limits = { buy = "p90 < 5" }', "a duration with its unit"),
        ('response_limits = { buy = "p90 <= 5s" }', "expected a percentile, < and a duration"),
    ],
)
def test_a_mistake_is_placed(tmp_path: Path, line: str, complaint: str) -> None:
    with pytest.raises(ExperimentError) as refused:
        _read(tmp_path, line)
    assert complaint in str(refused.value)
    assert (refused.value.line, bool(refused.value.hint)) == (13, "title" not in complaint)

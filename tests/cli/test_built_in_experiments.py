"""The experiment files that come with Assay are found by their names in any folder."""

from __future__ import annotations

from pathlib import Path

from assay import registry
from commands import Assay


def test_they_are_listed_with_what_they_reproduce(assay: Assay) -> None:
    listed = assay("list", "experiments", "--format", "json").document
    assert [row["experiment"] for row in listed] == [
        f"{name}.toml" for name in registry.experiments()
    ]
    assert all(row["title"] and row["reproduces"] and row["tests"] for row in listed)


def test_one_is_found_in_any_folder(assay: Assay) -> None:
    plans = [
        assay("plan", name, "--quick", "--only", "sqlite").out
        for name in ("kreymer-1995.toml", "experiments/kreymer-1995.toml")
    ]
    assert plans[0] == plans[1] != ""


def test_a_file_of_the_same_name_comes_first(assay: Assay, working_folder: Path) -> None:
    own = working_folder / "kreymer-1995.toml"
    own.write_text('workload = "tpcb"\ntest = "no-such"\n')
    refused = assay("plan", own.name)
    assert refused.status == 2
    assert "kreymer-1995.toml:2" in refused.err


def test_an_unknown_file_is_refused(assay: Assay) -> None:
    refused = assay("plan", "kreymer-1996.toml")
    assert refused.status == 2
    assert "kreymer-1996.toml" in refused.err

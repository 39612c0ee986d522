"""Report tables that a workload declares, the line of a mistake, and the format of numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import registry
from assay.errors import ExperimentError
from assay.files import toml_file
from assay.report import check_declarations
from assay.report.cells import declaration, published
from assay.text import units
from assay.workload import reader
from assay.workload.answers import PUBLISHED_FILE, published_names


def read(folder: Path, text: str) -> declaration.Declaration:
    file = folder / "workload.toml"
    file.write_text(text)
    return declaration.read(toml_file.read(file).section("report").section("t"), "t")


def test_an_empty_declaration_shows_elapsed_times(tmp_path: Path) -> None:
    found = read(tmp_path, "[report.t]\n")
    assert (found.rows, found.columns, found.value, found.unit) == (
        "system",
        "storage",
        "elapsed",
        "s",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[report.t]\nvalue = "elapsd"\n', "workload.toml:2: value = 'elapsd': invalid value"),
        ('[report.t]\nunit = "h"\n', "workload.toml:2: unit = 'h'"),
        ('[report.t]\ntitle = "x"\nspeedup = true\n', "workload.toml:3: unknown key 'speedup'"),
        ("[report.t]\nscalability = true\n", "workload.toml:2: scalability compares"),
        ('[report.t]\nrows = "storage"\n', "three different factors"),
        ('[report.t]\nfields = [{ key = "x" }]\n', "title is missing"),
        (
            '[report.t]\nalong = "days"\nfields = [{ key = "x", title = "one" }]\n',
            "workload.toml:2: the titles of fields along something are numbers",
        ),
    ],
)
def test_a_wrong_report_declaration_is_refused_at_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(ExperimentError) as refused:
        read(tmp_path, text)
    assert message in refused.value.message


def test_a_published_row_has_a_value_for_each_column(tmp_path: Path) -> None:
    file = tmp_path / "published.toml"
    file.write_text(
        '[t]\nsource = "s"\nunit = "s"\ncolumns = ["a", "b"]\n'
        'rows = [{ system = "x", values = [1] }]\n'
    )
    with pytest.raises(ExperimentError, match=r"published.toml:5: x: a value for each of"):
        published.read(toml_file.read(file).section("t"))


def test_what_a_paper_says_in_words_stands_beside_our_number() -> None:
    """Cassandra's count of all jobs "may take hours", in a report that repeats no paper as well."""
    table = reader.read("glidemon").published["count"]
    section = toml_file.Section(Path("published.toml"), "", ("count",), table)
    beside = published.read(section)
    assert [cell.shown for cell in beside.cells(beside.rows[0])] == ["may take hours"]


def test_numbers_have_four_significant_digits_and_no_exponent() -> None:
    shown = [units.digits(value) for value in (0, 0.0012345, 0.5, 9.9999, 88.28, 2682.88, 123456)]
    assert shown == ["0", "0.001234", "0.5000", "10.00", "88.28", "2683", "123456"]


def test_sizes_are_decimal() -> None:
    shown = [units.percent(value) for value in (0, 0.0042, 0.031, 0.0999, 0.5)]
    assert shown == ["0 %", "0.42 %", "3.1 %", "10 %", "50 %"]
    shown = [units.size(value) for value in (0, 999, 1500, 694_737_740, 3.5e9, 999.9e6)]
    assert shown == ["0 B", "999 B", "1.5 kB", "695 MB", "3.5 GB", "1 GB"]


PUBLISHED = {
    "bibsql": ["sequential", "parallel", "processes", "sizes"],
    "e831": ["table"],
    "glidemon": ["table", "response", "tasks", "load", "count", "aggregate"],
    "ssd": ["insert", "select-narrow", "select-wide"],
    "tpcb": [],
}
"""Workload → its tests and series with published values."""


@pytest.mark.parametrize("name", registry.workloads())
def test_what_our_own_workloads_declare_and_publish_can_be_read(name: str) -> None:
    workload = reader.read(name)
    check_declarations(workload)
    file = workload.folder / PUBLISHED_FILE
    assert (published_names(toml_file.read(file)) if file.is_file() else []) == PUBLISHED[name]

"""Report tables that a workload declares, the line of a mistake, and the format of numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

import invented_records as invented
import step_workloads
from assay import registry
from assay.errors import ExperimentError
from assay.experiment import SystemChoice
from assay.report import check_declarations
from assay.report.declared import declaration, field_path, published
from assay.text import units
from assay.text.files import toml_file
from assay.workload import reader
from assay.workload.expected_answers import PUBLISHED_FILE, published_names


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


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('unit = "s"\ncolumns = ["a", "b"]', r"published.toml:5: x: a value for each of"),
        (
            'unit = "s, MB"\ncolumns = ["a"]\nmeasured = [{ test = "t" }]',
            r"published.toml:3: unit: 's, MB': expected one unit, or one for each of",
        ),
    ],
)
def test_a_published_table_has_a_value_and_a_unit_for_each_column(
    tmp_path: Path, table: str, message: str
) -> None:
    file = tmp_path / "published.toml"
    rows = 'rows = [{ system = "x", values = [1] }]'
    file.write_text(f'[t]\nsource = "s"\n{table}\n{rows}\n')
    with pytest.raises(ExperimentError, match=message):
        published.read(toml_file.read(file).section("t"))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('unit = "h"\ncolumns = ["here"]', "unit: 'h' of 'here'"),
        (
            'unit = "s, GiB"\ncolumns = ["time", "size"]\nmeasured = [{ test = "t" }, '
            '{ test = "t", value = "size_on_disk" }]',
            "unit: 'GiB' of 'size'",
        ),
        ('unit = "us"\ncolumns = ["c"]\nmeasured = [{ test = "t", key = "a_ns" }]', "'us' of 'c'"),
        ('unit = "words"\ncolumns = ["c"]\nmeasured = [{ test = "t", key = "a" }]', ""),
    ],
)
def test_a_unit_into_which_our_value_is_not_converted_is_refused_before_a_run(
    tmp_path: Path, table: str, message: str
) -> None:
    folder = step_workloads.folder_of(tmp_path, 'scripts = ["read.sql"]\npasses = 1\n')
    (tmp_path / "published.toml").write_text(f'[t]\nsource = "s"\n{table}\nrows = []\n')
    workload = reader.read(str(folder))
    if not message:
        check_declarations(workload)
        return
    with pytest.raises(ExperimentError) as refused:
        check_declarations(workload)
    assert (refused.value.line, "known: " in str(refused.value.hint)) == (3, True)
    assert message in refused.value.message


def test_one_unit_is_that_of_every_column() -> None:
    table = {"source": "s", "unit": "s", "columns": ["a", "b"], "rows": []}
    section = toml_file.TomlTable(Path("published.toml"), "", ("t",), table)
    assert published.read(section).units == ("s", "s")


def test_what_a_paper_says_in_words_stands_beside_our_number() -> None:
    """Cassandra's count of all jobs "may take hours", in a report that repeats no paper as well."""
    table = reader.read("glidemon").published["count"]
    section = toml_file.TomlTable(Path("published.toml"), "", ("count",), table)
    beside = published.read(section)
    assert [cell.shown for cell in beside.cells(beside.rows[0])] == ["may take hours"]


def test_numbers_have_four_significant_digits_and_no_exponent() -> None:
    shown = [units.digits(value) for value in (0, 0.0012345, 0.5, 9.9999, 88.28, 2682.88, 123456)]
    assert shown == ["0", "0.001234", "0.5000", "10.00", "88.28", "2683", "123456"]


def test_sizes_are_decimal_and_durations_have_no_exponent() -> None:
    of_time_s = (0, 1e-5, 0.0123, 0.5, 42, 720, 12_600, 360_000, 864_000)
    assert [units.duration(value_s) for value_s in of_time_s] == [
        "0 s", "10 µs", "12.3 ms", "500 ms", "42 s", "12 min", "3.5 h", "4.2 days", "10 days"
    ]  # fmt: skip
    shown = [units.percent(value) for value in (0, 0.0042, 0.031, 0.0999, 0.5)]
    assert shown == ["0 %", "0.42 %", "3.1 %", "10 %", "50 %"]
    shown = [units.size(value) for value in (0, 999, 1500, 694_737_740, 3.5e9, 999.9e6)]
    assert shown == ["0 B", "999 B", "1.5 kB", "695 MB", "3.5 GB", "1 GB"]


PUBLISHED = {
    "as3ap": ["oltp", "single", "osdb"],
    "bibsql": ["sequential", "parallel", "processes", "sizes"],
    "e831": ["table", "connect", "update"],
    "glidemon": ["table", "response", "tasks", "load", "count", "aggregate"],
    "ssd": ["insert", "select-narrow", "select-wide"],
    "tpcc": ["paced"],
}
"""Workload → its tests and series with published values; of others there are none."""


@pytest.mark.parametrize("name", registry.workloads())
def test_what_our_own_workloads_declare_and_publish_can_be_read(name: str) -> None:
    workload = reader.read(name)
    check_declarations(workload)
    file = workload.folder / PUBLISHED_FILE
    assert (published_names(toml_file.read(file)) if file.is_file() else []) == PUBLISHED.get(
        name, []
    )


def test_a_derived_metric_has_no_name_of_a_metric_of_every_run(tmp_path: Path) -> None:
    folder = step_workloads.folder_of(tmp_path, 'scripts = ["read.sql"]\npasses = 1\n')
    file = folder / "workload.toml"
    metric = 'title = "T"\nhelp = "h"\ntest = "t"\nscripts = ["read"]\nvalue = ":completed"\n'
    file.write_text(f"{file.read_text('utf-8')}\n[derived.throughput_per_s]\n{metric}")
    with pytest.raises(ExperimentError, match="throughput_per_s is a metric of every run") as error:
        check_declarations(reader.read(str(folder)))
    assert error.value.line


def test_a_path_leads_to_what_is_known_of_the_server(tmp_path: Path) -> None:
    planned = invented.plan([SystemChoice("sqlite")])
    made = {"creation_ns": 7}
    path = tmp_path / "records.sqlite"
    (run,) = invented.experiment(path, planned, 1.0, deployment=made).runs
    assert field_path.value(run, "deployment.creation_ns") == 7
    assert field_path.value(run, "deployment.no_field") is None

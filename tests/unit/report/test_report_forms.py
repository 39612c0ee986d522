"""One report, invented and complete, in each form; what a workload and a goal declare of it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import golden_record
import invented_records as invented
import step_workloads
from assay import registry
from assay.contracts.metric import ReportColumn
from assay.errors import ExperimentError
from assay.experiment import Driving, SystemChoice
from assay.record import ExperimentRecord, Run
from assay.report import check_declarations
from assay.report.build import build
from assay.report.cell_runs import cells
from assay.report.declared import declaration, published
from assay.report.forms import markdown as markdown_form
from assay.report.forms import table
from assay.report.forms import table as table_form
from assay.report.forms.csv import write_rows
from assay.report.summaries import first_look
from assay.report.values import Report, ReportTable, Row, Section, count, text
from assay.text import toml_file, units
from assay.workload import reader
from assay.workload.expected_answers import PUBLISHED_FILE, published_names
from shown_report import text_of


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return build(golden_record.of_a_paper(tmp_path_factory.mktemp("records") / "r.sqlite"))


@pytest.mark.slow
def test_a_table_is_never_wider_than_80_columns_and_loses_nothing(tmp_path: Path) -> None:
    storages = [
        replace(invented.SSD, name=f"storage-{letter}", directory=f"/{letter}")
        for letter in "abcdefg"
    ]
    planned = invented.plan([invented.MARIADB], storages, repetitions=2)
    report = build(
        invented.experiment(tmp_path / "r.sqlite", planned, 1234.5, workload=golden_record.PAPER)
    )
    text = text_of(table_form, report, detail=True)
    assert max(len(line) for line in text.splitlines()) <= 80
    for storage in storages:
        assert storage.name in text
    result = text[text.index("Test parallel") : text.index("Transaction out")]
    assert result.count("1234 (1234-1234)") == len(storages)


def test_texts_are_broken_at_the_ends_of_words() -> None:
    """Only what is longer than its column is broken within a word."""
    storages = ("modelled[profile=scsi-15k,size=128M]", "loop[size=128M,mount=nobarrier]")
    rows = [Row((text("1"), text(name), count(1234567890))) for name in storages]
    columns = (
        ReportColumn("run"),
        ReportColumn("storage"),
        *(ReportColumn("x" * 40, is_number=True),),
    )
    section = Section("s", (), (ReportTable("t", "t", columns, tuple(rows), label_columns=2),))
    made = Report("r", (1,), Path("r"), {}, (section,), (), 1)
    rendered = text_of(table_form, made)
    words = {"modelled[profile=scsi-15k,", "size=128M]", "loop[size=128M,mount=nobarrier]"}
    assert words <= set(rendered.split()), rendered
    version = "PostgreSQL 15.18 (Debian 15.18-0+deb12u1) at 127.0.0.1"
    assert list(table.lines_of(version, 13)) == [
        "PostgreSQL", "15.18 (Debian", "15.18-0+", "deb12u1) at", "127.0.0.1",
    ]  # fmt: skip


def test_markdown_rows_have_as_many_cells_as_their_heads(report: Report) -> None:
    text = text_of(markdown_form, report)
    tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
    assert len(tables) > 10
    for lines in tables:
        assert len({line.count("|") - line.count("\\|") for line in lines}) == 1, lines
    assert "| **clients = 16** |" in text
    assert "~" not in text.replace("\\~", ""), "a bare ~ would strike text out"


def test_titles_are_escaped_in_markdown(report: Report) -> None:
    text = text_of(markdown_form, structs.replace(report, title="<script>alert(1)</script>"))
    assert text.startswith("# \\<script>alert(1)\\</script>\n")


def test_a_text_that_spreadsheets_would_execute_is_none_in_csv() -> None:
    texts = ["=1+1", "+x", "-x", "@x", "\tx", "a=1", "-1", "+1e3"]
    stream = io.StringIO()
    write_rows(stream, 1, ["n", "text"], [{"n": -1.5, "text": text} for text in texts])
    rows = list(csv.DictReader(stream.getvalue().splitlines()))
    assert [row["n"] for row in rows] == ["-1.5"] * len(texts)
    assert [row["text"] for row in rows[:4]] == ["'=1+1", "'+x", "'-x", "'@x"]
    assert [row["text"] for row in rows[5:]] == ["a=1", "-1", "+1e3"]


def test_a_row_is_found_by_its_name(tmp_path: Path) -> None:
    """Other columns are narrowed first: no name is broken, and no table of 80 columns is cut in
    two."""
    system = SystemChoice("postgresql", url="postgresql://u@127.0.0.1/d")
    planned = invented.plan([system], test="checks", clients=(1,))
    text = text_of(table_form, build(invented.experiment(tmp_path / "r.sqlite", planned, 1.5)))
    assert text.count("postgresql at 127.0.0.1") == len(re.findall("postgresql at", text))
    for section in text.split("\n\n"):
        assert len(re.findall("^ *─", section, re.MULTILINE)) <= 1, section


def read(folder: Path, text: str) -> declaration.Declaration:
    file = folder / "workload.toml"
    file.write_text(text)
    return declaration.read(toml_file.read(file).section("report").section("t"), "t")


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
    shown = [units.size(value) for value in (0, 999, 1500, 694_737_740, 3.5e9, 999.9e6, 1.1e15)]
    assert shown == ["0 B", "999 B", "1.5 kB", "695 MB", "3.5 GB", "1 GB", "1100 TB"]


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


SECONDS = 10.0
MS = 1_000_000


def searched(
    path: Path,
    p99_ms: Mapping[float, float],
    goal: str = "p99 < 5ms",
    repetitions: int = 1,
    reached: Mapping[float, float] | None = None,
    others: Mapping[float, float] | None = None,
) -> ExperimentRecord:
    """Offered rate per second → its p99, and the share of the rate that was reached."""
    rates = [
        Driving(duration_s=SECONDS, arrival="constant", offered_rate_per_s=rate) for rate in p99_ms
    ]
    planned = invented.plan([invented.POSTGRESQL], driving=rates, repetitions=repetitions)
    record = invented.experiment(path / "records.sqlite", planned, SECONDS)

    def measured(run: Run) -> Run:
        assert run.driving is not None and run.driven is not None
        rate = run.driving.offered_rate_per_s
        assert isinstance(rate, float)
        scheduled = round(rate * SECONDS)
        ended = round(scheduled * (reached or {}).get(rate, 1.0))
        value_ns = round(p99_ms[rate] * MS)
        times = {
            **run.driven.document["all_ok"]["latency"], "count": ended, "p50_ns": value_ns // 5,
            "p99_ns": value_ns, "p99_9_ns": 3 * value_ns,
        }  # fmt: skip
        found = invented.changed(
            run,
            "observation",
            outcomes={"scheduled": scheduled, "ok": ended},
            all_ok={**run.driven.document["all_ok"], "count": ended, "latency": times},
            intervals=[{"second": second, "ok": int(rate)} for second in range(int(SECONDS))],
            elapsed_ns=round(SECONDS * 1e9),
        )
        share = (others or {}).get(rate)
        return invented.disturbed(found, share) if share else invented.judged_again(found)

    asked = replace(record.experiment, goal=goal)
    return structs.replace(record, runs=tuple(map(measured, record.runs)), experiment=asked)


def look(record: ExperimentRecord) -> str:
    return "\n".join(first_look.lines(record, build(record), 120, "assay report 1"))


def goals_of(record: ExperimentRecord) -> dict[str, Any]:
    (row,) = build(record).tidy["tables"]["goals"]
    found: dict[str, Any] = row
    return found


def section(record: ExperimentRecord) -> dict[str, str]:
    (shown,) = [
        one for part in build(record).sections for one in part.tables if one.name.endswith("_goal")
    ]
    titles = [column.title for column in shown.columns]
    return dict(zip(titles, [cell.shown for cell in shown.rows[0].cells], strict=True))


def test_line_section_and_json_have_the_interval_and_its_runs(tmp_path: Path) -> None:
    record = searched(tmp_path, {780.0: 4.0, 825.0: 7.0}, repetitions=6)
    words = (
        "met up to 780/s (p99 latency 4.00 ms, 6 runs), not at 825/s (p99 latency 7.00 ms, 6 runs)"
    )
    assert words in " ".join(look(record).split())
    shown = section(record)
    assert (shown["met at /s"], shown["not at /s"], shown["found"]) == ("780", "825", words)
    row = goals_of(record)
    assert (row["met_at_per_s"], row["not_met_at_per_s"]) == (780, 825)
    assert (row["met_runs"], row["not_met_runs"], row["not_decided"]) == (6, 6, None)


def test_line_section_and_json_say_that_nothing_is_decided_beside_other_programs(
    tmp_path: Path,
) -> None:
    record = searched(tmp_path, {7.02: 90.0, 100.0: 95.0}, others={7.02: 0.73})
    why = "other programs used 73 % of the CPUs at 7.02/s"
    assert f"p99 < 5ms: not decided: {why}" in " ".join(look(record).split())
    shown = section(record)
    assert (shown["met at /s"], shown["not at /s"]) == ("-", "-")
    assert shown["found"] == f"not decided: {why}"
    row = goals_of(record)
    assert (row["met_at_per_s"], row["not_met_at_per_s"], row["why_not_met"]) == (None, None, None)
    assert (row["not_decided"], row["other_programs"]) == (why, pytest.approx(0.73, rel=0.01))
    assert "offered rate goal not decided at 7.02/s" in " ".join(look(record).split())
    (tmp_path / "met").mkdir()
    record = searched(tmp_path / "met", {100.0: 1.0, 200.0: 20.0}, others={200.0: 0.73})
    assert goals_of(record)["not_decided"] == (
        "other programs used 73 % of the CPUs at 200/s; 100/s met it (p99 latency 1.00 ms)"
    )


def test_line_section_and_json_say_how_many_transactions_a_percentile_needs(tmp_path: Path) -> None:
    record = searched(tmp_path, {2.0: 1.0})
    why = "at 2/s 20 transactions; p99 latency needs at least 368: measure 184 s or longer"
    said = " ".join(look(record).split())
    assert f"p99 < 5ms: not decided: {why}" in said and "goal missed" not in said
    assert "goal not decided (2" in said
    assert (section(record)["found"], goals_of(record)["not_decided"]) == (
        f"not decided: {why}", why
    )  # fmt: skip


def test_an_offered_rate_is_kept_if_it_is_reached_and_meets_the_goal(tmp_path: Path) -> None:
    """797/s of 825/s is beyond what may be late; 780/s missed the goal."""
    record = searched(tmp_path, {740.0: 4.0, 780.0: 57.0, 825.0: 57.0}, reached={825.0: 797 / 825})
    kept = "kept up to 740/s, goal missed at 780/s"
    assert f"offered rate {kept}" in " ".join(look(record).split())
    report = build(record)
    assert f"offered rate: {kept}" in report.summary.lines
    notes = [note for part in report.sections for one in part.figures for note in one.notes]
    assert kept in notes
    without = structs.replace(record, experiment=replace(record.experiment, goal=""))
    assert "kept up to 780/s, not at 825/s (797.0/s reached)" in " ".join(look(without).split())


@pytest.mark.parametrize(
    ("goal", "title", "first"),
    [("p99.9 < 5ms", "p99.9", "12"), ("mean < 5ms", "mean", ""), ("p99 < 5ms", "p99", "4")],
)
def test_the_first_table_has_the_percentile_that_was_asked_for(
    tmp_path: Path, goal: str, title: str, first: str
) -> None:
    record = searched(tmp_path, {780.0: 4.0, 825.0: 7.0}, goal)
    lines = look(record).splitlines()
    (head,) = [line for line in lines if " TPS " in line]
    assert head.split().count(title) == 1
    has_value = re.compile(rf" {first}[.]?0* ms")
    assert not first or any(map(has_value.search, lines[lines.index(head) :])), lines
    (shown,) = build(record).summary.tables
    place = [column.title for column in shown.columns].index(title)
    assert not first or shown.rows[0].cells[place].shown.startswith(first)


def test_the_report_says_how_many_repetitions_were_measured_again(tmp_path: Path) -> None:
    record = searched(tmp_path, {780.0: 4.0}, "", repetitions=4)
    first, second, third, fourth = record.runs
    runs = (
        invented.disturbed(first, 0.4),
        second,
        third,
        invented.planned_as(fourth, in_place_of=1),
    )
    record = structs.replace(record, runs=runs)
    words = "1 of 4 runs left out, as other programs disturbed it; 1 measured again"
    assert f"disturbed {words}" in " ".join(look(record).split())
    report = build(record)
    assert f"disturbed: {words}" in report.summary.lines
    (cell,) = cells(record, record.runs)
    assert [run.id for run in cell.measured] == [fourth.id, second.id, third.id]
    assert first.id not in [run.id for run in cell.counted], "nor do its errors count"
    alone = (invented.disturbed(first, 0.4), invented.planned_as(second, in_place_of=1))
    (cell,) = cells(record, alone)
    assert [run.id for run in cell.measured] == [second.id], "of a trial"

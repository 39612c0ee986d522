"""The page of a report is whole, self-contained, and small with many runs; other programs' formats
have the same numbers."""

from __future__ import annotations

import csv
import dataclasses
import html
import io
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from msgspec.structs import replace
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import invented_page
import invented_records as invented
from assay.judge.run import ScriptRecord
from assay.record import ExperimentRecord, Store
from assay.report.build import build
from assay.report.forms import csv as csv_form
from assay.report.forms import hdr_log, openmetrics
from assay.report.page import render
from assay.report.values import Report, RunOfCell
from shown_report import kept_record, text_of

pytestmark = pytest.mark.slow


def written(report: Report, *, detail: bool | None = None) -> str:
    stream = io.StringIO()
    render(report, stream, detail=detail)
    return stream.getvalue()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return build(invented_page.record(tmp_path_factory.mktemp("page") / "records.sqlite"))


@pytest.fixture(scope="module")
def page(report: Report) -> str:
    return written(report)


def test_nothing_in_the_page_leads_outside(page: str) -> None:
    assert "default-src 'none'" in page
    assert not re.search(r"(?:src|href|action)=[\"'](?!#)", page)
    assert not re.search(r"url\(|@import|<link|<iframe|https?://(?!www\.w3\.org/2000/svg)", page)


def test_every_link_leads_to_one_place(page: str) -> None:
    ids = Counter(re.findall(r'\sid="([^"]+)"', page))
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert len(links) > 20
    assert [name for name, count in ids.items() if count > 1] == []
    assert links - set(ids) == set()


def test_every_table_and_chart_of_the_report_is_on_the_page(page: str, report: Report) -> None:
    tables = [table for section in report.sections for table in section.tables]
    figures = [figure for section in report.sections for figure in section.figures]
    captions = Counter(re.findall(r"<caption><span>(.*?)</span></caption>", page))
    assert Counter(table.title for table in tables) <= captions
    assert page.count("<figure id=") == len(figures) > 8
    assert page.count('<svg role="img"') == page.count("<desc id=") == len(figures)


def test_a_number_leads_to_its_run_and_a_median_to_its_cell(page: str, report: Report) -> None:
    first = report.runs[0]
    section = page[page.index('<section id="section-test-parallel">') :]
    assert f'href="#cell-{first.cell}"' in section
    assert f'<details id="run-{first.run.id}"' in page
    assert "setting_1 = value" in page
    assert "select 'S01'" in page


def test_what_a_server_says_cannot_become_a_part_of_the_page(report: Report) -> None:
    evil = '</script><img src=x onerror="alert(1)">\x1b[2J'
    first, *others = report.runs
    assert first.run.deployment is not None
    run = replace(
        first.run,
        reason=evil,
        deployment=dataclasses.replace(first.run.deployment, settings={evil: evil}),
        scripts=(ScriptRecord(evil, evil, evil, 1),),
    )
    page = written(replace(report, title=evil, runs=(RunOfCell(run, 1, evil), *others)))
    assert "<img" not in page
    assert "\x1b" not in page
    assert page.count("</script>") == 1


def test_without_detail_there_are_no_runs_and_no_links_to_them(report: Report) -> None:
    page = written(report, detail=False)
    assert 'id="runs"' not in page
    assert "#run-" not in page
    assert "#cell-" not in page


def test_five_hundred_runs_are_less_than_ten_megabytes(tmp_path: Path) -> None:
    systems = (invented.POSTGRESQL, invented.MARIADB, invented.SQLITE)
    few = invented_page.record(
        tmp_path / "records.sqlite", systems, (1, 2, 4, 8, 16, 32, 64), 1, 60, 300
    )
    report = build(invented_page.repeated(few, 12))
    page = written(report)
    assert len(report.runs) == page.count('<details id="run-') == 504
    assert len(page.encode()) < 10_000_000
    assert page.count("setting_299 = ") == 1


def test_raw_rows_beyond_the_limit_are_counted(
    report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.report.page.MOST_RAW_BYTES", 3000)
    page = written(replace(report, record=Path("my records/a.sqlite")))
    found = re.search(r"<p>(\d+) raw rows left out", page)
    assert found and int(found[1]) > 100
    assert "--records 'my records/a.sqlite' --format json</code> has all" in html.unescape(page)


def exported(form: Any, experiment: ExperimentRecord, detail: bool | None = None) -> str:
    return text_of(form, build(experiment), detail)


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> ExperimentRecord:
    """Two cells of two seconds each, with histograms of each second."""
    folder = tmp_path_factory.mktemp("driven")
    (folder / "one.sql").write_text("SELECT 1;\n", encoding="utf-8")
    words = "run one.sql --on null[delay=constant:1ms] --clients 1,2 --duration 1.5"
    program = str(Path(sys.executable).parent / "assay")
    subprocess.run([program, *words.split()], cwd=folder, check=True, capture_output=True)
    with Store(folder / "assay-records.sqlite", must_exist=True) as store:
        return store.latest()


def histograms(log: str, path: Path) -> list[HdrHistogram]:
    """As the reader of the HdrHistogram tools gives them."""
    path.write_text(log, encoding="utf-8")
    reader = HistogramLogReader(str(path), HdrHistogram(1, 3600 * 10**9, 3))
    found = []
    while (one := reader.get_next_interval_histogram()) is not None:
        found.append(one)
    reader.input_file.close()
    return found


def test_a_histogram_log_holds_every_transaction(driven: ExperimentRecord, tmp_path: Path) -> None:
    found = histograms(exported(hdr_log, driven), tmp_path / "x.hlog")
    counts: Counter[str] = Counter()
    for one in found:
        counts[one.get_tag()] += one.get_total_count()
    assert counts == {f"run{run.id}": run.driven.outcomes.ok for run in driven.runs if run.driven}
    greatest = max(run.driven.all_ok.latency.max_ns for run in driven.runs if run.driven)
    assert max(one.get_max_value() for one in found) == pytest.approx(greatest, rel=0.002)
    first = driven.runs[0].driven
    assert first is not None
    assert found[0].get_start_time_stamp() == pytest.approx(first.started_unix_ns / 1e6, abs=1)


def test_a_record_without_histograms_of_seconds_gives_those_of_runs(tmp_path: Path) -> None:
    with Store(kept_record(tmp_path / "r.sqlite"), must_exist=True) as store:
        experiment = store.experiment(1)
    found = histograms(exported(hdr_log, experiment), tmp_path / "x.hlog")
    driven = [run.driven for run in experiment.runs if run.driven]
    assert sum(one.get_total_count() for one in found) == sum(one.outcomes.ok for one in driven) > 0


def test_openmetrics_text_has_the_numbers_of_the_runs(driven: ExperimentRecord) -> None:
    families = {
        one.name: one for one in text_string_to_metric_families(exported(openmetrics, driven))
    }
    for run in driven.runs:
        assert run.driven is not None
        (rate,) = [
            sample.value
            for sample in families["assay_throughput_per_second"].samples
            if sample.labels["run"] == str(run.id)
        ]
        assert rate == run.driven.throughput_per_s
        quantiles = {
            sample.labels["quantile"]: sample.value
            for sample in families["assay_latency_seconds"].samples
            if sample.labels["run"] == str(run.id) and "quantile" in sample.labels
        }
        assert quantiles["0.5"] == run.driven.all_ok.latency.p50_ns / 1e9
    assert {
        (one.labels["run"], one.labels["system_version"], one.labels["cell"])
        for one in families["assay_run"].samples
    } == {
        (str(run.id), run.deployment.version, run.cell_fingerprint)
        for run in driven.runs
        if run.deployment
    }
    counts = [families[f"assay_runs_{name}"].samples[0] for name in ("planned", "ended")]
    assert [(one.labels["experiment"], one.value) for one in counts] == [("1", 2), ("1", 2)]
    outcomes = families["assay_transactions"].samples
    ok = sum(sample.value for sample in outcomes if sample.labels["outcome"] == "ok")
    assert ok == sum(run.driven.outcomes.ok for run in driven.runs if run.driven)


def test_a_parameter_of_any_name_is_a_label(tmp_path: Path) -> None:
    planned = invented.plan([invented.SQLITE], parameters={"row-size": 7})
    text = exported(openmetrics, invented.experiment(tmp_path / "r.sqlite", planned, 1.0))
    labels = [
        sample.labels
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]
    assert {one["parameter_row_size"] for one in labels if "run" in one} == {"7"}


def test_intervals_have_the_factors_of_their_run(driven: ExperimentRecord) -> None:
    rows = list(
        csv.DictReader(
            io.StringIO(exported(SimpleNamespace(render=csv_form.render_intervals), driven))
        )
    )
    assert {row["clients"] for row in rows} == {"1", "2"}
    for run in driven.runs:
        assert run.driven is not None
        own = [row for row in rows if row["run"] == str(run.id)]
        assert [int(row["second"]) for row in own] == list(range(len(own)))
        assert sum(int(row["ok"]) for row in own) == run.driven.outcomes.ok

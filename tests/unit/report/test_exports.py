"""Formats of other tools: each is read back by that tool's own reader."""

from __future__ import annotations

import csv
import io
import lzma
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import invented_records as invented
from assay.record import ExperimentRecord, Store
from assay.report.build import build
from assay.report.forms import github_summary, hdr_log, intervals_csv, openmetrics
from commands import Assay
from shown_report import text_of

pytestmark = pytest.mark.slow

KEPT_RECORD = Path(__file__).parents[2] / "data" / "records" / "version-25.sqlite.xz"


def written(form: Any, experiment: ExperimentRecord, detail: bool | None = None) -> str:
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
    found = histograms(written(hdr_log, driven), tmp_path / "x.hlog")
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
    record = tmp_path / "r.sqlite"
    record.write_bytes(lzma.decompress(KEPT_RECORD.read_bytes()))
    with Store(record, must_exist=True) as store:
        experiment = store.experiment(1)
    found = histograms(written(hdr_log, experiment), tmp_path / "x.hlog")
    driven = [run.driven for run in experiment.runs if run.driven]
    assert sum(one.get_total_count() for one in found) == sum(one.outcomes.ok for one in driven) > 0


def test_openmetrics_text_has_the_numbers_of_the_runs(driven: ExperimentRecord) -> None:
    families = {
        one.name: one for one in text_string_to_metric_families(written(openmetrics, driven))
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
    text = written(openmetrics, invented.experiment(tmp_path / "r.sqlite", planned, 1.0))
    labels = [
        sample.labels
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]
    assert {one["parameter_row_size"] for one in labels if "run" in one} == {"7"}


def test_intervals_have_the_factors_of_their_run(driven: ExperimentRecord) -> None:
    rows = list(csv.DictReader(io.StringIO(written(intervals_csv, driven))))
    assert {row["clients"] for row in rows} == {"1", "2"}
    for run in driven.runs:
        assert run.driven is not None
        own = [row for row in rows if row["run"] == str(run.id)]
        assert [int(row["second"]) for row in own] == list(range(len(own)))
        assert sum(int(row["ok"]) for row in own) == run.driven.outcomes.ok


def test_a_summary_for_github_is_a_table_and_folded_details(driven: ExperimentRecord) -> None:
    text = written(github_summary, driven)
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 2 + len(driven.cells)
    assert len({line.replace("\\|", "").count("|") for line in table}) == 1
    assert text.count("<details>") == text.count("</details>") >= 2
    assert len(written(github_summary, driven, detail=True)) > len(text)


def test_an_experiment_without_a_number_is_written_too(assay: Assay, working_folder: Path) -> None:
    (working_folder / "one.sql").write_text("SELECT 1;\n", encoding="utf-8")
    refused = assay("run", "one.sql", "--on", "null", "--cache", "cold")
    assert refused.status == 2
    for form in (hdr_log, openmetrics, intervals_csv, github_summary):
        assert written(form, refused.experiment).startswith(("#", "version"))
    assert list(text_string_to_metric_families(written(openmetrics, refused.experiment)))

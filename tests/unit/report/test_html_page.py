"""The page of a report: whole, self-contained, and small with many runs."""

from __future__ import annotations

import dataclasses
import html
import io
import re
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

import invented_page
import invented_records as invented
from assay.judge.run import ScriptRecord
from assay.report.build import build
from assay.report.page.document import render
from assay.report.run_details import RunOfCell
from assay.report.values import Report

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


@pytest.mark.slow
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
    monkeypatch.setattr("assay.report.page.document.MOST_RAW_BYTES", 3000)
    page = written(replace(report, record=Path("my records/a.sqlite")))
    found = re.search(r"<p>(\d+) raw rows left out", page)
    assert found and int(found[1]) > 100
    assert "--records 'my records/a.sqlite' --format json</code> has all" in html.unescape(page)


def test_the_contents_fold_the_parts_of_several_tests(report: Report, page: str) -> None:
    assert "<nav" in page
    assert "part</summary>" not in page and "parts</summary>" not in page  # of one test: in a line
    head, *rest = report.sections
    part = next(one for one in rest if one.part_of)
    two = [replace(head, title="Test a"), replace(part, part_of="a", title="Latency")]
    two += [replace(head, title="Test b"), replace(part, part_of="b", title="Latency")]
    shown = written(replace(report, sections=tuple(two)))
    contents = shown[shown.index("<nav") : shown.index("</nav>")]
    assert contents.count("<summary>1 part</summary>") == 2

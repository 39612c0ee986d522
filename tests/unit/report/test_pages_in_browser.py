"""The page of a report, and the first page of a site of capsules, in a browser: charts are drawn,
results are filtered and sorted, no request leaves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from msgspec.structs import replace

import invented_page
from assay.report.build import build
from assay.report.gallery import ListedCapsule, facts_of, gallery_page
from assay.report.page import render
from browsers import NEEDS_CHROMIUM, chromium, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = NEEDS_CHROMIUM
HOSTILE = "<script>document.title='evil'</script>\"'&"


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three results, of which one has a title that no one should have."""
    folder = tmp_path_factory.mktemp("gallery")
    facts = facts_of(invented_page.record(folder / "records.sqlite"))
    first = ListedCapsule(facts, "one.html", "one.assay", 12345, "0" * 64)
    other = msgspec.structs.replace(facts, workload="another", title="Another one")
    hostile = msgspec.structs.replace(facts, workload=HOSTILE, title=HOSTILE, storages=[])
    entries = [
        first,
        replace(first, facts=other, report="two.html", capsule="two.assay"),
        replace(first, facts=hostile, report="three.html", capsule="a b'c.assay"),
    ]
    path = folder / "index.html"
    path.write_text(gallery_page("Results", entries), encoding="utf-8")
    (folder / "two.html").write_text("<!doctype html><title>The second</title>")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def test_results_are_filtered_and_nothing_is_asked_of_another_site(
    browser: Browser, gallery: Path
) -> None:
    found, messages, requests = opened(browser, gallery.as_uri())
    rows = found.locator("tbody tr:visible")
    assert rows.count() == 3 and found.title() == "Results"
    found.locator("select[data-filter=workload]").select_option("another")
    assert rows.count() == 1 and "Another one" in rows.inner_text()
    assert found.locator("#shown").inner_text() == "1 of 3 results"
    found.locator("select[data-filter=workload]").select_option("")
    found.locator("#search").fill("EVIL rerun")
    assert rows.count() == 1 and "assay capsule rerun" in rows.inner_text()
    found.locator("#search").fill("no such thing")
    assert rows.count() == 0
    found.locator("#search").fill("")
    assert rows.count() == 3
    assert requests == [gallery.as_uri()] and messages == []
    found.get_by_role("link", name="Another one").click()
    assert found.title() == "The second"
    found.close()


def test_a_press_on_a_heading_sorts_the_results(browser: Browser, gallery: Path) -> None:
    found, _, _ = opened(browser, gallery.as_uri())
    titles = found.locator("tbody th")
    heading = found.locator("thead button", has_text="experiment")
    heading.click()
    once = titles.all_inner_texts()
    heading.click()
    assert titles.all_inner_texts() == once[::-1] and len(once) == 3
    found.close()


@pytest.mark.parametrize("width", [375, 800, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_every_width_in_light_and_dark(
    browser: Browser, gallery: Path, width: int, scheme: str
) -> None:
    found, _, _ = opened(
        browser, gallery.as_uri(), viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    assert found.evaluate("document.documentElement.scrollWidth") <= width
    colour = found.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (colour == "rgb(255, 255, 255)") == (scheme == "light")
    found.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser")
    path = folder / "report.html"
    with path.open("w", encoding="utf-8") as stream:
        render(build(invented_page.record(folder / "records.sqlite")), stream)
    return path


def test_every_chart_is_drawn_and_no_request_leaves_the_page(browser: Browser, file: Path) -> None:
    page, messages, requests = opened(browser, file.as_uri())
    charts = page.locator("figure svg")
    assert charts.count() > 8
    for place in range(charts.count()):
        chart = charts.nth(place)
        box = chart.bounding_box()
        assert box and box["width"] > 200 and box["height"] > 50
        marks = chart.locator(".role-mark path, .role-mark line")
        sizes = [marks.nth(mark).bounding_box() for mark in range(min(5, marks.count()))]
        assert any(size and size["width"] + size["height"] > 3 for size in sizes)
        assert chart.locator("title").text_content()
    assert requests == [file.as_uri()]
    assert messages == []
    page.close()


def test_a_press_on_a_heading_sorts_its_table(browser: Browser, file: Path) -> None:
    page, _, _ = opened(browser, file.as_uri())
    table = page.locator("#summary > .box table")
    heading = table.locator("th", has_text="TPS")

    def values() -> list[float]:
        return [float(text) for text in table.locator("tbody th + td").all_inner_texts()]

    assert values() != sorted(values(), reverse=True)
    heading.locator("button").click()
    assert values() == sorted(values())
    assert heading.get_attribute("aria-sort") == "ascending"
    heading.locator("button").click()
    assert values() == sorted(values(), reverse=True)
    page.close()


def test_a_number_opens_its_runs(browser: Browser, file: Path) -> None:
    page, _, _ = opened(browser, file.as_uri())
    assert not page.locator("details.run").first.locator("dl").is_visible()
    page.locator("#summary > .box td a").first.click()
    page.wait_for_function("location.hash !== ''")
    target = page.locator(page.evaluate("location.hash"))
    assert target.locator("dl").first.is_visible()
    page.close()


@pytest.mark.parametrize("width", [375, 800, 1400])
def test_no_width_makes_the_page_scroll_sideways(browser: Browser, file: Path, width: int) -> None:
    page, _, _ = opened(browser, file.as_uri(), viewport={"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_a_phone_shows_each_number_with_its_verdict_and_why(browser: Browser, file: Path) -> None:
    page, _, _ = opened(browser, file.as_uri(), viewport={"width": 375, "height": 900})
    shown = page.locator("#summary > .box tbody tr").first.locator("td:not(:empty)")
    assert shown.count() >= 4
    for place in range(shown.count()):
        box = shown.nth(place).bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= 375
    page.close()


def test_the_answer_is_on_the_first_screen_of_a_phone(browser: Browser, file: Path) -> None:
    page, _, _ = opened(browser, file.as_uri(), viewport={"width": 400, "height": 800})
    answers = page.locator(".answers p")
    assert answers.count() == 3  # systems, storages, clients
    for place in range(answers.count()):
        box = answers.nth(place).bounding_box()
        assert box and box["y"] + box["height"] <= 800
    chart = page.locator("#summary .chart").bounding_box()
    assert chart and chart["y"] + chart["height"] / 2 <= 800
    page.close()


def test_a_phone_shows_whole_charts_whose_text_stays_readable(browser: Browser, file: Path) -> None:
    page, _, _ = opened(browser, file.as_uri(), viewport={"width": 375, "height": 900})
    cut = "[...document.querySelectorAll('.chart')].some(one => one.scrollWidth > one.clientWidth)"
    assert not page.evaluate(cut)
    height = (
        "Math.min(...[...document.querySelectorAll('figure svg text')]"
        ".map(one => one.getBoundingClientRect().height).filter(one => one))"
    )
    assert page.evaluate(height) >= 9
    page.close()


def test_charts_follow_a_dark_page_and_paper_is_light(browser: Browser, file: Path) -> None:
    def colours() -> tuple[str, str]:
        background = "getComputedStyle(document.body).backgroundColor"
        word = "getComputedStyle(document.querySelector('figure svg text')).fill"
        return page.evaluate(background), page.evaluate(word)

    page, _, _ = opened(browser, file.as_uri(), color_scheme="light")
    light = colours()
    page.emulate_media(color_scheme="dark")
    dark = colours()
    page.emulate_media(color_scheme="dark", media="print")
    paper = colours()
    assert light[0] != dark[0]
    assert light[1] == dark[0] or light[1] != dark[1]
    assert paper == ("rgb(255, 255, 255)", "rgb(0, 0, 0)")
    page.close()

"""The first page of a site of capsules in a browser: results are filtered and sorted, reports open,
and no request leaves the site."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser

import invented_page
from assay.report.gallery.facts import facts_of
from assay.report.gallery.gallery import ListedCapsule, page
from browsers import NEEDS_CHROMIUM, chromium, opened

pytestmark = NEEDS_CHROMIUM
HOSTILE = "<script>document.title='evil'</script>\"'&"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
    path.write_text(page("Results", entries), encoding="utf-8")
    (folder / "two.html").write_text("<!doctype html><title>The second</title>")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def test_results_are_filtered_and_nothing_is_asked_of_another_site(
    browser: Browser, file: Path
) -> None:
    found, messages, requests = opened(browser, file.as_uri())
    rows = found.locator("tbody tr:visible")
    assert rows.count() == 3 and found.title() == "Results"
    found.locator("select[data-filter=workload]").select_option("another")
    assert rows.count() == 1 and "Another one" in rows.inner_text()
    assert found.locator("#shown").inner_text() == "1 of 3 results"
    found.locator("select[data-filter=workload]").select_option("")
    found.locator("#search").fill("EVIL rerun")
    assert rows.count() == 1 and "assay rerun" in rows.inner_text()
    found.locator("#search").fill("no such thing")
    assert rows.count() == 0
    found.locator("#search").fill("")
    assert rows.count() == 3
    assert requests == [file.as_uri()] and messages == []
    found.get_by_role("link", name="Another one").click()
    assert found.title() == "The second"
    found.close()


def test_a_press_on_a_heading_sorts_the_results(browser: Browser, file: Path) -> None:
    found, _, _ = opened(browser, file.as_uri())
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
    browser: Browser, file: Path, width: int, scheme: str
) -> None:
    found, _, _ = opened(
        browser, file.as_uri(), viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    assert found.evaluate("document.documentElement.scrollWidth") <= width
    colour = found.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (colour == "rgb(255, 255, 255)") == (scheme == "light")
    found.close()

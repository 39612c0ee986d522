"""The live page in a browser: a run is watched, its server killed and started again, and no second
is missing; it fits a phone, light and dark; no request leaves for another site."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from assay.cli.watching import commands
from assay.provision.install.cache import cache_folder
from assay.record import DEFAULT_FILE_NAME, Store
from assay.report.build import build
from browsers import NEEDS_CHROMIUM, chromium, opened
from commands import run_in
from running import end_a_generator, started, wait_for_second
from step_workloads import folder_of
from waiting import HANG_S, wait_until
from watching import watched

pytestmark = NEEDS_CHROMIUM
DELAYED = "null[delay=constant:1ms]"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as found:
        yield found


def awaited(page: Page, condition: str) -> None:
    """The policy of the page forbids what Playwright's own wait does."""
    deadline = time.monotonic() + HANG_S
    while not page.evaluate(condition):
        assert time.monotonic() < deadline, f"waited in vain for {condition}"
        page.wait_for_timeout(100)


def test_a_run_is_watched_to_its_end_though_its_server_is_killed(
    working_folder: Path, browser: Browser
) -> None:
    (working_folder / "one.sql").write_text("select 1;\n")
    words = ("one.sql", "--on", DELAYED, "--clients", "2", "--duration", "40")
    with started(working_folder, "run", *words, "--offered-rate", "800") as run:
        wait_for_second(working_folder)
        with watched(working_folder) as server:
            page, messages, requests = opened(browser, server.url)
            awaited(page, "seconds.length >= 3")
            assert page.locator("#state").inner_text() == "under way"
            assert page.locator("#progress").inner_text() == "run 1 of 1"
            assert "of 800" in page.locator("#numbers").inner_text()
            awaited(page, "charts.size >= 3 && [...charts.values()].every((one) => one.view)")
            assert page.locator("figure:visible svg .mark-line path").count() >= 6
            assert re.search(r"\d+ s left", page.locator("#left").inner_text())
            assert messages == []
            assert (cache_folder() / commands.vega_name()).is_file(), "the next page has it sooner"
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
        page.wait_for_selector(".state.lost")
        page.wait_for_timeout(2000)
        with watched(working_folder) as server:
            page.wait_for_selector("#answer a")
            run.wait(HANG_S)
            found = page.evaluate("seconds.map((one) => one.second)")
            assert found == list(range(len(found))) and len(found) >= 40
            expected = reported(working_folder)
            wait_until(lambda: drawn(page) == expected, "it has drawn what the report has")
            assert page.locator("#verdicts").inner_text() == "1 unreliable"
            assert page.locator("#numbers dt").all_inner_texts()[0] == "ok", "no last second"
            with page.expect_navigation():
                page.locator("#answer a").click()
            assert page.locator("#summary").count() == 1
            page.close()
            own = f"http://127.0.0.1:{server.port}/"
            paths = {one.split("?")[0].removeprefix(own) for one in requests}
            assert paths - {"latest"} == {"", "events", "report/1", commands.vega_name()}


Points = list[tuple[str, float, float]]


def drawn(page: Page) -> dict[str, Points]:
    """The points of each chart of the page."""
    found = page.evaluate(
        "Object.fromEntries([...charts].map(([name, one]) => "
        "[name, one.view.data('points').map(({ series, x, y }) => [series, x, y])]))"
    )
    return {name: sorted(map(tuple, points)) for name, points in found.items()}


def reported(folder: Path) -> dict[str, Points]:
    """The same of the report. So does a run whose scripts declare what Assay does not check."""
    with Store(folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        sections = build(store.latest()).sections
    (figures,) = [one.figures for one in sections if one.title == "Timeline"]
    return {
        figure.name.removeprefix("script_").removesuffix("_1"): sorted(
            (series.name, point.x, point.y) for series in figure.series for point in series.points
        )
        for figure in figures
    }


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_a_wide_screen(tmp_path: Path, browser: Browser, scheme: str) -> None:
    """With names that no one should have."""
    (tmp_path / f"{HOSTILE}.sql").write_text("select 1;\n")
    done = run_in(tmp_path, "run", f"{HOSTILE}.sql", "--on", DELAYED, "--duration", "3.2")
    assert done.returncode == 0, done.stderr
    with watched(tmp_path) as server:
        for width in (390, 1400):
            page, messages, _ = opened(
                browser, server.url, viewport={"width": width, "height": 900}, color_scheme=scheme
            )
            page.wait_for_selector("#answer a")
            page.wait_for_selector("figure:visible svg")
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (colour == "rgb(255, 255, 255)") == (scheme == "light")
            assert HOSTILE in page.locator("#title").inner_text()
            assert page.locator("img").count() == 0 and messages == []
            page.close()


def test_an_open_page_shows_the_seconds_of_a_record_that_replaced_its_own(
    working_folder: Path, browser: Browser
) -> None:
    """Its experiments and runs have the same numbers."""
    (working_folder / "one.sql").write_text("select 1;\n")
    words = ("run", "one.sql", "--on", DELAYED, "--warm-up", "0", "--duration")
    record = working_folder / DEFAULT_FILE_NAME
    assert run_in(working_folder, *words, "4", "--clients", "1").returncode == 0
    with watched(working_folder) as server:
        page, messages, _ = opened(browser, server.url)
        page.wait_for_selector("#answer a")
        for file in working_folder.glob(f"{DEFAULT_FILE_NAME}*"):
            file.unlink()
        assert run_in(working_folder, *words, "7", "--clients", "3").returncode == 0
        assert record.exists()
        awaited(page, "seconds.length >= 7 && seconds.every((one) => one.clients === 3)")
        awaited(page, "charts.get('timeline')?.view?.data('points').length === 7")
        assert messages == []
        page.close()


def test_a_page_of_what_has_ended_says_that_its_server_has_ended_too(
    working_folder: Path, browser: Browser
) -> None:
    (working_folder / "one.sql").write_text("select 1;\n")
    words = ("run", "one.sql", "--on", DELAYED, "--duration", "1.2")
    assert run_in(working_folder, *words).returncode == 0
    with watched(working_folder) as server:
        page, _, _ = opened(browser, server.url)
        page.wait_for_selector("#answer a")
    page.wait_for_selector(".state.lost")
    with watched(working_folder):
        page.wait_for_selector(".state:not(.lost)")
        assert page.locator("#state").inner_text() == "ended"
        page.close()


def test_a_run_of_a_fleet_is_stopped_by_keyboard_on_a_phone(
    working_folder: Path, browser: Browser
) -> None:
    """Its warnings stand above its charts; its generators are shown while they work, one that is
    lost too, and when it has ended."""
    (working_folder / "one.sql").write_text("select 1;\n")
    on = "null[protocol=postgresql,delay=constant:5ms]"
    words = ("run", "one.sql", "--on", on, "--clients", "4", "--generators", "2", "--warm-up", "0")
    words += ("--offered-rate", "2000", "--duration", "600", "--repetitions", "2")
    words += ("--on-lost", "continue")
    phone = {"width": 360, "height": 740}
    with watched(working_folder) as server, started(working_folder, *words) as run:
        wait_for_second(working_folder)
        page, messages, _ = opened(browser, server.url, viewport=phone, has_touch=True)
        page.wait_for_selector("#warned:visible")
        awaited(page, "at('warned-names').textContent.includes('offered-rate-not-reached')")
        page.locator("#warned-names").focus()
        page.keyboard.press("Enter")
        assert "under way" in page.locator("#warnings").inner_text()
        assert page.evaluate(
            "document.querySelector('#warned').getBoundingClientRect().top < "
            "document.querySelector('#charts').getBoundingClientRect().top"
        )
        page.wait_for_selector("#fleet:visible")
        assert page.locator("#fleet caption").inner_text() == "Load generators, so far"
        assert page.locator("#generators tr").count() == 2
        end_a_generator(run.pid)
        page.wait_for_selector("#generators tr.alarm")
        said = page.locator("#generators tr.alarm td[data-label=lost]").inner_text()
        assert re.search(r"after \d+ s", said)
        fewer = page.locator("#fewer:visible").inner_text()
        assert re.search(r"measured on 2 of 4 clients from \d+ s on", fewer)
        awaited(page, "document.querySelector('#numbers').innerText.includes('unknown')")
        assert page.evaluate("document.documentElement.scrollWidth") <= phone["width"]
        asked: list[str] = []
        page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
        page.locator("#warned-names").focus()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "stop-run"
        page.keyboard.press("Enter")
        awaited(page, "status.states[0] === 'failed' && status.stage.number === 2")
        assert len(asked) == 1 and "the next one begins" in asked[0]
        awaited(page, "place.startsWith('2:') && seconds.length >= 1")
        assert server.post("/stop", {"experiment": 1, "run": 2}).status == 202
        page.wait_for_selector("#answer a")
        run.wait(HANG_S)
        awaited(page, "document.querySelector('#fleet caption').innerText === 'Load generators'")
        assert page.locator("#generators tr").count() == 2
        assert "invalid: stopped by hand" in page.locator("#cells").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") <= phone["width"]
        assert messages == []
        page.close()


def test_an_experiment_is_put_together_started_and_stopped(
    working_folder: Path, browser: Browser
) -> None:
    folder_of(working_folder / "long", 'scripts = ["read"]\nduration_s = 600\n')
    with watched(working_folder) as server:
        page, messages, _ = opened(browser, server.url)
        page.get_by_role("link", name="New experiment").click()
        page.get_by_label("Database", exact=True).fill("no-such-database")
        page.get_by_label("Test", exact=True).fill("long")
        page.get_by_role("button", name="See the plan").click()
        page.wait_for_selector("#said.error")
        page.get_by_label("Database", exact=True).fill(DELAYED)
        page.get_by_label("Storage", exact=True).fill("tmpfs")
        page.get_by_role("button", name="See the plan").press("Enter")
        page.wait_for_selector("#start:visible")
        assert "long" in page.locator("#plan-text").inner_text()
        page.get_by_role("button", name="Run it").click()
        page.wait_for_selector("#stop:visible")
        awaited(page, "seconds.length >= 1")
        page.once("dialog", lambda dialog: dialog.accept())
        page.locator("#stop").click()
        page.wait_for_selector("#answer a")
        assert "interrupted" in page.locator("#answer").inner_text()
        assert [one for one in messages if "400" not in one] == []
        page.close()

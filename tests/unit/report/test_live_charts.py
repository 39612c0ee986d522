"""The charts of the live page: whatever comes, a browser that was given them piece by piece has
what a report draws of the same seconds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay.contracts.observation import MachineSecond
from assay.report.cells.shown_seconds import ShownSecond
from assay.report.charts import draw
from assay.report.figures import over_time
from assay.report.live.charts import Drawn, LiveCharts, charts_text

MS = 1_000_000


class Browser:
    """What a page has of the charts, as its script keeps it."""

    def __init__(self) -> None:
        self.drawn: Drawn = {}
        self.charts: dict[str, dict[str, Any]] = {}
        self.frames = 0

    def given(self, charts: LiveCharts) -> None:
        if not (text := charts_text(charts.draw(), self.drawn)):
            return
        found = json.loads(text)
        for one in found["changed"]:
            if one["head"] is not None:
                self.frames += 1
                self.charts[one["name"]] = one["head"]
            spec = self.charts[one["name"]]["spec"]
            spec["data"]["values"] += one["rows"]
            shading = [part for part in spec["layer"] if part.get("data")]
            assert shading or not one["shaded"]
            for part in shading:
                part["data"]["values"] += one["shaded"]
        self.charts = {name: self.charts[name] for name in found["all"]}

    def points(self, chart: str) -> list[tuple[str, float, float, int]]:
        values = self.charts[chart]["spec"]["data"]["values"]
        return sorted((one["series"], one["x"], one["y"], one["part"]) for one in values)

    def shaded(self, chart: str) -> list[tuple[float, float]]:
        (found,) = [
            part["data"] for part in self.charts[chart]["spec"]["layer"] if part.get("data")
        ]
        assert found["name"] == "shaded"
        return [(one["from"], one["to"]) for one in found["values"]]


def second(at: int, ok: int = 100, **more: Any) -> ShownSecond:
    latencies: dict[str, Any] = {"p50_ns": MS, "p99_ns": 5 * MS, "max_ns": 9 * MS} if ok else {}
    machine = MachineSecond(at, 0.5, 1.2, 0.01, "vda", at % 9, 100 + at, at // 3)
    return ShownSecond(second=at, ok=ok, clients=4, machine=machine, **(latencies | more))


def eventful() -> list[ShownSecond]:
    found = [
        second(at, 100 + at % 7, offered=120.0, lag_p99_ns=(1 + at % 3) * MS) for at in range(40)
    ]
    found[11] = second(11, 0, offered=120.0, stalled_ns=1000 * MS)
    found[12] = second(12, 0, offered=120.0, stalled_ns=1000 * MS)
    found[20] = second(20, 3000, offered=120.0, max_ns=2_000 * MS)
    for at in (25, 30):
        found[at] = second(at, 50, failed=7, offered=120.0)
    return found


@pytest.mark.parametrize("planned_s", [40.0, None])
@pytest.mark.parametrize("at_once", [1, 5])
def test_what_came_piece_by_piece_is_what_a_report_draws(
    planned_s: float | None, at_once: int
) -> None:
    every = eventful()
    live, browser = LiveCharts(planned_s), Browser()
    for at, one in enumerate(every):
        live.add(one)
        if at % at_once == 0:
            browser.given(live)
    assert len(browser.points("timeline")) > 50
    live.observed(every)
    browser.given(live)
    finals = {
        one.name.removesuffix("_1").removeprefix("test_"): one
        for one in over_time.figures("test", every, 1, "")
    }
    assert list(browser.charts) == list(finals) == [one.name for one in over_time.CHARTS]
    for name, figure in finals.items():
        assert browser.charts[name]["spec"] == json.loads(draw.for_browser(figure))
        assert browser.charts[name]["notes"] == list(figure.notes)


def test_points_are_added_and_a_chart_is_drawn_anew_seldom() -> None:
    live, browser = LiveCharts(600.0), Browser()
    for at in range(600):
        live.add(second(at, 1000 + at * 3 % 400, offered=1200.0, lag_p99_ns=(100 + at) * 10_000))
        browser.given(live)
    assert browser.frames < 12
    x = [at for name, at, _, _ in browser.points("timeline") if name == "achieved"]
    assert x == [2.5 + 4 * place for place in range(150)]
    assert "a point is the mean of 4 seconds" in browser.charts["timeline"]["notes"]
    assert "a point is the longest of 4 seconds" in browser.charts["latency_over_time"]["notes"]


def test_a_page_that_comes_later_is_given_the_same() -> None:
    live, first = LiveCharts(40.0), Browser()
    for one in eventful():
        live.add(one)
        first.given(live)
    later = Browser()
    later.given(live)
    for name in first.charts:
        assert later.points(name) == first.points(name)
    assert later.shaded("timeline") == first.shaded("timeline") == [(11.5, 12.5), (12.5, 13.5)]


def test_a_second_of_which_nothing_is_known_is_a_gap_and_not_zero() -> None:
    live, browser = LiveCharts(40.0), Browser()
    for one in eventful():
        live.add(one)
        browser.given(live)
    medians = [one for one in browser.points("latency_over_time") if one[0] == "median"]
    assert not {12, 13} & {x for _, x, _, _ in medians}
    before, behind = (
        {part for _, x, _, part in medians if (x > 12) == late} for late in (False, True)
    )
    assert before and behind and not before & behind, "the line is not drawn across it"


def test_what_was_never_not_ok_has_no_line_and_one_that_arises_has_all_its_seconds() -> None:
    live, browser = LiveCharts(40.0), Browser()
    for one in eventful()[:25]:
        live.add(one)
        browser.given(live)
    assert "not_ok_over_time" not in browser.charts
    for one in eventful()[25:]:
        live.add(one)
        browser.given(live)
    failed = browser.points("not_ok_over_time")
    assert {name for name, *_ in failed} == {"failed"}
    assert [y for _, _, y, _ in failed] == [7 if at in (25, 30) else 0 for at in range(40)]


def test_the_axes_of_a_chart_hold_all_that_is_drawn_on_them() -> None:
    live, browser = LiveCharts(None), Browser()
    for at in range(300):
        live.add(second(at, 10 + at**2, max_ns=(1 + at) * MS))
        browser.given(live)
        for chart in browser.charts.values():
            layer = chart["spec"]["layer"][-1]["encoding"]
            for axis in ("x", "y"):
                low, high = layer[axis]["scale"]["domain"]
                assert all(low <= one[axis] <= high for one in chart["spec"]["data"]["values"])


def test_the_colours_are_those_of_the_page() -> None:
    figure = next(over_time.figures("test", eventful(), 1, ""))
    text = draw.for_browser(figure)
    assert "var(--series-1)" in text and "var(--text)" in text
    assert '"#' not in text


def test_what_is_drawn_after_the_measurement_is_left_out() -> None:
    live = LiveCharts(10.0)
    for at in range(14):
        live.add(second(at))
    browser = Browser()
    browser.given(live)
    assert max(x for _, x, _, _ in browser.points("timeline")) == 10

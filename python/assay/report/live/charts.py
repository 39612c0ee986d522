"""Takes the seconds of a step as they pass; returns its charts for a browser: each by the
specification of a report's chart, and what is added to its data since.

A chart begins anew, in another *frame*, where what has come does not fit its axes or is of a line
that it does not have. Axes are made with room, so that this is seldom.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from assay.report import charts
from assay.report.charts import for_browser
from assay.report.figure import Figure, Scale
from assay.report.figures import over_time
from assay.report.figures.over_time import Lines, OverTime, ShownSecond

_LEAST_SECONDS = 2
_FIRST_ROOM = 60
"""Seconds on the axis of a measurement whose length is not known."""
_frames = itertools.count(1)
Drawn = dict[str, tuple[int, int, int]]
"""Of each chart that a reader has: its frame, and how many rows and shaded ones were added."""


class LiveChart(Struct):
    """More comes at the end of its rows, until its frame is another one."""

    kind: OverTime
    frame: int
    head: str
    """JSON: its title, its notes, and its specification with the rows that there were."""
    figure: Figure
    rows: list[str] = field(default_factory=list)
    """Those since, each as JSON; as the next."""
    shaded: list[str] = field(default_factory=list)
    ends: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Of each line, the part in which it goes on and how many points this has; none: a gap."""
    parts: int = 0

    @property
    def name(self) -> str:
        return self.kind.name

    def add(self, new: Lines, shaded: Sequence[tuple[float, float]]) -> None:
        every = charts.marked_every(self.figure, 0)
        for name, points in new.items():
            for point in points:
                if point is None:
                    self.ends.pop(name, None)
                    continue
                if name not in self.ends:
                    self.ends[name] = (self.parts, 0)
                    self.parts += 1
                part, place = self.ends[name]
                one = charts.figure_row(self.figure, name, point, part, place, every)
                self.rows.append(json.dumps(one))
                self.ends[name] = (part, place + 1)
        for low, high in shaded:
            self.shaded.append(json.dumps({"from": low, "to": high}))

    def has_room_for(self, new: Lines, shaded: Sequence[tuple[float, float]]) -> bool:
        if shaded and not self.figure.shaded:  # a note says what that means
            return False
        known = {one.name for one in self.figure.series}
        low, high = self.figure.y.span or (0.0, 0.0)
        values = [one.y for points in new.values() for one in points if one is not None]
        return new.keys() <= known and all(low <= value <= high for value in values)


class LiveCharts:
    def __init__(self, planned_s: float | None) -> None:
        """``planned_s``: how long it is measured; None: not known."""
        self._planned_s = planned_s
        self._seconds: list[ShownSecond] = []
        self._drawn = 0
        """Seconds that are in the charts."""
        self._room = math.ceil(planned_s) if planned_s else _FIRST_ROOM
        self._is_whole = self._is_drawn = False
        self._charts: dict[str, LiveChart] = {}

    def add(self, second: ShownSecond) -> None:
        """One in which transactions begin; what ends later belongs to none of them."""
        if self._planned_s is None or second.second < self._planned_s:
            self._seconds.append(second)

    def observed(self, seconds: Sequence[ShownSecond]) -> None:
        """All whole seconds of the step, which has ended: the charts are those of a report now."""
        self._seconds, self._is_whole, self._is_drawn = list(seconds), True, False

    def draw(self) -> tuple[LiveChart, ...]:
        if len(self._seconds) < _LEAST_SECONDS:
            return ()
        if self._is_whole:
            if not self._is_drawn:
                self._room, self._is_drawn = len(self._seconds), True
                self._anew()
        elif len(self._seconds) > self._room:
            while len(self._seconds) > self._room:
                self._room *= 2
            self._anew()
        else:
            self._go_on()
        return tuple(self._charts[one.name] for one in over_time.CHARTS if one.name in self._charts)

    def _anew(self) -> None:
        self._charts, self._drawn = {}, 0
        self._go_on()

    def _go_on(self) -> None:
        size = over_time.size_of(self._room)
        until = len(self._seconds) if self._is_whole else len(self._seconds) // size * size
        since, self._drawn = self._drawn, until
        new = self._seconds[since:until]
        if not new:
            return
        shaded = list(over_time.stalled(new, size, since))
        for kind in over_time.CHARTS:
            chart = self._charts.get(kind.name)
            known = () if chart is None else {one.name for one in chart.figure.series}
            found = over_time.lines(kind, new, size, since, known)
            if chart is not None and chart.has_room_for(found, shaded):
                chart.add(found, shaded)
            elif found:
                self._charts[kind.name] = self._chart(kind, size, until)

    def _chart(self, kind: OverTime, size: int, until: int) -> LiveChart:
        """With all points so far."""
        seconds = self._seconds[:until]
        found = over_time.lines(kind, seconds, size)
        shaded = list(over_time.stalled(seconds, size))
        made = over_time.figure(kind, found, size, shaded, kind.name)
        if not self._is_whole:
            made = self._with_room(made, size)
        spec = for_browser(made)
        head = json.dumps({"title": made.title, "notes": made.notes})
        chart = LiveChart(kind, next(_frames), f'{head[:-1]}, "spec": {spec}}}', made)
        chart.add(found, shaded)
        chart.rows.clear()  # they are in the specification
        chart.shaded.clear()
        return chart

    def _with_room(self, figure: Figure, size: int) -> Figure:
        is_log = figure.y.scale is Scale.LOG
        values = figure.y_values
        # A single slow transaction is far above the others: where a length means nothing, a decade
        # more costs little.
        most = max(values)
        span = (_decade(min(values)), 10 * _decade(most)) if is_log else (0.0, _above(most))
        points = -(-self._room // size)
        return replace(
            figure,
            x=replace(figure.x, span=((size + 1) / 2, float(max(2, self._room)))),
            y=replace(figure.y, span=span),
            expected=points,
        )


def _above(value: float) -> float:
    """The next one of 1, 2, 5, 10, 20 …"""
    if value <= 0:
        return 1.0
    power = _decade(value)
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)


def _decade(value: float) -> float:
    """The power of ten that is not above it."""
    return float(10.0 ** math.floor(math.log10(value)))


def charts_text(charts: Sequence[LiveChart], drawn: Drawn) -> str:
    """JSON: what a reader does not have, which goes on with it; empty: it has all. A chart that is
    not among ``all`` is there no more."""
    changed = []
    had = set(drawn)
    for chart in charts:
        frame, rows_had, shaded_had = drawn.get(chart.name, (0, 0, 0))
        is_new = frame != chart.frame
        if is_new:
            rows_had = shaded_had = 0
        new, shaded = chart.rows[rows_had:], chart.shaded[shaded_had:]
        if is_new or new or shaded:
            head = chart.head if is_new else "null"
            changed.append(
                f'{{"name":"{chart.name}","head":{head},"rows":[{",".join(new)}],'
                f'"shaded":[{",".join(shaded)}]}}'
            )
        drawn[chart.name] = (chart.frame, rows_had + len(new), shaded_had + len(shaded))
    every = [chart.name for chart in charts]
    for gone in had - set(every):
        del drawn[gone]
    if not changed and had == set(every):
        return ""
    return f'{{"all":{json.dumps(every)},"changed":[{",".join(changed)}]}}'

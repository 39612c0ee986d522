"""Takes the points of a published table, published and measured; returns the columns and rows of
the table in the paper's own shape."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from assay.experiment import Scalar
from assay.report.cells import cell_runs
from assay.report.declared.published import FactorLayout
from assay.report.papers import paper_points
from assay.report.papers.claims import judgement
from assay.report.papers.claims.claimed_ratios import ByRatio
from assay.report.papers.paper_points import (
    JUDGED,
    PUBLISHED,
    RATIO,
    RATIO_UNITS,
    VALUE,
    MeasuredRatio,
    PaperPoint,
)
from assay.report.values import ReportCell, ReportColumn, Row, absent

Levels = tuple[Scalar, ...]
"""Those of a row, or of a column."""


class PlacedPoints(Struct, frozen=True, dict=True):
    """Points by their places in the table."""

    layout: FactorLayout
    published: Sequence[PaperPoint]
    measured: Sequence[PaperPoint]
    of_claims: ByRatio

    @property
    def titled(self) -> list[ReportColumn]:
        """The columns of the values."""
        return [
            ReportColumn("\n".join(words), is_number=True, group=" ".join(words[:-1]))
            for words in (list(map(str, column)) for column in self._columns)
        ]

    def shown(self) -> Iterator[Row]:
        """Rows in the paper's order, each with the published numbers, and the measured below
        them."""
        for row in self._rows():
            own = (point.origin for point in self._points if self._row(point) == row)
            for origin in dict.fromkeys(own):
                yield from self._shown(row, origin)

    def _shown(self, row: Levels, origin: str) -> Iterator[Row]:
        """The numbers of one origin; below measured ones their ratios and judgements, if there are
        any."""
        labels = tuple(map(cell_runs.label, row))
        cells = self._cells_of(row, origin)
        noted = (replace(cell, note=_note(cell)) for cell in cells)
        yield Row((*labels, ReportCell(origin), *noted), is_published=origin == PUBLISHED)
        if origin == PUBLISHED:
            return
        published = self._cells_of(row, PUBLISHED)
        divided = list(map(_ratio, published, cells))
        if any(cell.number for cell in divided):
            yield Row((*labels, ReportCell(RATIO), *divided))
        ratios = [self._ratios.get((row, origin, column)) for column in self._columns]
        judged = list(map(self._judged, published, ratios))
        if any(cell.shown for cell in judged):
            yield Row((*labels, ReportCell(JUDGED), *judged))

    @property
    def _points(self) -> list[PaperPoint]:
        return [*self.published, *self.measured]

    @cached_property
    def _cells(self) -> dict[tuple[Levels, str, Levels], ReportCell]:
        return {self._place(point): point.cell for point in self._points}

    @cached_property
    def _ratios(self) -> dict[tuple[Levels, str, Levels], MeasuredRatio]:
        return {self._place(point): point.ratio for point in self.measured if point.ratio}

    def _cells_of(self, row: Levels, origin: str) -> list[ReportCell]:
        return [self._cells.get((row, origin, column), absent("")) for column in self._columns]

    def _judged(self, published: ReportCell, ratio: MeasuredRatio | None) -> ReportCell:
        """As the claim about it; else whether the paper's speed-up is on the same side of 1."""
        if published.number is None or ratio is None:
            return absent("")
        value = float(published.number.value)
        of_claim = self.of_claims.get((ratio.identity, value))
        if of_claim is not None:
            return ReportCell(str(of_claim.outcome))  # the table of claims has its reason
        found = judgement.of_speed_up(ratio.interval, value)
        return ReportCell(str(found.outcome), note=found.reason)

    def _row(self, point: PaperPoint) -> Levels:
        return tuple(point.levels.get(name, "") for name in self.layout.rows)

    def _column(self, point: PaperPoint) -> Levels:
        return tuple(point.levels.get(name, "") for name in (*self.layout.columns, VALUE))

    def _place(self, point: PaperPoint) -> tuple[Levels, str, Levels]:
        return self._row(point), point.origin, self._column(point)

    @cached_property
    def _columns(self) -> list[Levels]:
        """The values of a system side by side: first those of the paper, then other measured
        ones."""
        columns = list(dict.fromkeys(map(self._column, self._points)))
        groups = list(dict.fromkeys(column[:-1] for column in columns))
        titles = list(dict.fromkeys(column[-1] for column in columns))
        return sorted(
            columns, key=lambda column: (groups.index(column[:-1]), titles.index(column[-1]))
        )

    def _rows(self) -> list[Levels]:
        """In the order in which the paper has its own, whichever of its factors comes first in
        that; numbers by size."""
        rows = list(dict.fromkeys(map(self._row, self._points)))
        published = list(dict.fromkeys(map(self._row, self.published)))
        factors = range(len(self.layout.rows))
        places = [list(dict.fromkeys(row[place] for row in rows)) for place in factors]

        def rank(row: Levels, place: int) -> float:
            level = row[place]
            return level if isinstance(level, int | float) else places[place].index(level)

        for order in itertools.permutations(factors):
            ranked = {row: [rank(row, place) for place in order] for row in rows}
            if published == sorted(published, key=ranked.__getitem__):
                return sorted(rows, key=ranked.__getitem__)
        return rows


def _note(cell: ReportCell) -> str:
    """The verdict alone: its reasons, which differ from cell to cell, stand in the tables of the
    test."""
    if cell.number is None or cell.number.verdict in ("", "valid"):
        return cell.note
    return f"{cell.number.verdict}: the reasons stand in the tables of each test below"


def _ratio(published: ReportCell, measured: ReportCell) -> ReportCell:
    is_ratio = published.number is not None and published.number.unit in RATIO_UNITS
    return paper_points.ratio(measured, published) if is_ratio else absent("")

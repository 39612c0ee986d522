"""Takes the runs of a report; returns the place of the page that a number leads to: its run, or
where several runs are behind it, their cell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assay.report.run_details import RunOfCell
from assay.text.visible import visible_lines

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


def escaped(text: str) -> str:
    """Text as it may stand in the page, also in an attribute."""
    return visible_lines(text).translate(_ESCAPES)


class Links:
    def __init__(self, runs: Iterable[RunOfCell]) -> None:
        self._cells: Mapping[int, int] = {one.run.id: one.cell for one in runs}

    def target(self, runs: Iterable[int]) -> str:
        """``run-5``, ``cell-5``; empty: no run of this page."""
        known = [run for run in runs if run in self._cells]
        if not known:
            return ""
        if len(known) == 1:
            return f"run-{known[0]}"
        return f"cell-{self._cells[known[0]]}"

    def around(self, shown: str, runs: Iterable[int]) -> str:
        """``shown``, already escaped, as a link to the runs."""
        target = self.target(runs)
        return f'<a href="#{target}">{shown}</a>' if target and shown else shown

"""`assay.compare`: two sides compared, in Python."""

from __future__ import annotations

import io
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from assay import comparison, registry
from assay.api import asked
from assay.api.results import Result, data_frame
from assay.cli.options import experiment_references
from assay.comparison import conditions
from assay.comparison.conditions import ConditionAnswer
from assay.comparison.differences import DESPITE
from assay.comparison.sides import Side
from assay.errors import ArgumentError
from assay.record import DEFAULT_FILE_NAME
from assay.report import comparison_document, comparison_report
from assay.report.comparison_document import RatioDocument
from assay.text.phrases import did_you_mean
from assay.text.quantities import shown

Ratio = RatioDocument

_CONDITION = "'throughput_per_s < 0.9x'"

Asked = Result | int | str | PathLike[str]
"""A result, the number of an experiment, or a word as `assay compare` takes it."""


def compare(
    a: Asked,
    b: Asked | None = None,
    *,
    between: str = "",
    metric: str | None = None,
    despite: str | Sequence[str] = (),
    records: str | PathLike[str] = DEFAULT_FILE_NAME,
) -> Comparison:
    """Whether B is faster than A, by how much, and how sure that is; as ``assay compare``.

    >>> import assay
    >>> result = assay.run("tpcb", on="null", clients=[1, 2], transactions=50, repetitions=2)
    >>> compared = assay.compare(result, between="clients")
    >>> [ratio.design for ratio in compared.verdicts]
    ['paired']

    ``a`` and ``b`` are results, numbers of experiments in the record file ``records``, or words as
    the command takes them (``"latest-1"``, ``"FILE:3"``). With ``between`` two levels of a
    factor are compared, and ``b`` may be left out. Raises `assay.errors.ArgumentError` where there
    is nothing to compare.
    """
    given = asked.names("despite", despite)
    for word in given:
        if word not in DESPITE:
            raise ArgumentError(
                f"despite: there is no difference {word!r}", hint=did_you_mean(word, DESPITE)
            )
    path = Path(asked.path("records", records))
    factor, asked_metric = asked.text("between", between) or "", asked.text("metric", metric)
    left = _side("A", a, path)
    right = None if b is None else _side("B", b, path)
    made = comparison.compare(left, right, between=factor, metric=asked_metric, despite=given)
    return Comparison(made, given)


class Comparison:
    """Two sides, compared cell by cell."""

    def __init__(self, made: comparison.Comparison, despite: Sequence[str]) -> None:
        self._made = made
        self._despite = despite

    def __repr__(self) -> str:
        return f"<assay.Comparison: {self._made.a.title} with {self._made.b.title}>"

    def __str__(self) -> str:
        stream = io.StringIO()
        registry.report_form("table")(comparison_report.build(self._made), stream, detail=False)
        return stream.getvalue()

    @property
    def ratios(self) -> tuple[Ratio, ...]:
        """Of every metric of every cell that both sides have, the primary one of a cell first."""
        return tuple(comparison_document.ratios(self._made))

    @property
    def verdicts(self) -> tuple[Ratio, ...]:
        """Of the primary metric of each cell."""
        return tuple(one for one in self.ratios if one.is_primary)

    @property
    def document(self) -> dict[str, Any]:
        """The same as ``assay compare --format json``."""
        return comparison_document.document(self._made)

    def meets(self, condition: str) -> bool:
        """Whether a cell meets a condition of ``--fail-if``; raises `assay.errors.ArgumentError`
        where none does, and it is not known or not decided of one."""
        if not isinstance(condition, str):
            raise ArgumentError(f"expected a condition, found {shown(condition)}", hint=_CONDITION)
        judged = conditions.judge_conditions(
            self._made, [conditions.condition(condition)], despite=self._despite
        )
        if any(one.answer is ConditionAnswer.MET for one in judged):
            return True
        for answer in (ConditionAnswer.UNKNOWN, ConditionAnswer.NOT_DECIDED):
            open_ = [f"{one.cell}: {one.reason}" for one in judged if one.answer is answer]
            if open_:
                raise ArgumentError(f"{condition}: {answer.value}: {'; '.join(open_)}")
        if not judged:
            raise ArgumentError(f"{condition}: not known: A and B have no cell in common")
        return False

    def to_pandas(self) -> Any:
        """The ratios as a ``pandas.DataFrame``, a row for each metric of each cell."""
        return data_frame([*comparison_document.rows(self._made)])


def _side(name: str, given: Asked, records: Path) -> Side:
    if isinstance(given, Result):
        found = [given._record]
    else:
        word = str(given) if isinstance(given, int) else asked.path(name, given)
        found = experiment_references.experiments(word, records)
    return comparison.side(name, experiment_references.title(found, records), found)

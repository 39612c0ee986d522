"""Takes a comparison; returns its tables of ratios: of few cells one with all that a verdict rests
on; of many the verdicts alone, and what they rest on as a detail. All metrics are a detail."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from msgspec.structs import replace

from assay.comparison.ratios.verdicts import NOT_COMPARABLE, NOT_DECIDED
from assay.comparison.sides.values import Compared, ComparedCell, Comparison, Machines
from assay.judge.statistics.estimate import CONFIDENCE
from assay.report import columns, footnotes
from assay.report.cells import factor_order
from assay.report.columns import numbers, words
from assay.report.comparison_tables import ratio_cells
from assay.report.values import ReportCell, ReportColumn, ReportTable, absent, text
from assay.text import units

_FEW = 3
"""So many cells have one table."""

Shown = Sequence[tuple[ComparedCell, Compared]]


def tables(comparison: Comparison) -> Iterator[ReportTable]:
    cells = _in_order(comparison)
    primary = [(cell, cell.primary) for cell in cells]
    if len(cells) > _FEW:
        yield _verdicts(comparison, primary)
        yield _ratios(comparison, primary, is_detail=True)
    else:
        yield _ratios(comparison, primary)
    yield _metrics(
        comparison,
        [
            (cell, one)
            for cell in cells
            for one in cell.metrics
            if one.is_primary or one.a or one.b  # what never happened fills no rows
        ],
    )
    of_types = [(cell, one) for cell in cells for one in cell.types_that_differ]
    if of_types:
        yield _types(comparison, of_types)


def _in_order(comparison: Comparison) -> list[ComparedCell]:
    """As a report of A has them."""
    places: dict[int, int] = {}
    for experiment in comparison.a.experiments:
        for run in factor_order.in_order(experiment):
            places.setdefault(run.id, len(places))
    last = len(places)
    return sorted(
        comparison.cells,
        key=lambda cell: min((places.get(run, last) for run in cell.a_runs), default=last),
    )


def _verdicts(comparison: Comparison, shown: Shown) -> ReportTable:
    """The short one."""
    word, of_all = _said_of_all(comparison, shown)
    notes = (
        *_notes_of_cells(comparison),
        *_disagreeing_medians(shown),
        *_several(shown, "; an interval is that of one alone"),
    )
    return _table(
        "verdicts",
        f"{_one_metric(shown)}ratios of B to A with {units.share(CONFIDENCE)} intervals",
        (
            ReportColumn("cell", cell=lambda source: _name(shown, source[0])),
            *(column for column in _NUMBERS if column.title in ("B/A", "interval")),
            *([] if word else [_verdict_column(comparison, of_all)]),
        ),
        shown,
        block=lambda source: _block(shown, *source),
        notes=notes,
        of_all=_sentence(word, of_all),
    )


def _sentence(word: str, of_all: Sequence[str]) -> str:
    """``every cell: no difference seen; indicative: short measurement``."""
    said = "; ".join(filter(None, (word, *of_all)))
    return f"every cell: {said}" if said else ""


def _ratios(comparison: Comparison, shown: Shown, *, is_detail: bool = False) -> ReportTable:
    """``is_detail``: the verdicts stand in a table before this one, with the notes on them."""
    word, of_all = _said_of_all(comparison, shown)
    has_verdicts = not (is_detail or word)
    notes = (
        *([] if is_detail else _notes_of_cells(comparison)),
        *_meaning(shown),
        *([] if is_detail else _disagreeing_medians(shown)),
        *_several(shown, "; interval and detectable difference are those of one alone, so an "
        "interval may exclude 1 by chance"),
    )  # fmt: skip
    return _table(
        "ratios",
        f"{_one_metric(shown)}ratios of B to A with {units.share(CONFIDENCE)} intervals",
        (
            ReportColumn("cell", cell=lambda source: _name(shown, source[0])),
            *_NUMBERS,
            *([_verdict_column(comparison, of_all)] if has_verdicts else []),
        ),
        shown,
        block=lambda source: _block(shown, *source),
        notes=notes,
        is_detail=is_detail,
        of_all="" if is_detail else _sentence(word, of_all),
    )


def _table(name: str, title: str, *rest: Any, **others: Any) -> ReportTable:
    return footnotes.numbered(columns.table(name, title, *rest, **others))


def _metrics(comparison: Comparison, shown: Shown) -> ReportTable:
    return _table(
        "metrics",
        f"all metrics, ratios of B to A with {units.share(CONFIDENCE)} intervals",
        (_METRIC, *_NUMBERS, *_STATISTICS, _verdict_column(comparison)),
        shown,
        block=partial(_cell_above, comparison),
        is_detail=True,
    )


def _types(comparison: Comparison, shown: Shown) -> ReportTable:
    """What the numbers of a whole mix hide. The table of all metrics has every type."""
    return _table(
        "types",
        "transaction types that differ, though the whole does not in this direction",
        (_METRIC, *_NUMBERS, _verdict_column(comparison)),
        shown,
        block=partial(_cell_above, comparison),
    )


def _cell_above(comparison: Comparison, source: tuple[ComparedCell, Compared]) -> dict[str, str]:
    return {"": source[0].name} if len(comparison.cells) > 1 else {}


def _mean(title: str, name: str) -> ReportColumn:
    def cell(compared: Compared) -> ReportCell:
        value = getattr(compared, name)
        return absent("none") if value is None else ratio_cells.value_cell(value, compared.metric)

    return numbers(title, cell)


def _effect(compared: Compared) -> ReportCell:
    size = compared.estimate and compared.estimate.effect_size
    return absent("none") if size is None else text(f"{size:.1f}")


def _p(compared: Compared) -> ReportCell:
    p = compared.adjusted_p
    return absent("none") if p is None else text("<0.001" if p < 0.001 else f"{p:.3f}")


_METRIC = words("metric", lambda source: source[1].metric.name)
_NUMBERS = columns.of(
    itemgetter(1),
    [
        _mean("A", "a"),
        _mean("B", "b"),
        numbers("B/A", lambda source: ratio_cells.ratio_cell(source.estimate)),
        numbers(
            "interval",
            lambda source: ratio_cells.interval_cell(source.estimate, source.repetitions),
        ),
        numbers("detectable", lambda source: ratio_cells.detectable_cell(source.estimate)),
        numbers("runs", lambda source: text(f"{len(source.a_values)}+{len(source.b_values)}")),
    ],
)
_STATISTICS = columns.of(itemgetter(1), [numbers("effect", _effect), numbers("adjusted p", _p)])


def _verdict_column(comparison: Comparison, of_all: Sequence[str] = ()) -> ReportColumn:
    return ReportColumn(
        "verdict", cell=lambda source: _verdict(comparison, source[0], source[1], of_all)
    )


def _verdict(
    comparison: Comparison, cell: ComparedCell, compared: Compared, of_all: Sequence[str] = ()
) -> ReportCell:
    """With what limits it as a footnote, apart from what is said of all."""
    word, limits = _word_and_limits(comparison, cell, compared)
    return replace(text(word), note="; ".join(limit for limit in limits if limit not in of_all))


def _word_and_limits(
    comparison: Comparison, cell: ComparedCell, compared: Compared
) -> tuple[str, list[str]]:
    reasons = "; ".join(cell.runs_reasons)
    word, _, why = compared.verdict.partition(": ")
    if word not in (NOT_DECIDED, NOT_COMPARABLE):
        word, why = compared.verdict, ""
    limits = [
        *([why] if why else []),
        *([f"indicative: {reasons}"] if cell.runs_verdict == "indicative" else []),
        *(["not the same machine"] if comparison.same_machine is Machines.OTHER else []),
        *(["machines not known"] if comparison.same_machine is Machines.UNKNOWN else []),
    ]
    return word, limits


def _said_of_all(comparison: Comparison, shown: Shown) -> tuple[str, list[str]]:
    """The verdict of several cells, empty unless all have the same and none a limit of its own; and
    the limits that all have."""
    found = [_word_and_limits(comparison, cell, one) for cell, one in shown]
    if len(found) < 2:
        return "", []
    words = {word for word, _ in found}
    common = [limit for limit in found[0][1] if all(limit in limits for _, limits in found)]
    has_own = any(len(limits) > len(common) for _, limits in found)
    return words.pop() if len(words) == 1 and not has_own else "", common


def _metric_names(shown: Shown) -> set[str]:
    return {one.metric.name for _, one in shown}


def _one_metric(shown: Shown) -> str:
    """The beginning of a title; of several metrics each stands above its rows."""
    names = _metric_names(shown)
    return f"{names.pop()}, " if len(names) == 1 else ""


def _name(shown: Shown, cell: ComparedCell) -> ReportCell:
    """Without the test, where that stands above its rows."""
    return text(
        cell.name.removeprefix(f"{cell.full_test_name}, ") if _has_blocks(shown) else cell.name
    )


def _has_blocks(shown: Shown) -> bool:
    return len(_metric_names(shown)) > 1 or len({cell.full_test_name for cell, _ in shown}) > 1


def _block(shown: Shown, cell: ComparedCell, compared: Compared) -> dict[str, str]:
    """The test and its metric, of several; above its rows, so that neither takes a column."""
    return {"": f"{cell.full_test_name}: {compared.metric.name}"} if _has_blocks(shown) else {}


def _notes_of_cells(comparison: Comparison) -> Iterator[str]:
    """Each once, those of most cells first. The runs of several cells that were not measured are
    counted together."""
    cells = comparison.cells
    incomplete = [cell.not_measured for cell in cells if cell.not_measured]
    if is_counted := len(incomplete) > 1:
        counts = Counter[str]()
        for one in incomplete:
            counts.update(one)
        runs = " and ".join(
            f"{units.counted(counts[side], 'run')} of {side}" for side in sorted(counts)
        )
        yield f"{runs} were not measured, in {len(incomplete)} cells"
    found: dict[str, list[str]] = {}
    for cell in cells:
        for note in cell.notes if is_counted else cell.every_note:
            found.setdefault(note, []).append(cell.name)
    for note, names in sorted(found.items(), key=lambda item: -len(item[1])):
        if len(names) == len(cells):
            yield note
        elif len(names) > 1:
            yield f"{note} ({len(names)} of {len(cells)} cells)"
        else:
            yield f"{names[0]}: {note}"


def _meaning(shown: Shown) -> Iterator[str]:
    """What the columns are."""
    if any(len(values) > 1 for _, one in shown for values in (one.a_values, one.b_values)):
        yield "A, B: geometric means of the repetitions (assay report has medians)"
    estimates = [one.estimate for _, one in shown if one.adjusted_p is not None]
    least = [one.detectable_difference for one in estimates if one and not one.is_unbounded()]
    if any(one is not None for one in least):
        note = "detectable: smallest true difference that 4 of 5 such comparisons find"
        if any(one is not None and ratio_cells.is_factor(one) for one in least):
            note += "; from 100 % on, the factor between A and B"
        yield note


def _disagreeing_medians(shown: Shown) -> Iterator[str]:
    """The cells whose medians, which a report shows, have the other side ahead."""
    for cell, one in shown:
        if one.do_medians_disagree:
            a, b = (
                ratio_cells.value_cell(statistics.median(values), one.metric).shown
                for values in (one.a_values, one.b_values)
            )
            yield (
                f"{cell.name}: by medians, as in assay report, the other side is ahead (A {a}, "
                f"B {b}): the repetitions of a side differ more than the sides"
            )


def _several(shown: Shown, of_one: str = "") -> Iterator[str]:
    """``of_one``: what does not allow for their number."""
    count = sum(one.adjusted_p is not None for _, one in shown)
    if count > 1:
        yield f"verdicts allow for {count} comparisons{of_one}"

"""Takes a comparison, and conditions on it; returns its `Report`: what differs between the machines
first, then a short table of ratios and verdicts; all metrics and differences with details."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

from msgspec.structs import replace

from assay.comparison import differences, factors, sentences, unequal_work
from assay.comparison.compare_sides import designs
from assay.comparison.conditions import ConditionResult
from assay.comparison.ratios import NOT_COMPARABLE, NOT_DECIDED
from assay.comparison.sides import Compared, ComparedCell, Comparison, Difference, Machines
from assay.contracts.metric import ReportColumn
from assay.judge.statistics.estimate import CONFIDENCE, Design, Estimate
from assay.judge.statistics.samples import NOT_REACHED, UNREACHED
from assay.judge.warning_kinds import ENOUGH_REPETITIONS
from assay.report import columns, factor_order
from assay.report.columns import numbers, path, words
from assay.report.values import Report, ReportCell, ReportTable, Section, absent, number_cell, text
from assay.text import table_forms, units

_MOST_DIFFERENCES = 6
"""Of the differences that all cells share, how many are listed without details."""
_MOST_UNEQUAL = 3
"""Of the cells of one side, how many are listed where no cell is on both."""
_DESIGNS = {
    Design.PAIRED: "interleaved: each repetition of A and B is a pair",
    Design.INDEPENDENT: "not interleaved, so unreliable: changes of the machine count",
    Design.SINGLE: "one run on a side: no interval, so that a difference may be noise; "
    f"run {ENOUGH_REPETITIONS} repetitions",
}


_IN_ONE_EXPERIMENT = (
    "to interleave two schemas make them levels of a parameter of one workload "
    "(`when` of an index or a table)"
)


def build(comparison: Comparison, judged: Sequence[ConditionResult] = ()) -> Report:
    sections = [*_ratios(comparison), *_conditions(judged), *_differences(comparison)]
    sections += _unequal(comparison)
    return Report(
        title="B compared with A",
        experiments=(),
        record=comparison.b.experiments[0].path,
        facts=_facts(comparison),
        sections=tuple(sections),
        warnings=(),
        cell_count=len(comparison.cells),
    )


def _facts(comparison: Comparison) -> dict[str, str]:
    facts = {
        "result": _result(comparison),
        "differs": _other_work(comparison),
        "A": comparison.a.title,
        "B": comparison.b.title,
        "machines": _machines(comparison),
        "answers": _answers(comparison),
        "runs": "; ".join([*_runs(comparison), *_way_to_interleave(comparison)]),
    }
    return {name: value for name, value in facts.items() if value}


def _result(comparison: Comparison) -> str:
    """The verdict on each of few cells, with its ratio; of many, how often each was given."""
    cells = _in_order(comparison)
    verdicts = [_word_and_limits(comparison, cell, cell.primary) for cell in cells]
    if len(cells) > _FEW:
        counts = Counter(word for word, _ in verdicts).most_common()
        return ", ".join(f"{word} in {count} of {len(cells)} cells" for word, count in counts)
    found = []
    for cell, (word, limits) in zip(cells, verdicts, strict=True):
        said = f"{cell.name}: {word}" if len(cells) > 1 else word
        if estimate := cell.primary.estimate:
            times = sentences.times_words(estimate.ratio, *(estimate.interval() or (None, None)))
            said += f": {cell.primary.metric.label} of B is {times} that of A"
        found.append("; ".join([said, *limits[:1]]))
    return "; ".join(found)


def _answers(comparison: Comparison) -> str:
    """Of comparable cells, where all of them agree; what differs stands with the verdicts."""
    if comparison.between == factors.SCRIPT:
        return "not compared: each script asks with statements and values of its own"
    found = {cell.answers for cell in comparison.cells}
    if not found or "" in found:
        return ""
    return f"the same: {found.pop()}" if len(found) == 1 else "the same in every cell"


def _other_work(comparison: Comparison) -> str:
    """What one side writes, flushes or checks otherwise for the same work; of some cells alone with
    their number."""
    found = Counter[str]()
    for cell in comparison.cells:
        found.update(unequal_work.safeguard_clauses(("A", "B", one) for one in cell.other_work))
    cells = len(comparison.cells)
    return "; ".join(
        clause if count == cells else f"{clause} (in {count} of {cells} cells)"
        for clause, count in found.items()
    )


def _runs(comparison: Comparison) -> Iterator[str]:
    """How they belong together; of how many cells, where that differs."""
    found = designs(comparison)
    for design in Design:
        if count := found[design]:
            link = " with " if design is Design.SINGLE else " "
            of_cells = f"{units.counted(count, 'cell')}{link}" if len(found) > 1 else ""
            yield f"{of_cells}{_DESIGNS[design]}"


def _way_to_interleave(comparison: Comparison) -> Iterator[str]:
    """Of two workloads, or two texts of one folder: an experiment has one."""
    texts = {one.name for cell in comparison.cells for one in cell.differences}
    are_two = comparison.between == factors.WORKLOAD or differences.TEXT_OF_WORKLOAD in texts
    if are_two and designs(comparison)[Design.INDEPENDENT]:
        yield _IN_ONE_EXPERIMENT


def _machines(comparison: Comparison) -> str:
    found = "; ".join(one.sentence for one in comparison.machines)
    unknown = ", ".join(comparison.unknown_of_machines)
    if comparison.same_machine is Machines.UNKNOWN:
        return f"not known: the record lacks {unknown}{found and f'; {found}'}"
    if not found:
        return "the same"
    is_probes_alone = all(one.what == "probe" for one in comparison.machines)
    return f"{'the same, probed otherwise' if is_probes_alone else 'not the same'}: {found}"


def _ratios(comparison: Comparison) -> Iterator[Section]:
    if not comparison.cells:
        return
    yield Section("Ratios", (), tuple(tables(comparison)))


def _conditions(judged: Sequence[ConditionResult]) -> Iterator[Section]:
    if not judged:
        return
    table = columns.table(
        "conditions",
        "by cell",
        (
            words("condition", path("condition", "text"), is_label=True),
            words("cell", path("cell"), is_label=True),
            words("answer", path("answer", "value")),
            words("found", path("reason")),
        ),
        judged,
    )
    yield Section("Conditions", (), (table,))


def _differences(comparison: Comparison) -> Iterator[Section]:
    """Those that all cells have first; the rest with details."""
    cells = comparison.cells
    shared = [
        one for one in (cells[0].differences if cells else ())
        if all(one in cell.differences for cell in cells)
    ]  # fmt: skip
    own = [(cell.name, one) for cell in cells for one in cell.differences if one not in shared]
    if not shared and not own:
        return
    first = [one for one in shared if one.what in differences.CHANGING_THE_WORK]
    few = shared[: max(_MOST_DIFFERENCES, len(first))]
    width = max((len(one.name) for one in few), default=0)
    sides = [([one.name], [f"{one.a or 'none'} → {one.b or 'none'}"]) for one in few]
    lines = list(table_forms.table_lines(sides, (width, 0), (False, False)))
    left_out = len(shared) - len(lines) + len(own)
    if left_out:
        lines.append(f"{units.counted(left_out, 'further difference')}  --detail")
    table = columns.table(
        "differences",
        "what differs in equal cells",
        (
            words("cell", itemgetter(0), is_label=True),
            words("what", lambda source: source[1].name, is_label=True),
            words("A", lambda source: source[1].a or "none"),
            words("B", lambda source: source[1].b or "none"),
        ),
        [*(("all", one) for one in shared), *own],
        is_detail=True,
    )
    yield Section("What differs", tuple(lines), (table,))


def _unequal(comparison: Comparison) -> Iterator[Section]:
    if not comparison.unequal:
        return
    of_sides = [[one for one in comparison.unequal if one.side == side] for side in ("A", "B")]
    lines = []
    for found in (one for one in of_sides if one):
        few = found[:_MOST_UNEQUAL] if not comparison.cells else []
        side = f"only in {found[0].side}"
        lines += [f"{side}  {one.name}{_near(one.nearest, one.differences)}" for one in few]
        if left := len(found) - len(few):
            cells = units.counted(left, "further cell" if few else "cell")
            lines.append(f"{side}  {cells}: --detail")
    table = columns.table(
        "unequal_cells",
        "cells of one side",
        (
            words("only in", path("side"), is_label=True),
            words("cell", path("name"), is_label=True),
            words(
                "differs from the nearest of the other in",
                lambda source: _in_what(source.differences),
            ),
        ),
        comparison.unequal,
        is_detail=True,
    )
    yield Section("Unequal cells", tuple(lines), (table,))


def _near(nearest: str, differences: Sequence[Difference]) -> str:
    return f"; differs from {nearest} in {_in_what(differences)}" if nearest else ""


def _in_what(differences: Sequence[Difference]) -> str:
    return "; ".join(one.sentence for one in differences) or "another test"


# Takes a comparison; returns its tables of ratios: of few cells one with all that a verdict rests
# on; of many the verdicts alone, and what they rest on as a detail. All metrics are a detail.

_FEW = 3
"""So many cells have one table."""

Shown = Sequence[tuple[ComparedCell, Compared]]


def tables(comparison: Comparison) -> Iterator[ReportTable]:
    cells = _in_order(comparison)
    primary = [(cell, cell.primary) for cell in cells]
    of_cells, medians = [*_notes_of_cells(comparison)], [*_disagreeing_medians(primary)]
    meaning, several = [*_meaning(primary)], [*_several(primary, _OF_ONE_ALONE)]
    if len(cells) > _FEW:
        few = [column for column in _NUMBERS if column.title in ("B/A", "interval")]
        brief = [*of_cells, *medians, *_several(primary, "; an interval is that of one alone")]
        yield _of_cells(comparison, primary, "verdicts", few, brief)
        notes = [*meaning, *several]
        yield _of_cells(comparison, primary, "ratios", _NUMBERS, notes, is_detail=True)
    else:
        notes = [*of_cells, *meaning, *medians, *several]
        yield _of_cells(comparison, primary, "ratios", _NUMBERS, notes)
    yield _metrics(
        comparison,
        [
            (cell, one)
            for cell in cells
            for one in cell.metrics
            if one is cell.primary or one.a or one.b  # what never happened fills no rows
        ],
    )
    of_types = [(cell, one) for cell in cells for one in cell.types_that_differ]
    if of_types:
        yield _types(comparison, of_types)


def _in_order(comparison: Comparison) -> list[ComparedCell]:
    """As a report of A has them."""
    places: dict[int, int] = {}
    for experiment in comparison.a.experiments:
        for run in factor_order.runs_in_order(experiment):
            places.setdefault(run.id, len(places))
    last = len(places)
    return sorted(
        comparison.cells,
        key=lambda cell: min((places.get(run, last) for run in cell.a_runs), default=last),
    )


_OF_ONE_ALONE = (
    "; interval and detectable difference are those of one alone, so an interval may exclude 1 by "
    "chance"
)


def _of_cells(
    comparison: Comparison,
    shown: Shown,
    name: str,
    numbers: Sequence[ReportColumn],
    notes: Iterable[str],
    *,
    is_detail: bool = False,
) -> ReportTable:
    """``is_detail``: the verdicts stand in a table before this one, with the notes on them."""
    word, of_all = _said_of_all(comparison, shown)
    said = "; ".join(filter(None, (word, *of_all)))
    return _table(
        name,
        f"{_one_metric(shown)}ratios of B to A with {units.share(CONFIDENCE)} intervals",
        (
            ReportColumn("cell", cell=lambda source: _name(shown, source[0])),
            *numbers,
            *([] if word or is_detail else [_verdict_column(comparison, of_all)]),
        ),
        shown,
        block=lambda source: _block(shown, *source),
        notes=tuple(notes),
        is_detail=is_detail,
        of_all=f"every cell: {said}" if said and not is_detail else "",
    )


def _table(name: str, title: str, *rest: Any, **others: Any) -> ReportTable:
    return columns.numbered_footnotes(columns.table(name, title, *rest, **others))


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
        return absent("none") if value is None else value_cell(value, compared.metric)

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
        numbers("B/A", lambda source: ratio_cell(source.estimate)),
        numbers("interval", lambda source: interval_cell(source.estimate, source.repetitions)),
        numbers("detectable", lambda source: detectable_cell(source.estimate)),
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
        *([f"unreliable: {reasons}"] if cell.runs_verdict == "unreliable" else []),
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
    if any(len(values) > 1 for _, one in shown for values in (one.a_values, one.b_values)):
        yield "A, B: geometric means of the repetitions (assay report has medians)"
    estimates = [one.estimate for _, one in shown if one.adjusted_p is not None]
    least = [one.detectable_difference for one in estimates if one and not one.is_unbounded()]
    if any(one is not None for one in least):
        note = "detectable: smallest true difference that 4 of 5 such comparisons find"
        if any(one is not None and is_factor(one) for one in least):
            note += "; from 100 % on, the factor between A and B"
        yield note


def _disagreeing_medians(shown: Shown) -> Iterator[str]:
    """The cells whose medians, which a report shows, have the other side ahead."""
    for cell, one in shown:
        if one.do_medians_disagree:
            a, b = (
                value_cell(statistics.median(values), one.metric).shown
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


_AS_FACTOR = 1.0
"""From this difference on a share misleads: nothing falls by 226 %."""


def value_cell(value: float, metric: ReportColumn) -> ReportCell:
    if value == UNREACHED:
        return absent(NOT_REACHED)
    written = {"ns": units.latency, "bytes": units.size, "count": units.mean_count}
    return number_cell(value, metric.unit, written.get(metric.unit, units.digits))


def ratio_text(value: float) -> str:
    """Three places near 1, where they count."""
    return f"{value:.3f}" if 0.1 <= value < 10 else units.digits(value, 3)


def ratio_cell(estimate: Estimate | None) -> ReportCell:
    return number_cell(None if estimate is None else estimate.ratio, "ratio", ratio_text, "none")


def interval_cell(estimate: Estimate | None, repetitions: int) -> ReportCell:
    """``repetitions``: of the side that has fewer."""
    interval = estimate.interval() if estimate else None
    if estimate is None or interval is None:
        return absent("none")
    if estimate.is_unbounded():
        few = "two repetitions are too few for an interval"
        return absent("unbounded", few if repetitions <= 2 else "the repetitions differ too much")
    return text(" to ".join(map(ratio_text, interval)))


def detectable_cell(estimate: Estimate | None) -> ReportCell:
    least = estimate.detectable_difference if estimate else None
    if estimate is None or least is None:
        return absent("none")
    if estimate.is_unbounded():
        return absent("unbounded")
    return text(
        f"factor {units.digits(1 + least, 3)}" if is_factor(least) else units.percent(least)
    )


def is_factor(detectable_difference: float) -> bool:
    """Whether it is shown as the factor between both sides."""
    return detectable_difference >= _AS_FACTOR

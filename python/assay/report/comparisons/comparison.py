"""Takes a comparison, and conditions on it; returns its `Report`: what differs between the machines
first, then a short table of ratios and verdicts; all metrics and differences with details."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay.comparison.conditions import Judged
from assay.comparison.estimate import CONFIDENCE, Design
from assay.comparison.metrics import Metric
from assay.comparison.stage import designs
from assay.comparison.values import Compared, ComparedCell, Comparison, Difference, Machines
from assay.report import footnotes
from assay.report.values import Cell, Column, Number, Report, Row, Section, Table, absent, text
from assay.text import units

_MOST_DIFFERENCES = 6
"""Of the differences that all cells share, how many are listed without details."""
_MOST_UNEQUAL = 3
"""Of the cells of one side, how many are listed where no cell is on both."""
_DESIGNS = {
    Design.PAIRED: "interleaved: each repetition of A and B is a pair",
    Design.INDEPENDENT: "not interleaved: changes of the machine count in the ratio",
    Design.SINGLE: "one run on a side: no interval, so that a difference may be noise; "
    "repeat with --repetitions",
}


def build(comparison: Comparison, judged: Sequence[Judged] = ()) -> Report:
    sections = [*_ratios(comparison), *_conditions(judged), *_differences(comparison)]
    sections += _unequal(comparison)
    return Report(
        title="B compared with A",
        experiment_id=0,
        record=comparison.b.experiments[0].path,
        facts=_facts(comparison),
        sections=tuple(sections),
        warnings=(),
        cell_count=len(comparison.cells),
    )


def _facts(comparison: Comparison) -> dict[str, str]:
    facts = {
        "A": comparison.a.title,
        "B": comparison.b.title,
        "machines": _machines(comparison),
        "runs": "; ".join(_DESIGNS[one] for one in Design if one in designs(comparison)),
    }
    return {name: value for name, value in facts.items() if value}


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
    tables = [_table("ratios", comparison, [(one, one.primary) for one in comparison.cells])]
    every = [(cell, one) for cell in comparison.cells for one in cell.metrics]
    tables.append(_table("metrics", comparison, every, is_detail=True))
    yield Section("Ratios", (), tuple(tables))


def _table(
    name: str,
    comparison: Comparison,
    shown: Sequence[tuple[ComparedCell, Compared]],
    *,
    is_detail: bool = False,
) -> Table:
    is_one_metric = len({one.metric.name for _, one in shown}) == 1
    columns = [
        Column("cell"),
        *([] if is_one_metric else [Column("metric")]),
        Column("A", is_number=True),
        Column("B", is_number=True),
        Column("B/A", is_number=True),
        Column("interval", is_number=True),
        Column("detectable", is_number=True),
        *(
            [Column("effect", is_number=True), Column("adjusted p", is_number=True)]
            if is_detail
            else []
        ),
        Column("runs", is_number=True),
        Column("verdict"),
    ]
    rows = [
        Row(
            (
                *_cells(cell, one, is_one_metric, is_detail),
                _verdict(comparison, cell, one),
            )
        )
        for cell, one in shown
    ]
    what = "all metrics" if is_detail else shown[0][1].metric.name if is_one_metric else ""
    notes = _notes(comparison) if not is_detail else ()
    title = f"{what}, ratios of B to A" if what else "ratios of B to A"
    title += f" with {units.share(CONFIDENCE)} intervals"
    labels = 1 if is_one_metric else 2
    found = Table(name, title, tuple(columns), tuple(rows), notes, labels, is_detail)
    return footnotes.numbered(found)


def _cells(
    cell: ComparedCell, one: Compared, is_one_metric: bool, is_detail: bool
) -> Iterator[Cell]:
    estimate = one.estimate
    interval = estimate.interval() if estimate else None
    yield text(cell.name)
    if not is_one_metric:
        yield text(one.metric.name)
    for value in (one.a, one.b):
        yield absent("none") if value is None else value_cell(value, one.metric)
    if estimate is None:
        yield absent("none")
    else:
        yield Cell(ratio_text(estimate.ratio), Number(estimate.ratio, "ratio"))
    yield (
        absent("none")
        if interval is None
        else text(f"{ratio_text(interval[0])} to {ratio_text(interval[1])}")
    )
    least = estimate.detectable_difference if estimate else None
    yield absent("none") if least is None else text(_share(least))
    if is_detail:
        size, p = estimate and estimate.effect_size, one.adjusted_p
        yield absent("none") if size is None else text(f"{size:.1f}")
        yield absent("none") if p is None else text("<0.001" if p < 0.001 else f"{p:.3f}")
    yield text(f"{len(one.a_values)}+{len(one.b_values)}")


def _verdict(comparison: Comparison, cell: ComparedCell, one: Compared) -> Cell:
    """With what limits it as a footnote."""
    reasons = "; ".join(cell.runs_reasons)
    limits = [
        *([f"indicative: {reasons}"] if cell.runs_verdict == "indicative" else []),
        *(["not the same machine"] if comparison.same_machine is Machines.OTHER else []),
        *(["machines not known"] if comparison.same_machine is Machines.UNKNOWN else []),
    ]
    return replace(text(one.verdict), note="; ".join(limits))


def _notes(comparison: Comparison) -> tuple[str, ...]:
    cells = comparison.cells
    of_all = [note for note in cells[0].notes if all(note in cell.notes for cell in cells)]
    notes = list(of_all)
    notes += [f"{cell.name}: {note}" for cell in cells for note in cell.notes if note not in of_all]
    count = sum(one.primary.adjusted_p is not None for one in cells)
    if count:
        notes.append("detectable: the smallest true difference that is found in 4 of 5 such runs")
    if count > 1:
        notes.append(
            f"verdicts allow for {count} comparisons; interval and detectable difference are those "
            "of one alone, so an interval may exclude 1 by chance"
        )
    return tuple(notes)


def _conditions(judged: Sequence[Judged]) -> Iterator[Section]:
    if not judged:
        return
    table = Table(
        "conditions",
        "by cell",
        (Column("condition"), Column("cell"), Column("answer"), Column("found")),
        tuple(
            Row(
                (
                    text(one.condition.text),
                    text(one.cell),
                    text(one.answer.value),
                    text(one.reason),
                )
            )
            for one in judged
        ),
        label_columns=2,
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
    few = shared[:_MOST_DIFFERENCES]
    width = max((len(one.name) for one in few), default=0)
    lines = [f"{one.name:<{width}}  {one.a or 'none'} → {one.b or 'none'}" for one in few]
    left_out = len(shared) - len(lines) + len(own)
    if left_out:
        lines.append(f"{units.counted(left_out, 'further difference')}  --detail")
    table = Table(
        "differences",
        "what differs in equal cells",
        (Column("cell"), Column("what"), Column("A"), Column("B")),
        tuple(
            Row((text(name), text(one.name), text(one.a or "none"), text(one.b or "none")))
            for name, one in [*(("all", one) for one in shared), *own]
        ),
        label_columns=2,
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
    table = Table(
        "unequal_cells",
        "cells of one side",
        (Column("only in"), Column("cell"), Column("differs from the nearest of the other in")),
        tuple(
            Row((text(one.side), text(one.name), text(_in_what(one.differences))))
            for one in comparison.unequal
        ),
        label_columns=2,
        is_detail=True,
    )
    yield Section("Unequal cells", tuple(lines), (table,))


def _near(nearest: str, differences: Sequence[Difference]) -> str:
    return f"; differs from {nearest} in {_in_what(differences)}" if nearest else ""


def _in_what(differences: Sequence[Difference]) -> str:
    return "; ".join(one.sentence for one in differences) or "another test"


def value_cell(value: float, metric: Metric) -> Cell:
    if metric.unit == "ns":
        shown = units.latency(value)
    elif metric.unit == "bytes":
        shown = units.size(value)
    elif metric.unit == "count":
        shown = f"{value:.4g}"
    else:
        shown = units.digits(value)
    return Cell(shown, Number(value, metric.unit))


def ratio_text(value: float) -> str:
    """Three places near 1, where they count."""
    if not 0.1 <= value < 10:
        return units.digits(value, 3) if value < 1e6 else "unbounded"
    return f"{value:.3f}"


def _share(value: float) -> str:
    return "unbounded" if value > 1e4 else units.percent(value)

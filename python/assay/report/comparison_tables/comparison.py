"""Takes a comparison, and conditions on it; returns its `Report`: what differs between the machines
first, then a short table of ratios and verdicts; all metrics and differences with details."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from operator import itemgetter

from assay.comparison.compare_sides import designs
from assay.comparison.fail_conditions import ConditionResult
from assay.comparison.sides import differences, factors, safeguards
from assay.comparison.sides.values import Comparison, Difference, Machines
from assay.judge.statistics.estimate import Design
from assay.judge.warnings.kinds import ENOUGH_REPETITIONS
from assay.report import columns
from assay.report.columns import path, words
from assay.report.comparison_tables import ratio_tables
from assay.report.values import Report, Section
from assay.text import terminal_lines, units

_MOST_DIFFERENCES = 6
"""Of the differences that all cells share, how many are listed without details."""
_MOST_UNEQUAL = 3
"""Of the cells of one side, how many are listed where no cell is on both."""
_DESIGNS = {
    Design.PAIRED: "interleaved: each repetition of A and B is a pair",
    Design.INDEPENDENT: "not interleaved, so indicative: changes of the machine count",
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
        "A": comparison.a.title,
        "B": comparison.b.title,
        "differs": _other_work(comparison),
        "machines": _machines(comparison),
        "answers": _answers(comparison),
        "runs": "; ".join([*_runs(comparison), *_way_to_interleave(comparison)]),
    }
    return {name: value for name, value in facts.items() if value}


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
        found.update(safeguards.clauses(("A", "B", one) for one in cell.other_work))
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
    yield Section("Ratios", (), tuple(ratio_tables.tables(comparison)))


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
    lines = list(terminal_lines.table_lines(sides, (width, 0), (False, False)))
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

"""Takes a comparison, and conditions on it; returns it as plain data of a versioned, typed form for
programs; `assay schema comparison` prints its schema.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal, TextIO

import msgspec

from assay.comparison.conditions import ConditionResult
from assay.comparison.may_say import MAY_NOT_SAY, MAY_SAY, Refused, of_comparison
from assay.comparison.sides import Compared, ComparedCell, Comparison, Difference, Side
from assay.judge.run import RunVerdict
from assay.judge.statistics.estimate import CONFIDENCE
from assay.report.forms.csv import write_rows
from assay.report.forms.json import finite, write_document
from assay.report.program_tables import JsonSchema, document_schema
from assay.report.values import TidyRow

VERSION: Literal[1] = 1
"""Incremented when readers of the document have to change."""

_NOT_IN_ROWS = ("a_values", "b_values", "a_runs", "b_runs", "factors")
"""Lists and mappings, which a line of CSV cannot have."""

Scalar = str | int | float | bool
SideName = Literal["A", "B"]


@dataclass(frozen=True)
class ExperimentPlace:
    experiment: int
    title: str
    record: str
    begun_unix_ns: int


@dataclass(frozen=True)
class SideDocument:
    title: str
    experiments: list[ExperimentPlace]
    machine: dict[str, Any]


@dataclass(frozen=True)
class DifferenceDocument:
    cell: Annotated[str | None, msgspec.Meta(description="null: of all cells")]
    what: Annotated[
        str,
        msgspec.Meta(
            description="safeguard, indexes, machine, probe, assay, workload, system, setting …"
        ),
    ]
    name: str
    a: Annotated[str | None, msgspec.Meta(description="null: there is none")]
    b: str | None


@dataclass(frozen=True)
class RatioDocument:
    cell: Annotated[str, msgspec.Meta(description="its name among the cells that are compared")]
    cell_fingerprint: str
    workload: str
    test: str
    factors: Annotated[dict[str, Scalar], msgspec.Meta(description="factor to level, of A")]
    metric: str
    unit: Annotated[str, msgspec.Meta(description="ns, bytes, per_s or count")]
    is_primary: Annotated[
        bool, msgspec.Meta(description="the verdict on the cell rests on this metric")
    ]
    a: Annotated[
        float | None,
        msgspec.Meta(
            description="geometric mean of a_values (the arithmetic one where one of them is 0; a "
            "report has their median); null: none, or not reached"
        ),
    ]
    b: Annotated[float | None, msgspec.Meta(description="the same of b_values")]
    a_values: Annotated[
        list[float | None],
        msgspec.Meta(description="of the repetitions; null: a percentile that is not reached"),
    ]
    b_values: list[float | None]
    a_runs: Annotated[list[int], msgspec.Meta(description="numbers of runs in the record of A")]
    b_runs: list[int]
    design: Annotated[
        Literal["paired", "independent", "single"] | None,
        msgspec.Meta(description="paired: interleaved repetitions; single: a side has one value"),
    ]
    ratio: Annotated[float | None, msgspec.Meta(description="b / a; null: there is none")]
    ratio_low: Annotated[
        float | None, msgspec.Meta(description="of the interval; null: there is none")
    ]
    ratio_high: Annotated[
        float | None, msgspec.Meta(description="null: there is none, or it is unbounded")
    ]
    confidence: float
    p_value: Annotated[
        float | None, msgspec.Meta(description="two-sided, of a ratio of 1; null: no interval")
    ]
    adjusted_p_value: Annotated[
        float | None, msgspec.Meta(description="for the number of comparisons")
    ]
    effect_size: Annotated[
        float | None,
        msgspec.Meta(
            description="log-ratio in standard deviations (of the log-ratios of pairs, else of the "
            "logarithms within both sides); null: too few values"
        ),
    ]
    detectable_difference: Annotated[
        float | None,
        msgspec.Meta(
            description="the smallest true difference, as a share of A, that is found in 4 of 5 "
            "such comparisons; from 1 on better read as a factor (1 more than it); null: no "
            "interval"
        ),
    ]
    direction: Annotated[
        Literal["better", "worse", "none", "unknown"],
        msgspec.Meta(description="none: no difference seen, or too few repetitions to decide"),
    ]
    verdict: str
    runs_verdict: Annotated[
        RunVerdict | None,
        msgspec.Meta(description="the worst on the runs of both sides; null: none was measured"),
    ]
    runs_reasons: Annotated[list[str], msgspec.Meta(description="why it is no better")]
    machines: Annotated[
        Literal["the same", "not the same", "not known"],
        msgspec.Meta(description="whether processors and memory of both sides are the same"),
    ]


@dataclass(frozen=True)
class NoteDocument:
    cell: str
    note: Annotated[str, msgspec.Meta(description="runs that were not measured, or have no pair …")]


@dataclass(frozen=True)
class UnequalDocument:
    side: SideName
    cell: str
    nearest: Annotated[str | None, msgspec.Meta(description="cell of the other side; null: none")]
    differences: list[DifferenceDocument]


@dataclass(frozen=True)
class ConditionDocument:
    condition: str
    cell: str
    answer: Annotated[
        Literal["met", "not met", "not decided", "not known"],
        msgspec.Meta(description="not decided: the interval of the ratio reaches over the limit"),
    ]
    reason: str
    found: Annotated[
        float | None, msgspec.Meta(description="the ratio, or the value of B; null: not known")
    ]


@dataclass(frozen=True)
class ComparisonDocument:
    version: Literal[1]
    a: SideDocument
    b: SideDocument
    between: Annotated[
        str | None, msgspec.Meta(description="factor of the two levels; null: equal cells")
    ]
    is_other_machine: Annotated[
        bool, msgspec.Meta(description="processors or memory are not the same")
    ]
    machine_differences: list[DifferenceDocument]
    ratios: list[RatioDocument]
    differences: list[DifferenceDocument]
    notes: list[NoteDocument]
    unequal_cells: list[UnequalDocument]
    conditions: list[ConditionDocument]
    may_say: Annotated[list[str], msgspec.Meta(description=MAY_SAY)]
    may_not_say: Annotated[list[Refused], msgspec.Meta(description=MAY_NOT_SAY)]


def ratios(comparison: Comparison) -> list[RatioDocument]:
    """Of every metric of every cell."""
    return [_ratio(comparison, cell, one) for cell in comparison.cells for one in cell.metrics]


def document(comparison: Comparison, judged: Sequence[ConditionResult] = ()) -> dict[str, Any]:
    """As JSON has it."""
    sayings = of_comparison(comparison)
    found: dict[str, Any] = msgspec.to_builtins(
        ComparisonDocument(
            version=VERSION,
            a=_side(comparison.a),
            b=_side(comparison.b),
            between=comparison.between or None,
            is_other_machine=comparison.is_other_machine,
            machine_differences=_differences(None, comparison.machines),
            ratios=ratios(comparison),
            differences=[
                one
                for cell in comparison.cells
                for one in _differences(cell.name, cell.differences)
            ],
            notes=[
                NoteDocument(cell.name, note)
                for cell in comparison.cells
                for note in cell.every_note
            ],
            unequal_cells=[
                UnequalDocument(
                    "A" if one.side == "A" else "B",
                    one.name,
                    one.nearest or None,
                    _differences(one.name, one.differences),
                )
                for one in comparison.unequal
            ],
            conditions=[
                ConditionDocument(
                    one.condition.text, one.cell, one.answer.value, one.reason, one.value
                )
                for one in judged
            ],
            may_say=sayings.may_say,
            may_not_say=sayings.may_not_say,
        )
    )
    return found


def schema() -> JsonSchema:
    return document_schema(ComparisonDocument, "A comparison of Assay", "assay compare")


def write_json(comparison: Comparison, judged: Sequence[ConditionResult], stream: TextIO) -> None:
    write_document(document(comparison, judged), stream)


def rows(comparison: Comparison) -> list[TidyRow]:
    """A line for each metric of each cell: the columns of CSV."""
    return [
        {
            "version": VERSION,
            **{
                name: value
                for name, value in asdict(_ratio(comparison, cell, one)).items()
                if name not in _NOT_IN_ROWS
            },
            "a_count": len(one.a_values),
            "b_count": len(one.b_values),
        }
        for cell in comparison.cells
        for one in cell.metrics
    ]


def write_csv(comparison: Comparison, stream: TextIO) -> None:
    """What is not known is empty; true and false are in small letters."""
    names = [
        *(one.name for one in fields(RatioDocument) if one.name not in _NOT_IN_ROWS),
        "a_count",
        "b_count",
    ]
    write_rows(stream, VERSION, names, rows(comparison))


def _side(side: Side) -> SideDocument:
    return SideDocument(
        side.title,
        [
            ExperimentPlace(one.id, one.title, str(one.path), one.begun_unix_ns)
            for one in side.experiments
        ],
        dict(side.experiments[0].machine),
    )


def _differences(cell: str | None, differences: Iterable[Difference]) -> list[DifferenceDocument]:
    return [
        DifferenceDocument(cell, one.what, one.name, one.a or None, one.b or None)
        for one in differences
    ]


def _ratio(comparison: Comparison, cell: ComparedCell, compared: Compared) -> RatioDocument:
    estimate = compared.estimate
    low, high = (estimate.interval() if estimate else None) or (None, None)
    return RatioDocument(
        cell=cell.name,
        cell_fingerprint=cell.fingerprint,
        workload=cell.workload,
        test=cell.test,
        factors=dict(cell.factors),
        metric=compared.metric.name,
        unit=compared.metric.unit,
        is_primary=compared is cell.primary,
        a=finite(compared.a),
        b=finite(compared.b),
        a_values=[finite(value) for value in compared.a_values],
        b_values=[finite(value) for value in compared.b_values],
        a_runs=list(cell.a_runs),
        b_runs=list(cell.b_runs),
        design=estimate.design.value if estimate else None,
        ratio=estimate.ratio if estimate else None,
        ratio_low=low,
        ratio_high=finite(high),
        confidence=CONFIDENCE,
        p_value=estimate.p_value if estimate else None,
        adjusted_p_value=compared.adjusted_p,
        effect_size=estimate.effect_size if estimate else None,
        detectable_difference=finite(estimate.detectable_difference if estimate else None),
        direction=compared.direction.value,
        verdict=compared.verdict,
        runs_verdict=cell.runs_verdict,
        runs_reasons=list(cell.runs_reasons),
        machines=comparison.same_machine.value,
    )

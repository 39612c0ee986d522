"""Every claim of a paper is confirmed by the values that the paper printed, and not by wrong ones
in their place."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import printed_records
from assay import registry
from assay.report.papers.claims import claims
from assay.report.papers.claims.claim_case import JudgedClaim
from assay.report.papers.claims.claims import BOUNDS, Claim, ClaimKind, GrowthBound
from assay.report.papers.claims.judged_claims import judged
from assay.report.papers.claims.judgement import Outcome
from assay.workload import reader
from assay.workload.values import Workload
from printed_records import PrintedCell

pytestmark = pytest.mark.slow

WITH_PAPERS = sorted(
    file.parent.name for file in Path(registry.__file__).parent.glob("workloads/*/published.toml")
)
WORKLOADS = {name: reader.read(name) for name in WITH_PAPERS}
PRINTED = {name: printed_records.cells(workload) for name, workload in WORKLOADS.items()}


def _claims() -> Iterator[Any]:
    for name, workload in WORKLOADS.items():
        found = claims.of_record(workload.for_record())
        for claim, plain in zip(found, workload.claims, strict=True):
            yield pytest.param(workload, claim, plain, id=f"{name}: {claim.text}")


def cells(workload: Workload, claim: Claim) -> list[list[PrintedCell]]:
    """Those of each machine."""
    found = printed_records.of_claim(workload, PRINTED[workload.name], claim)
    return [*found.values()] or [printed_records.in_words(claim, workload)]


def outcomes(
    path: Path, workload: Workload, plain: Mapping[str, Any], of: list[list[PrintedCell]]
) -> list[JudgedClaim]:
    records = (
        printed_records.record(path / f"{place}.sqlite", workload, printed, plain)
        for place, printed in enumerate(of)
    )
    return [one for record in records for one in judged(record)]


@pytest.mark.parametrize(("workload", "claim", "plain"), [*_claims()])
def test_printed_values_confirm_a_claim_and_wrong_ones_do_not(
    workload: Workload, claim: Claim, plain: Mapping[str, Any], tmp_path: Path
) -> None:
    printed = cells(workload, claim)
    found = outcomes(tmp_path, workload, plain, printed)
    said = [f"{one.of}: {one.measured}, {one.sentence}" for one in found]
    print(claim.kind, "; ".join(said))
    if claim.not_here:
        assert {one.reason for one in found} == {claim.not_here}
        return
    assert {one.outcome for one in found} == {Outcome.CONFIRMED}, said
    wrong = [[_wrong(one, workload, claim) for one in of_machine] for of_machine in printed]
    (tmp_path / "wrong").mkdir()
    contradicting = outcomes(tmp_path / "wrong", workload, plain, wrong)
    assert Outcome.CONFIRMED not in {one.outcome for one in contradicting}


def _wrong(cell: PrintedCell, workload: Workload, claim: Claim) -> PrintedCell:
    """The last of an order far below the first, equal values apart, no growth, beyond a limit."""
    if claim.kind is ClaimKind.GROWTH:
        is_flat = claim.growth_bound is not GrowthBound.AT_MOST
        size = 1.0 if is_flat else float(cell.levels[claim.growth])
        return replace(cell, values=dict.fromkeys(cell.values, 1e9 * size), shares={})
    (*_, last) = claim.terms
    first, *_ = printed_records.paths(last.quantity)
    if claim.kind in BOUNDS and not isinstance(claim.limit, str):
        beyond = {ClaimKind.AT_LEAST: 0.5, ClaimKind.AT_MOST: 2.0, ClaimKind.EQUALS: 2.0}[
            claim.kind
        ]
        elapsed_ns = cell.values.get("elapsed_ns", 1) if last.quantity.per == "elapsed_ns" else 1
        values = {**cell.values, first: claim.limit * beyond * elapsed_ns}
        return replace(cell, values=values, shares=dict.fromkeys(cell.shares, beyond - 1))
    factor = {
        ClaimKind.ORDER: 1e-4,
        ClaimKind.EQUAL: claim.within**2 * 1.2,
        ClaimKind.TIMES: 0.1 if claim.least is not None else 10.0,
    }.get(claim.kind, 0.5)
    has_last = cell.has(last)
    if printed_records.is_throughput(workload, last) and "elapsed_ns" in cell.values:
        first, factor = "elapsed_ns", 1 / factor  # a rate in words is kept as its reciprocal
        has_last = cell.has_levels(last)
    if not has_last:
        return cell
    values, shares = (
        {**of, first: of[first] * factor} if first in of else of
        for of in (cell.values, cell.shares)
    )
    return replace(cell, values=values, shares=shares)


_WITH_A_RATIO = [
    one
    for one in _claims()
    if (claim := one.values[1]).ratio and claim.kind is not ClaimKind.EQUAL and not claim.not_here
]
"""Claims that say how far values are apart; those about equal ones have a factor of their own."""


@pytest.mark.parametrize("ratio", [1.05, 2.0])
@pytest.mark.parametrize(("workload", "claim", "plain"), _WITH_A_RATIO)
def test_another_ratio_than_the_printed_one_confirms_the_direction_alone(
    workload: Workload, claim: Claim, plain: Mapping[str, Any], tmp_path: Path, ratio: float
) -> None:
    assert claim.ratio is not None
    is_printed = claim.ratio.low <= ratio <= claim.ratio.high
    expected = Outcome.CONFIRMED if is_printed else Outcome.DIRECTION_CONFIRMED
    of = [printed_records.in_words(claim, workload, ratio)]
    found = outcomes(tmp_path, workload, plain, of)
    assert found
    for one in found:
        assert one.outcome is expected, one.sentence
        assert is_printed or one.reason.endswith(f", printed {claim.ratio.shown}")


def test_what_a_claim_prints_of_how_far_values_are_apart_is_data() -> None:
    """A text with a ratio has it where it is judged."""
    in_words = re.compile(
        r"[0-9] times|factor of|\btwice|\bhal(f|ves)\b|[0-9] % (faster|slower|more)"
        r"|order of magnitude|\([0-9., %s]+ and [0-9., %s]+\)"
    )
    of_orders = [one.values[1] for one in _claims() if one.values[1].kind is ClaimKind.ORDER]
    saying = [claim for claim in of_orders if in_words.search(claim.text)]
    assert len(saying) > 25
    assert [claim.text for claim in saying if claim.ratio is None] == []


def _growths(name: str) -> list[tuple[Claim, Mapping[str, Any]]]:
    workload = WORKLOADS[name]
    both = zip(claims.of_record(workload.for_record()), workload.claims, strict=True)
    return [(claim, plain) for claim, plain in both if claim.kind is ClaimKind.GROWTH]


def test_printed_values_confirm_a_growth_also_on_a_part_of_their_range(tmp_path: Path) -> None:
    """The quick version has 1000 to 20,000 records; of the size between, nothing is printed."""
    workload = WORKLOADS["e831"]
    for number, (claim, plain) in enumerate(_growths("e831")):
        (printed,) = cells(workload, claim)
        small, large = (
            next(cell for cell in printed if cell.levels["records"] == records)
            for records in (1000, 20000)
        )
        values = {path: (value * large.values[path]) ** 0.5 for path, value in small.values.items()}
        middle = replace(small, levels={**small.levels, "records": 20_000_000**0.5}, values=values)
        path = tmp_path / str(number)
        path.mkdir()
        (found,) = outcomes(path, workload, plain, [[small, middle, large]])
        assert found.outcome is Outcome.CONFIRMED, (claim.text, found.measured, found.sentence)


def test_what_takes_six_times_as_long_does_not_hardly_depend_on_the_table(tmp_path: Path) -> None:
    """3.7 s beside 1.5 s are printed of 500 times as many records."""
    workload = WORKLOADS["e831"]
    claim, plain = next(one for one in _growths("e831") if "hardly depends" in one[0].text)
    (printed,) = cells(workload, claim)
    exponent = math.log(6.2) / math.log(500)
    steeper = [
        replace(
            cell,
            values=dict.fromkeys(cell.values, 1000000000.0 * cell.levels["records"] ** exponent),
        )
        for cell in printed
    ]
    (found,) = outcomes(tmp_path, workload, plain, [steeper])
    assert found.outcome is Outcome.CONTRADICTED


def test_half_is_not_close_to_100_percent(tmp_path: Path) -> None:
    workload = WORKLOADS["glidemon"]
    both = zip(claims.of_record(workload.for_record()), workload.claims, strict=True)
    claimed = [one for one in both if "close to 100 %" in one[0].text]
    assert len(claimed) == 4
    for number, (claim, plain) in enumerate(claimed):
        (printed,) = cells(workload, claim)
        halved = [
            replace(cell, values={"elapsed_ns": 1e12 / max(1, cell.levels["clients"] / 2)})
            for cell in printed
        ]
        path = tmp_path / str(number)
        path.mkdir()
        (found,) = outcomes(path, workload, plain, [halved])
        assert found.outcome is Outcome.CONTRADICTED


def test_numbers_that_are_not_printed_are_those_of_printed_values(tmp_path: Path) -> None:
    """A ratio that is derived is the median of those of the printed cells, a range from the least
    to the greatest."""
    number = 0
    for name, workload in WORKLOADS.items():
        both = zip(claims.of_record(workload.for_record()), workload.claims, strict=True)
        for claim, plain in both:
            printed = printed_records.of_claim(workload, PRINTED[name], claim)
            if not claim.is_derived or claim.not_here or not printed:
                continue
            path = tmp_path / str(number := number + 1)
            path.mkdir()
            found = outcomes(path, workload, plain, [*printed.values()])
            ratios = [one.number.value for one in found if one.number is not None]
            printed_ratio = claim.ratio
            assert printed_ratio is not None
            if printed_ratio.value is None:
                ends = (printed_ratio.low, printed_ratio.high)
                assert ends == pytest.approx((min(ratios), max(ratios)), abs=0.01), claim.text
                continue
            middle = statistics.median(ratios)
            assert printed_ratio.value == pytest.approx(middle, rel=0.01), claim.text
    assert number > 10

"""The published numbers are those that the papers print, and claims on them are judged on printed
values and on quick runs."""

from __future__ import annotations

import lzma
import math
import re
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import printed_records
from assay import registry
from assay.record import ExperimentRecord, Run, Store
from assay.report import cell_runs
from assay.report.declared import published
from assay.report.papers import claims
from assay.report.papers.claim_cases import JudgedClaim
from assay.report.papers.claims import BOUNDS, Claim, ClaimKind, GrowthBound, Outcome, Term
from assay.report.papers.judged_claims import judged_claims
from assay.workload import reader
from assay.workload.values import Workload
from printed_records import PrintedCell

BIBSQL, GLIDEMON = reader.read("bibsql"), reader.read("glidemon")


def rows(table: Mapping[str, Any], **levels: Any) -> list[list[float]]:
    return [
        list(row["values"])
        for row in table["rows"]
        if all(row.get(name) == level for name, level in levels.items())
    ]


def sums(found: list[list[float]]) -> list[float]:
    return [pytest.approx(sum(column)) for column in zip(*found, strict=True)]


@pytest.mark.parametrize(
    ("system", "expected"),
    [("MySQL", [10903, 11096]), ("PostgreSQL", [17536, 5151]), ("SQLite", [30029, 11732])],
)
def test_beebe_table_2(system: str, expected: list[int]) -> None:
    found = rows(BIBSQL.published["parallel"], system=system)
    assert (len(found), sums(found)) == (6, expected)


@pytest.mark.parametrize(
    ("system", "table_1", "table_2"),
    [
        ("MySQL", [157, 80], [0.24, 3.8, 164]),
        ("PostgreSQL", [140, 108], [0.28, 1.2, 73]),
        ("MongoDB", [577, 506], [0.36, 6.4, 266]),
    ],
)
def test_kovalskyi_tables_1_and_2(system: str, table_1: list[int], table_2: list[float]) -> None:
    assert sums(rows(GLIDEMON.published["table"], system=system)) == table_1
    assert sums(rows(GLIDEMON.published["response"], system=system)) == table_2


def test_kreymer_table() -> None:
    found = rows(reader.read("e831").published["table"])
    assert (len(found), sums(found)) == (5, [62.37, 83.3, 5.763, 11.0, 23.9, 44.1])
    assert found[3] == [15, 21, 1.6, 2.3, 5, 10]


def test_cubrid_has_ratios_alone_and_each_is_a_claim() -> None:
    ssd = reader.read("ssd")
    printed = [
        (row["system"], test, row["speed_up"][0], row["values"])
        for test, table in ssd.published.items()
        for row in table["rows"]
    ]
    assert [one[2] for one in printed] == [5.0, 2.5, 0.83, 1.06, 4.2, 2.8]
    assert not any(one[3] for one in printed)
    found = claims.of_record(ssd.for_record())
    claimed = [
        (one.terms[0].levels["system"], one.terms[0].test, _speed_up(one))
        for one in found
        if one.ratio is not None
    ]
    assert claimed == [(*one[:2], pytest.approx(one[2], abs=0.005)) for one in printed]


def _speed_up(claim: Claim) -> float | None:
    """Of solid state over disks."""
    if claim.ratio is None or claim.ratio.value is None:
        return None
    is_gain = claim.terms[-1].levels["storage_role"] == "solid state"
    return claim.ratio.value if is_gain else 1 / claim.ratio.value


@pytest.mark.parametrize("workload", [BIBSQL, GLIDEMON])
def test_every_ratio_of_a_claim_about_a_table_is_that_of_the_table(workload: Any) -> None:
    """A claim about two storages of one system in Table 1 has the printed speed-up."""
    found = claims.of_record(workload.for_record())
    assert len(found) > 15
    names = {one.terms[0].test for one in found}
    assert names <= set(workload.tests)
    speed_ups = {
        row["system"]: row["speed_up"][0]
        for row in workload.published.get("sequential", {"rows": []})["rows"]
    }
    of_storages = [
        one
        for one in found
        if one.source == "Table 1"
        and one.kind in ("order", "equal")
        and "system" in one.terms[0].levels
    ]
    claimed = {one.terms[0].levels["system"]: one.ratio and one.ratio.value for one in of_storages}
    assert claimed == speed_ups


@pytest.mark.parametrize("table", ["sequential", "parallel"])
def test_the_year_that_a_check_asks_for_is_named_with_the_one_that_was_used(table: str) -> None:
    found = published.of_record(BIBSQL.for_record(), table)
    assert found is not None
    said = "latest_year: 2012 published, 2023 measured"
    assert found.other_parameters([{"latest_year": "2023"}] * 2) == [said]
    assert found.other_parameters([{"latest_year": "2012"}, {"clients": 8}]) == []


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
    return [one for record in records for one in judged_claims(record)]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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


DATA = Path(__file__).parents[2] / "data" / "papers"
PAPERS = sorted(file.name.partition(".")[0] for file in DATA.glob("*.sqlite.xz"))
NOT_MEASURED = ("was not measured", "was not run", "one storage only", "it was not measured")


def record(path: Path, paper: str) -> ExperimentRecord:
    """With the claims of today: what was measured is kept, and they may change."""
    file = path / "records.sqlite"
    file.write_bytes(lzma.decompress((DATA / f"{paper}.sqlite.xz").read_bytes()))
    with Store(file) as store:
        kept = store.experiment(1)
    today = reader.read(kept.workload.name).for_record()
    workload = structs.replace(kept.workload, claims=today.claims, published=today.published)
    return structs.replace(kept, workload=workload)


def measured_claims(experiment: ExperimentRecord) -> Iterator[Claim]:
    """Those of which each term has a measured run; of a claim that does not compare systems, of one
    system."""
    runs = [run for run in experiment.runs if run.is_measured]
    for claim in claims.of_record(experiment.workload):
        of_systems = len({str(term.levels.get("system")) for term in claim.terms}) > 1
        systems = [None] if of_systems else [*dict.fromkeys(run.system for run in runs)]
        for system in systems:
            own = [run for run in runs if system in (None, run.system)]
            if all(any(_is_of(run, term) for run in own) for term in claim.terms):
                yield claim
                break


def _is_of(run: Run, term: Term) -> bool:
    return all(_has(run, factor, level) for factor, level in term.levels.items())


def _has(run: Run, factor: str, wanted: Any) -> bool:
    if isinstance(wanted, tuple | list):
        return any(_has(run, factor, one) for one in wanted)
    system = run.cell.system
    memory = system.machine.memory_bytes
    driver = run.deployment.address.driver if run.deployment else ""
    levels: dict[str, set[Any]] = {
        "test": {run.test},
        "system": {run.system, driver},
        "storage": {run.storage},
        "storage_role": {cell_runs.role(run)},
        "clients": {run.clients},
        "cache": {run.levels["cache"]},
        "memory": {"none" if memory is None else f"{memory >> 20}MB"},
        "machine": {run.machine_name},
    }
    asked = {**system.options, **system.settings, **run.parameters}
    found = levels.get(factor, {asked.get(factor)})
    return str(wanted).casefold() in {str(one).casefold() for one in found}


@pytest.mark.slow
@pytest.mark.parametrize("paper", PAPERS)
def test_what_was_measured_is_judged(paper: str, tmp_path: Path) -> None:
    experiment = record(tmp_path, paper)
    by_claim: dict[str, list[JudgedClaim]] = {}
    for one in judged_claims(experiment):
        by_claim.setdefault(one.claim.text, []).append(one)
    of_measured = [*measured_claims(experiment)]
    assert of_measured, "none of the claims is about what was measured"
    for claim in of_measured:
        reasons = [one.reason for one in by_claim[claim.text]]
        print(claim.text, reasons)
        assert not all(any(word in why for word in NOT_MEASURED) for why in reasons), claim.text


@pytest.mark.slow
def test_twice_the_memory_of_one_of_two_systems_is_compared(tmp_path: Path) -> None:
    """The buffer is an option of each system, and a part of its name in reports."""
    experiment = record(tmp_path, "scalzo-2001-tpcc")
    of_both = [one for one in judged_claims(experiment) if "twice the memory" in one.claim.text]
    of = {one.of: one for one in of_both}
    assert set(of) == {"postgresql", "mariadb"}
    assert of["postgresql"].reason.startswith("postgresql was not measured: ")
    assert of["mariadb"].number is not None

"""Takes the cells of a test; returns the throughput of each storage divided by that of the first
one, and what a faster one costs where storages have prices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from assay.contracts.metric import ReportColumn
from assay.experiment import StoragePrice
from assay.judge import verdict
from assay.judge.run import NONE
from assay.judge.run_warnings import why_not_steady
from assay.judge.verdict import RateKept
from assay.plan import cell_names
from assay.report import cell_runs, cell_tables, durability
from assay.report.cell_runs import STORAGE, CellRuns
from assay.report.columns import numbers, of, placed, words
from assay.report.declared import aggregates
from assay.report.values import ReportCell, Section, absent, judged, number_cell, section_of, text
from assay.text import units
from assay.workload.declared_reports import Declaration

GB = 1_000_000_000


def section(
    test: str, declared: Declaration | None, measured_cells: Sequence[CellRuns]
) -> Section | None:
    """None where no storage has a price, or the test has other values than times and rates."""
    priced = [cell for cell in measured_cells if _price(cell)]
    if not priced or (declared and declared.fields):
        return None
    key = _compared(declared)
    factors = [
        name for name in cell_runs.varying(measured_cells, "system", "clients") if name != STORAGE
    ]
    firsts: dict[object, CellRuns] = {}
    for cell in priced:
        if aggregates.number(cell, key) is not None:
            firsts.setdefault(cell.without(STORAGE), cell)
    required_per_s = priced[0].runs[0].required_rate_per_s
    kept = [_kept(cell, required_per_s) for cell in priced] if required_per_s else []
    currency = next(price.currency for cell in priced if (price := _price(cell)))
    unit = f" in {currency}" if currency else ""
    of_what = "throughput" if key.is_more_better else "time"
    answers = dict(zip(map(id, priced), kept, strict=False))

    def is_kept(cell: CellRuns) -> ReportCell:
        answer, why = answers[id(cell)]
        return replace(text(answer.value), note=why)

    def compared(cell: CellRuns) -> tuple[ReportCell, ReportCell, ReportCell]:
        return _cells(firsts.get(cell.without(STORAGE)), cell, key)

    table = cell_tables.table_by_cell(
        f"{test}_prices",
        f"Speed-up and price of each storage{unit}",
        (measured_cells, factors),
        (
            words(STORAGE, lambda cell: cell.factors[STORAGE], is_label=True),
            numbers("price/GB", _per_gb),
            *of(compared, placed(("speed-up", "price ratio", "speed-up ÷ price"))),
            *of(_of_size, placed(("size on disk", "its price"))),
            *(
                [ReportColumn(f"keeps {_rate(required_per_s)}", cell=is_kept)]
                if required_per_s
                else []
            ),
        ),
        [(cell, cell) for cell in priced],
        notes=(
            f"speed-up: by {of_what}, and price ratio: compared with the first measured storage "
            f"that has a price{durability.among_the_same(priced)}; speed-up ÷ price: above 1 the "
            "speed-up is larger than the price ratio, which does not say whether the storage is "
            "fast enough; a GB has 1,000,000,000 bytes",
            *durability.of_divided(priced),
        ),
    )
    if required_per_s:
        answered = [(cell, answer) for cell, (answer, _) in zip(priced, kept, strict=True)]
        lines = tuple(_recommended(answered, required_per_s))
    else:
        lines = ("none is recommended: `--required-rate` says how many transactions/s are needed",)
    return Section("Price", lines, (table,))


def _kept(cell: CellRuns, required_per_s: float) -> tuple[RateKept, str]:
    """Whether the cell keeps that rate, and why it is not decided."""
    runs = [(run.driving, run.measurement) for run in cell_runs.measured_runs(cell)]
    return verdict.rate_kept(runs, cell.judged.verdict, required_per_s)


def _rate(per_s: float) -> str:
    return f"{per_s:.15g}/s"


def _recommended(
    answered: Sequence[tuple[CellRuns, RateKept]], required_per_s: float
) -> Iterator[str]:
    """Of the cells with the same parameters, the one that keeps the rate and whose data cost
    least; where their size is not known, whose storage does."""
    by_parameters: dict[str, list[tuple[CellRuns, RateKept]]] = {}
    for cell, answer in answered:
        named = ", ".join(
            f"{name} {cell_names.level_text(level)}"
            for name, level in cell_names.named_parameters(cell.runs[0].parameters).items()
        )
        by_parameters.setdefault(named, []).append((cell, answer))
    for named, cells in by_parameters.items():
        at = f"{_rate(required_per_s)}{f', {named}' if len(by_parameters) > 1 else ''}"
        keeping = [cell for cell, answer in cells if answer is RateKept.YES]
        if not keeping:
            is_open = any(answer is RateKept.OPEN for _, answer in cells)
            which = "nothing is known to keep it" if is_open else "none keeps it"
            yield f"{at}: none is recommended, {which}"
            continue
        best = min(keeping, key=_costs)
        price, (_, cost) = _price(best), _of_size(best)
        assert price is not None, "it is among those with a price"
        currency = f" {price.currency}" if price.currency else ""
        size = f", its data {cost.shown}{currency}" if cost.number else ""
        found = aggregates.number(best, aggregates.THROUGHPUT)
        assert found is not None, "it keeps a rate"
        yield (
            f"{at}: the cheapest that keeps it is {best.name}: {units.digits(found.value)}/s, "
            f"{price.per_gb:g}{currency}/GB{size}"
        )


def _costs(cell: CellRuns) -> tuple[bool, float]:
    price, (_, cost) = _price(cell), _of_size(cell)
    if cost.number is not None:
        return False, cost.number.value
    return True, price.per_gb if price else 0.0


def _compared(declared: Declaration | None) -> ReportColumn:
    """What speed-ups are of."""
    if declared and declared.has_speed_up and declared.columns == STORAGE:
        return aggregates.KEYS[declared.value]
    return aggregates.THROUGHPUT


def _price(cell: CellRuns) -> StoragePrice | None:
    return cell.runs[0].storage_price


def _cells(
    first: CellRuns | None, cell: CellRuns, key: ReportColumn
) -> tuple[ReportCell, ReportCell, ReportCell]:
    """The speed-up from the first one, their prices divided, and both divided."""
    if first is None or first is cell or aggregates.number(cell, key) is None:
        return absent("first") if first is cell else cell.absent, absent(""), absent("")
    own, base = _price(cell), _price(first)
    assert own is not None and base is not None, "both have a price"
    ratio = own.per_gb / base.per_gb
    runs = (*first.measured, *cell.measured) if key is aggregates.THROUGHPUT else ()
    why = why_not_steady(warning for run in runs for warning in run.warnings)
    both = (aggregates.number(first, key), aggregates.number(cell, key))
    made = None if why else aggregates.speed_up(*both, key)
    if made is None or made.number is None:
        none = absent("-", note=f"no speed-up: {why}" if why else "")
        return none, _shown(ratio, "ratio"), absent("-")
    by_price = aggregates.scaled(made.number, 1 / ratio)
    return made, _shown(ratio, "ratio"), judged(units.digits(by_price.value, 3), by_price)


def _per_gb(cell: CellRuns) -> ReportCell:
    price = _price(cell)
    assert price is not None
    return number_cell(price.per_gb, f"{price.currency}/GB", "{:g}".format)


def _shown(value: float, unit: str) -> ReportCell:
    return number_cell(value, unit, lambda known: units.digits(known, 3))


def _of_size(cell: CellRuns) -> tuple[ReportCell, ReportCell]:
    """The size on disk, and what so much of the storage costs."""
    price, size = _price(cell), aggregates.number(cell, aggregates.SIZE_ON_DISK)
    if size is None or price is None:
        return absent("not known"), absent("")
    cost = size.value / GB * price.per_gb
    return (
        ReportCell(units.size(size.value), replace(size, judged=NONE)),
        _shown(cost, price.currency),
    )


def ratios_section(
    test: str, declared: Declaration | None, cells: Sequence[CellRuns]
) -> Section | None:
    """None where no two storages are compared, or the table of results has their ratios."""
    if declared and (declared.fields or (declared.has_speed_up and declared.columns == STORAGE)):
        return None
    pairs = list(_pairs(cells))
    factors = [name for name in cell_runs.varying(cells, "system", "clients") if name != STORAGE]
    has_range = any(len(cell.runs) > 1 for cell in cells)
    shown = (
        words(STORAGE, lambda pair: pair[1].factors[STORAGE], is_label=True),
        words("divided by", lambda pair: pair[0].factors[STORAGE], is_label=True),
        numbers("TPS ratio", lambda pair: _ratio_to_first(*pair)[0]),
        numbers("min-max", lambda pair: _ratio_to_first(*pair)[1]),
    )
    table = cell_tables.table_by_cell(
        f"{test}_storage_ratios",
        "Throughput of each storage, divided by that of the first",
        (cells, factors),
        shown if has_range else shown[:-1],
        [(pair[1], pair) for pair in pairs],
        notes=(
            f"the first: the storage that was asked for first{durability.among_the_same(cells)}"
            + ("; min-max: the least and greatest that the repetitions allow" if has_range else ""),
            *durability.of_divided([one for pair in pairs for one in pair]),
        ),
    )
    return section_of("Storages compared", table)


def _pairs(cells: Sequence[CellRuns]) -> Iterator[tuple[CellRuns, CellRuns]]:
    """The cell of the first storage, and each other one that differs from it in the storage alone;
    of those that were measured."""
    firsts: dict[object, CellRuns] = {}
    for cell in cells:
        if aggregates.number(cell, aggregates.THROUGHPUT) is None:
            continue
        first = firsts.setdefault(cell.without(STORAGE), cell)
        if first is not cell:
            yield first, cell


def _ratio_to_first(first: CellRuns, other: CellRuns) -> tuple[ReportCell, ReportCell]:
    runs = (*first.measured, *other.measured)
    if why := why_not_steady(warning for run in runs for warning in run.warnings):
        return absent("-", note=f"no ratio: {why}"), absent("")
    made = aggregates.ratio(
        aggregates.number(other, aggregates.THROUGHPUT),
        aggregates.number(first, aggregates.THROUGHPUT),
    )
    if made is None or made.number is None:
        return absent("-"), absent("")
    number = made.number
    shown = replace(made, shown=units.digits(number.value, 3))
    if number.low is None or number.high is None:
        return shown, absent("")
    return shown, ReportCell(f"{units.digits(number.low, 3)}-{units.digits(number.high, 3)}")

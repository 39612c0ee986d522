"""Takes an experiment that is measured until a goal or a precision is reached; returns the
highest rate or level that met the goal with its trials, and how precise each cell is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.comparison import ratios
from assay.contracts.metric import ReportColumn
from assay.experiment import MOST_REPETITIONS, Scalar, SystemPrice
from assay.judge.service_levels import OfferedAndReached
from assay.judge.statistics.samples import half_width_of_mean, is_precise, number_to_be_precise
from assay.plan import cell_names
from assay.plan.cell_names import OFFERED_RATE
from assay.record import ExperimentRecord
from assay.record.runs.records import ENDED
from assay.report import cell_runs
from assay.report.cell_runs import CellRuns
from assay.report.columns import counts, integer, never_null, number, numbers, path, string, words
from assay.report.program_tables import ProgramTable, levels_of
from assay.report.values import ReportCell, Section, count, number_cell, section_of
from assay.text import units
from assay.text.rates import shown

if TYPE_CHECKING:
    from assay.comparison import goals
    from assay.comparison.conditions import Condition
    from assay.comparison.goals import SearchSoFar


MB = 1_000_000
_FOUND = "the level at the limit, or the highest that met the goal where that is not known"


class Searched(NamedTuple):
    """A search, and the cells of its trials."""

    cells: Sequence[CellRuns]
    so_far: SearchSoFar
    name: str
    """Of what was searched: system, storage and clients; empty: there is one search in the test."""
    bytes_per_unit: float | None = None
    """How much data each unit of the parameter makes; None: it is not known, or a rate was
    searched."""

    @property
    def price(self) -> SystemPrice | None:
        """Of the whole system."""
        return self.cells[0].runs[0].system_price

    @property
    def found_bytes(self) -> float | None:
        """The data of what was found: AS3AP's equivalent database size."""
        highest = self.so_far.highest
        if highest is None or self.bytes_per_unit is None:
            return None
        return highest * self.bytes_per_unit

    @property
    def price_per_unit(self) -> float | None:
        """Of each transaction per second, or unit of the parameter, that was found."""
        highest = self.so_far.highest
        return self.price.amount / highest if self.price and highest else None

    @property
    def price_per_mb(self) -> float | None:
        found = self.found_bytes
        return self.price.amount / (found / MB) if self.price and found else None


def asked_goal(experiment: ExperimentRecord) -> Condition | None:
    words = experiment.experiment.goal
    if not words:
        return None
    from assay.comparison import goals

    return goals.goal(words)


def over(experiment: ExperimentRecord) -> str:
    """The parameter that was searched; empty: the offered rate was."""
    return experiment.experiment.goal_over


def _varied(experiment: ExperimentRecord) -> set[str]:
    """The factor that is searched, and what a test may derive from it."""
    searched = over(experiment)
    if not searched:
        return {OFFERED_RATE}
    are_asked = experiment.experiment.clients or experiment.experiment.group_clients
    return {searched} if are_asked else {searched, "clients"}


def searches(experiment: ExperimentRecord, cells: Sequence[CellRuns]) -> list[Searched]:
    """Of the cells of one test."""
    condition = asked_goal(experiment)
    if condition is None:
        return []
    searched, varied = over(experiment), _varied(experiment)
    of_searches: dict[tuple[tuple[str, Scalar], ...], list[CellRuns]] = {}
    for cell in cells:
        others = tuple((name, one) for name, one in cell.factors.items() if name not in varied)
        of_searches.setdefault(others, []).append(cell)
    names = cell_names.cell_names([dict(others) for others in of_searches])
    sizes = experiment.workload.bytes_per_unit
    from assay.comparison import goals

    return [
        Searched(
            each,
            goals.search_so_far(condition, _trials(each, condition, searched)),
            name,
            sizes.get(searched),
        )
        for each, name in zip(of_searches.values(), names, strict=True)
    ]


def _trials(
    cells: Sequence[CellRuns], condition: Condition, searched: str
) -> Iterator[goals.Trial]:
    from assay.comparison import goals

    for cell in cells:
        ended = [run for run in cell.runs if run.state in ENDED]
        if ended:
            yield goals.trial(ended, condition, searched)


def kept_rate(experiment: ExperimentRecord, cell: CellRuns) -> OfferedAndReached | None:
    """Whether the cell kept its offered rate: where rates are searched, it has to meet the goal as
    well. None in a closed loop."""
    rate, condition = ratios.rate_of_runs(cell.measured), asked_goal(experiment)
    if rate is None or not rate.is_kept or condition is None or over(experiment):
        return rate
    from assay.comparison.goals import TrialAnswer

    trials = list(_trials([cell], condition, ""))
    if all(one.answer is TrialAnswer.MET for one in trials):
        return rate
    is_open = any(one.is_disturbed or one.answer is TrialAnswer.TOO_FEW for one in trials)
    return rate._replace(is_kept=False, goal="not decided" if is_open else "missed")


def goal_line(experiment: ExperimentRecord) -> str:
    """``p99 < 5ms: met up to 1620/s (p99 latency 4.1 ms), not at 1690/s (…)``; empty: no goal."""
    condition = asked_goal(experiment)
    if condition is None:
        return ""
    found = of_all_tests(experiment)
    several_tests = len({test for test, _ in found}) > 1
    said = []
    for test, one in found:
        named = f"{test}: {one.name}" if several_tests else one.name
        said.append(one.so_far.words if len(found) == 1 else f"{named}: {one.so_far.words}")
    return f"{condition.text}: {'; '.join(said)}"


def of_all_tests(experiment: ExperimentRecord) -> list[tuple[str, Searched]]:
    """Each search, with its test."""
    if asked_goal(experiment) is None:
        return []
    return [
        (test, one)
        for test, runs in cell_runs.tests(experiment).items()
        for one in searches(experiment, cell_runs.cells(experiment, runs))
    ]


def _decided(read: Callable[[SearchSoFar], Any]) -> Callable[[Searched], Any]:
    """None where the search decides nothing."""
    return lambda source: None if source.so_far.not_decided else read(source.so_far)


def _rate(trial: goals.Trial | None) -> float | None:
    return None if trial is None or trial.over else trial.level


def _level(trial: goals.Trial | None) -> float | None:
    return trial.level if trial is not None and trial.over else None


def _shown_rate(per_s: float | None) -> ReportCell:
    return number_cell(per_s, "per_s", shown)


def _shown_level(level: float | None) -> ReportCell:
    return number_cell(level, "count", "{:.15g}".format)


def _amount(unit: str, of: float = 1.0) -> Callable[[float | None], ReportCell]:
    return lambda value: number_cell(value, unit, lambda known: units.digits(known / of, 3))


GOALS = ProgramTable(
    "One row per search for the highest offered rate that meets a goal (`--goal`).",
    [
        never_null("goal", "string", "condition", path("so_far", "condition", "text")),
        number(
            "met_at_per_s",
            "highest offered rate that met it; null: none did, or a parameter was searched",
            _decided(lambda search: _rate(search.met)),
            title="met at /s", show=_shown_rate,
        ),
        number(
            "not_met_at_per_s",
            "lowest offered rate that did not, or could not be judged; null: every one that was "
            "tried met it, or a parameter was searched",
            _decided(lambda search: _rate(search.missed)),
            title="not at /s", show=_shown_rate,
        ),
        number(
            "met_at",
            "highest level of the parameter that met it (`--goal-over`)",
            _decided(lambda search: _level(search.met)),
            title="met at", show=_shown_level,
        ),
        number(
            "not_met_at",
            "lowest level of the parameter that did not, or could not be judged",
            _decided(lambda search: _level(search.missed)),
            title="not at", show=_shown_level,
        ),
        number(
            "at_limit",
            "level of the parameter at which the metric would be at the limit, between the two, if "
            "it is a power of the level",
            _decided(
                lambda search: search.at_limit if search.missed and search.missed.over else None
            ),
        ),
        number(
            "found_bytes",
            "data at the limit, else at the highest level that met it, as the workload counts "
            "them; null: it does not say, or a rate was searched",
            title="size", shown_in="MB", show=_amount("bytes", MB),
        ),
        number(
            "price_per_unit",
            "of the whole system, divided by what was found: transactions per second, or units of "
            "the parameter; null: no price was given (`--price`), or nothing was found",
        ),
        number(
            "price_per_mb", "of the whole system, for each 1,000,000 bytes of `found_bytes`"
        ),
        string(
            "why_not_met", "why not, at that rate",
            _decided(lambda search: search.missed.reason if search.missed else None),
        ),
        string(
            "not_decided",
            "why the search decides nothing, so that the levels above are null; null: it decides",
            path("so_far", "not_decided"),
        ),
        number(
            "other_programs",
            "share of the CPUs that other programs used at a level that decides, where that leaves "
            "it open",
            path("so_far", "others"),
        ),
        integer(
            "met_runs", "runs at the highest level that met it, all of which did",
            _decided(lambda search: search.met.counted if search.met else None),
        ),
        integer(
            "not_met_runs", "runs at the lowest level that did not, none of which did",
            _decided(lambda search: search.missed.counted if search.missed else None),
        ),
        never_null(
            "trials", "integer", "rates that were tried", lambda source: len(source.so_far.trials),
            title="trials", show=count,
        ),
        never_null(
            "found", "string", "the same in words", path("so_far", "words"), title="found"
        ),
    ],
    lambda experiment: (one for _, one in of_all_tests(experiment)),
    levels=lambda source: levels_of(source.cells[0].runs[0]) | {OFFERED_RATE: None},
    has_factors=True,
)  # fmt: skip


def section(experiment: ExperimentRecord, test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where nothing was searched."""
    found = searches(experiment, cells)
    condition = asked_goal(experiment)
    if condition is None or not found:
        return None
    searched, varied = over(experiment), _varied(experiment)
    factors = [name for name in cell_runs.varying(cells, "system", "clients") if name not in varied]
    bracket = ("met_at", "not_met_at") if searched else ("met_at_per_s", "not_met_at_per_s")
    beside = _at_limit(found) if searched else []
    notes = [
        "the highest lies between the two; a trial meets the goal if "
        + (
            "the run in the middle was valid"
            if searched
            else "all its runs kept the offered rate, were steady"
        )
        + " and met the condition"
    ]
    if beside:
        notes.append(
            "at the limit: where the metric would be there, between the two, if it is a power of "
            "the level; ratio: to the first one"
        )
    costs, of_costs = _costs(found, searched)
    from assay.report import cell_tables

    table = cell_tables.table_by_cell(
        f"{test}_goal",
        f"The highest {searched or 'offered rate'} with {condition.text}",
        (cells, factors),
        (*GOALS.named(*bracket, "trials"), *beside, *costs, *GOALS.named("found")),
        [(one.cells[0], one) for one in found],
        notes=(*notes, *of_costs),
    )
    return section_of("Goal", table)


def _at_limit(searched: Sequence[Searched]) -> list[ReportColumn]:
    """Each size, and its ratio to the first of them: AS3AP's equivalent database ratio. None where
    no search has one."""
    first = searched[0].so_far.at_limit
    if not any(one.so_far.at_limit for one in searched):
        return []

    def size(source: Searched) -> ReportCell:
        return _amount("count")(source.so_far.at_limit)

    def ratio(source: Searched) -> ReportCell:
        at = source.so_far.at_limit
        return number_cell(at / first if at is not None and first else None, "ratio", units.ratio)

    return [numbers("at the limit", size), numbers("ratio", ratio)]


def _costs(results: Sequence[Searched], searched: str) -> tuple[list[ReportColumn], list[str]]:
    """The size of the data that each search found, where the workload says how large a unit of the
    parameter is; where the system has a price, this and what it is for each MB, unit of the
    parameter or transaction per second. With notes."""
    columns: list[ReportColumn] = []
    notes = []
    of_each = results[0].bytes_per_unit
    if of_each is not None:
        columns += GOALS.named("found_bytes")
        notes.append(
            f"size: of the data at the limit, and of the highest level that met the goal where "
            f"that is not known: {of_each:.15g} bytes for each of {searched}, as the workload "
            "counts them; a MB has 1,000,000 bytes"
        )
    priced = [one.price for one in results if one.price]
    if not priced:
        return columns, notes
    currency, unit = priced[0].currency, "MB" if of_each is not None else searched or "TPS"
    of_unit = attrgetter("price_per_mb" if of_each is not None else "price_per_unit")
    shown_price = _amount(currency)
    columns += [
        numbers(
            "price", lambda source: shown_price(source.price and source.price.amount), currency
        ),
        numbers(f"price/{unit}", lambda source: shown_price(of_unit(source)), currency),
    ]
    notes.append(
        f"price/{unit}: that of the whole system, as it was given, divided by "
        + ("the size" if of_each is not None else _FOUND if searched else "the rate met")
    )
    return columns, notes


PRECISION_REACHED = "precise enough"
PRECISION_BUDGET = "budget ended"
_NOT_ENDED = "not ended"
_PRECISION_NOT_MEASURED = "a run was not measured"


class CellPrecision(NamedTuple):
    repetitions: int
    """Measured."""
    half_width: float | None
    """Half the width of the interval of the mean, as a share of it; None: not known."""
    ended_by: str
    """Empty: the number of repetitions was given."""


def asked_precision(experiment: ExperimentRecord) -> float | None:
    """The precision that was asked for; None: none."""
    return experiment.experiment.precision


def is_repeated_as_needed(experiment: ExperimentRecord) -> bool:
    return experiment.experiment.is_repeated_as_needed


def precision_of_cell(experiment: ExperimentRecord, cell: CellRuns) -> CellPrecision:
    numbers = [number_to_be_precise(run) for run in cell.runs]
    known = [number for number in numbers if number is not None]
    why = ""
    if is_repeated_as_needed(experiment):
        why = _why_not_precise(experiment, numbers, known, is_begun=bool(cell.measured))
    return CellPrecision(len(known), half_width_of_mean(known), why)


def _why_not_precise(
    experiment: ExperimentRecord,
    numbers: Sequence[float | None],
    known: Sequence[float],
    *,
    is_begun: bool,
) -> str:
    precision = asked_precision(experiment)
    if precision is not None and is_precise(known, precision):
        return PRECISION_REACHED
    if experiment.is_unfinished:
        return _NOT_ENDED
    if not is_begun or len(known) < len(numbers):
        return _PRECISION_NOT_MEASURED
    if len(numbers) >= max(MOST_REPETITIONS, experiment.experiment.repetitions):
        return "most repetitions"
    return PRECISION_BUDGET


def precision_line(experiment: ExperimentRecord) -> str:
    """``±5 % asked: 3 to 12 repetitions; precise enough: 3 of 4; budget ended: 1 of 4; ±1 % to
    ±7 %``; empty where neither a precision nor a budget was asked for."""
    if not is_repeated_as_needed(experiment):
        return ""
    found = [
        precision_of_cell(experiment, cell)
        for runs in cell_runs.tests(experiment).values()
        for cell in cell_runs.cells(experiment, runs)
    ]
    numbers = sorted({one.repetitions for one in found})
    most = max(numbers, default=0)
    times = units.counted(most, "repetition")
    if len(numbers) > 1:
        times = f"{numbers[0]} to {times}"
    ends: dict[str, int] = {}
    for one in found:
        ends[one.ended_by] = ends.get(one.ended_by, 0) + 1
    said = [f"{why}: {number} of {len(found)}" for why, number in ends.items()]
    widths = [one.half_width for one in found if one.half_width is not None]
    if widths:
        least, widest = (units.percent(width) for width in (min(widths), max(widths)))
        said.append(f"±{least}" if least == widest else f"±{least} to ±{widest}")
    wanted = asked_precision(experiment)
    first = f"±{units.percent(wanted)} asked: " if wanted is not None else ""
    return f"{first}{times}; {'; '.join(said)}"


def precision_section(
    experiment: ExperimentRecord, test: str, cells: Sequence[CellRuns]
) -> Section | None:
    """None where the number of repetitions was given."""
    if not is_repeated_as_needed(experiment):
        return None
    from assay.report import cell_tables

    table = cell_tables.table_by_cell(
        f"{test}_precision",
        "How precisely the mean of each cell is known, and why it was not repeated further",
        (cells, cell_runs.varying(cells, "system", "clients")),
        (
            counts("repetitions", path("repetitions")),
            numbers("±", lambda source: _share(source.half_width)),
            numbers("asked", lambda _: _share(asked_precision(experiment))),
            words("ended", path("ended_by")),
        ),
        [(cell, precision_of_cell(experiment, cell)) for cell in cells],
        notes=(
            "±: half the width of the 95 % interval of the mean of the repetitions (Student's t), "
            "of the throughput (in an open loop of the mean latency), or of the elapsed time where "
            "there is none",
        ),
    )
    return section_of("Precision", table)


def _share(value: float | None) -> ReportCell:
    return number_cell(value, "ratio", units.percent)

"""Takes the cells of a test; returns the rate by which the test is known, whether its
transactions kept their response limits, and whether every client was served."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from assay.contracts.metric import ReportColumn
from assay.judge import service_levels
from assay.judge.service_levels import JudgedLimit
from assay.judge.statistics import samples
from assay.judge.statistics.samples import UNREACHED, median_and_spread
from assay.record import Run
from assay.report import cell_runs, cell_tables
from assay.report.cell_runs import CellRuns
from assay.report.columns import (
    counts,
    integer,
    number,
    numbers,
    of,
    path,
    run_column,
    string,
    words,
)
from assay.report.declared import aggregates
from assay.report.program_tables import ProgramTable, RunPart, of_part, parts
from assay.report.values import (
    ReportCell,
    ReportTable,
    Section,
    absent,
    number_cell,
    seconds,
    section_of,
)
from assay.text import units


def title(cells: Sequence[CellRuns]) -> str:
    """``new orders per minute``; empty: the test declares none."""
    counted = _counted(cells)
    return f"{counted} per minute" if counted else ""


def _counted(cells: Sequence[CellRuns]) -> str:
    """``new orders``; empty: the test declares none."""
    declared = (run.measurement.headline for _, run in cell_runs.driven_runs(cells))
    return next((headline.title for headline in declared if headline), "")


def shown(cell: CellRuns) -> str:
    """``1234 new orders per minute, median of 3 repetitions (1200-1250)``; empty: none."""
    made = aggregates.number(cell, aggregates.HEADLINE)
    if made is None:
        return ""
    said = f"{units.digits(made.value)} {title([cell])}"
    if made.n != 1 and made.low is not None and made.high is not None:
        around = f"{units.digits(made.low)}-{units.digits(made.high)}"
        said += f", median of {made.n} repetitions ({around})"
    left_out = cell_runs.without_lost_in_words(cell_runs.measured_runs(cell))
    return f"{said} ({left_out})" if left_out else said


def column(cell: CellRuns) -> tuple[str, str] | None:
    """``("new orders/min", "1234")``; None: the test declares none."""
    if not (counted := _counted([cell])):
        return None
    made = aggregates.number(cell, aggregates.HEADLINE)
    return f"{counted}/min", units.digits(made.value) if made else "-"


def limits_in_words(cell: CellRuns) -> str:
    """``5 of 5 met``; ``4 of 5 met; 1 missed: new-order p90 6.1 s (limit 5s)``; empty: none are
    declared."""
    words: list[str] = []
    said: dict[str, list[str]] = {}
    for found in _by_limit(cell):
        words.append(word := service_levels.worst_limit(found))
        first = next(one for one in found if one.word == word)
        if word != service_levels.MET:
            said.setdefault(word, []).append(first.said)
    if not words:
        return ""
    met = f"{words.count(service_levels.MET)} of {len(words)} met"
    return "; ".join(
        [met, *(f"{len(each)} {word}: {', '.join(each)}" for word, each in said.items())]
    )


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where the test declares neither."""
    heading = title(cells) or "response limits"
    return section_of(heading[0].upper() + heading[1:], _rates(test, cells), _limits(test, cells))


def _rates(test: str, cells: Sequence[CellRuns]) -> ReportTable | None:
    if not (heading := title(cells)):
        return None
    has_range = any(len(cell.runs) > 1 for cell in cells)

    return cell_tables.table_by_cell(
        f"{test}_headline",
        heading[0].upper() + heading[1:],
        (cells, cell_runs.varying(cells, "system", "clients")),
        (
            numbers("per min", aggregates.median(aggregates.HEADLINE)),
            *([numbers("min-max", aggregates.full_range(aggregates.HEADLINE))] * has_range),
            counts("counted", lambda cell: _counts(cell)[0]),
            counts("rolled back", lambda cell: _counts(cell)[1]),
        ),
        [(cell, cell) for cell in cells],
        notes=(
            "counted: transactions of all repetitions that committed, or were rolled back as the "
            "workload asked; rolled back: of them",
            *cell_runs.without_lost(run for cell in cells for run in cell_runs.measured_runs(cell)),
        ),
    )


def _counts(cell: CellRuns) -> tuple[int, int]:
    counted = rolled_back = 0
    for run in cell_runs.measured_runs(cell):
        types = run.measurement.headline.transactions if run.measurement.headline else ()
        named = [one for one in run.measurement.outcomes_by_transaction if one.name in types]
        counted += sum(one.completed for one in named)
        rolled_back += sum(one.aborted for one in named)
    return counted, rolled_back


RESPONSE_LIMITS = ProgramTable(
    "One row per run and response limit that its test declares.",
    of_part(
        [
            *of(
                path("limit"),
                [
                    string("transaction", "type", title="transaction", is_label=True),
                    string("percentile", "p50, p90 …", title="percentile"),
                    integer(
                        "limit_ns", "below which it must be", title="limit", shown_in="s",
                        show=lambda limit: number_cell(limit, "ns", lambda ns: units.time(ns, "s")),
                    ),
                ],
            ),
            number(
                "found_ns",
                "the percentile, transactions that were rolled back as the workload asked "
                "included; null: too few, or not reached",
                lambda judged: None if judged.found_ns == UNREACHED else judged.found_ns,
            ),
            integer("samples", "transactions that it is of"),
            string(
                "judgement", "met, missed, not judged (too few samples)", path("word")
            ),
        ]
    ),
    parts(lambda run: service_levels.judged_limits(run.driven) if run.driven else ()),
)  # fmt: skip


def _limits(test: str, cells: Sequence[CellRuns]) -> ReportTable:
    found = [(cell, limits) for cell in cells for limits in _by_limit(cell)]
    return cell_tables.table_by_cell(
        f"{test}_response_limits",
        "Response limits",
        (cells, cell_runs.varying(cells, "system", "clients")),
        (
            *of(
                lambda limits: RunPart(cells[0].runs[0], limits[0]),
                RESPONSE_LIMITS.named("transaction", "percentile", "limit_ns"),
            ),
            numbers("found", _found),
            counts("samples", lambda limits: sum(one.samples for one in limits)),
            words("limit is", service_levels.worst_limit),
        ),
        found,
        notes=(
            "found: median of the repetitions, transactions that were rolled back as the workload "
            "asked included; a limit is met where each repetition met it",
        ),
    )


def _found(limits: Sequence[JudgedLimit]) -> ReportCell:
    times = [one.found_ns for one in limits]
    known = [time for time in times if time is not None and time != UNREACHED]
    if len(known) == len(times):
        return number_cell(median_and_spread(known).median, "ns", units.latency, n=len(known))
    if UNREACHED in times:
        return absent(samples.NOT_REACHED)
    return absent(f"n<{samples.needed_for(limits[0].limit.percentile)}")


def _by_limit(cell: CellRuns) -> list[tuple[JudgedLimit, ...]]:
    """Of each limit, the repetitions."""
    of_runs = [
        tuple(service_levels.judged_limits(run.measurement))
        for run in cell_runs.measured_runs(cell)
    ]
    return list(zip(*of_runs, strict=True))


def service_section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no clients were driven."""
    runs = list(cell_runs.driven_runs(cells))
    carried_over = counts("carried over", path("driven", "carried_over", "count"))
    has_carried = any(run.measurement.carried_over.count for _, run in runs)
    table = cell_tables.table_by_cell(
        f"{test}_service",
        "Transactions per client, and in flight at the end",
        (cells, cell_runs.varying(cells, "system", "clients")),
        (
            counts("rep.", path("repetition"), is_label=True),
            *(
                counts(name, path("driven", "transactions_per_client", name))
                for name in ("least", "median", "most")
            ),
            counts("in flight", path("driven", "in_flight", "count")),
            numbers("oldest", _oldest, "s"),
            *([carried_over] if has_carried else []),
            _clients("at work", "clients"),
            _clients("by Little's law", "clients_by_law"),
        ),
        runs,
        run=lambda run: run,
        before=[run_column(attrgetter("id"))],
        is_detail=not any(service_levels.is_unequal(run.measurement) for _, run in runs),
        notes=(
            "least, median, most: measured transactions that ended, by client; in flight: still "
            "running when the last transaction had begun; oldest: for how long",
            *(
                ["carried over: had begun in the warm-up, and are in no other figure"]
                if has_carried
                else []
            ),
            "at work: clients, on average; by Little's law: clients = throughput x (latency "
            "+ pause), the same number if no transaction is missing",
        ),
    )
    return section_of("Service of each client", table)


def _oldest(run: Run) -> ReportCell:
    in_flight = run.measurement.in_flight
    return seconds(in_flight.oldest_ns) if in_flight.count else absent("")


def _clients(title: str, name: str) -> ReportColumn:
    def shown(run: Run) -> ReportCell:
        if (law := run.measurement.littles_law) is None:
            return absent(_why_no_law(run))
        return number_cell(getattr(law, name), "ratio", "{:.2f}".format)

    return numbers(title, shown)


def _why_no_law(run: Run) -> str:
    is_open = run.driving.offered_rate_per_s
    return "open loop" if is_open else "nothing measured"

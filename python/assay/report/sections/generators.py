"""Takes the cells of a test; returns what each load generator, or each process of a system's own
client program, did and used: its load, its clock, and which were lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from assay.contracts.factors import CLIENT_PROGRAM
from assay.contracts.metric import unit_of
from assay.contracts.observation import GeneratorReport, NativeClientsReport
from assay.contracts.observation.clients import BOUND_NOT_KNOWN
from assay.experiment import NATIVE
from assay.record import Run
from assay.report import cell_runs, columns
from assay.report.cell_runs import CellRuns
from assay.report.cell_tables import pivot_table, value_column
from assay.report.columns import counts, numbers, of, run_column, words
from assay.report.declared import aggregates
from assay.report.values import ReportCell, ReportTable, Section, absent, count, section_of, text
from assay.text import units

_NOTES = (
    "busy: share of the generator's threads; waited: share of their time without a processor; lag: "
    "how late transactions of an open loop were begun, 99th percentile; load: of the machine, in "
    "the last minute; clock: how well its offset is known",
    "ok and unknown of a lost generator: what it had reported, and the most that it may have done "
    "since; the outcomes and the TPS of the run have them, times, seconds, and numbers of several "
    "types or groups do not",
)


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where one process drove the clients."""
    return section_of("Load generators", _table(test, _runs(cells)))


class _Generator(NamedTuple):
    """The source of a row."""

    run: Run
    number: int
    of: GeneratorReport


def _table(test: str, shown: Iterable[tuple[Run, Sequence[GeneratorReport]]]) -> ReportTable:
    generator = words(
        "generator", lambda source: f"{source.number}: {source.of.machine}", is_label=True
    )
    return columns.table(
        f"{test}_generators",
        "Each load generator, in one measurement of each cell, and in all with losses",
        (run_column(attrgetter("run.id")), generator, *of(attrgetter("of"), _COLUMNS)),
        (
            _Generator(run, number, one)
            for run, generators in shown
            for number, one in enumerate(generators, 1)
        ),
        notes=_NOTES,
    )


def _runs(cells: Sequence[CellRuns]) -> list[tuple[Run, Sequence[GeneratorReport]]]:
    middle = [run.id for _, run in cell_runs.middle_runs(cells)]
    return [
        (run, driven.generators)
        for cell in cells
        for run in cell.runs
        if (driven := run.driven) is not None and driven.generators
        if run.id in middle or driven.lost_generators
    ]


def _unknown(generator: GeneratorReport) -> ReportCell:
    return count(generator.unknown) if generator.is_bound_known else text(BOUND_NOT_KNOWN)


def _share(share: float | None) -> ReportCell:
    return absent("") if share is None else text(units.share(share))


def _duration(value_ns: float | None, sign: str = "") -> ReportCell:
    return text(f"{sign}{units.short_duration(value_ns / 1e9)}") if value_ns else absent("")


def _load(generator: GeneratorReport) -> ReportCell:
    load = generator.load_1min
    return absent("") if load is None else text(f"{load:.1f}")


def _lost(generator: GeneratorReport) -> str:
    after_s = generator.lost_after_s
    return "" if after_s is None else f"after {after_s:.0f} s"


_COLUMNS = (
    counts("clients", attrgetter("clients")),
    counts("ok", attrgetter("ok")),
    counts("failed", attrgetter("failed")),
    numbers("unknown", _unknown),
    numbers("busy", lambda source: _share(source.cpu_share)),
    numbers("waited", lambda source: _share(source.waited_share)),
    numbers("lag", lambda source: _duration(source.lag_p99_ns)),
    numbers("load", _load),
    numbers("clock", lambda source: _duration(source.clock_uncertainty_ns, "±")),
    words("lost", _lost),
)


_FIELDS = {
    "median client": "median_ns",
    "rows": "rows",
    "threads": "threads",
    "virtual": "virtual_bytes",
    "resident": "resident_bytes",
    "CPU, all": "cpu_ns",
}
"""Title → path in the observation."""


def native_clients_section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where no clients were native."""
    native = [cell for cell in cells if cell.level(CLIENT_PROGRAM.name) == NATIVE and cell.measured]
    labels = cell_runs.varying(native, "system", "clients")
    columns = [
        value_column("program", _program),
        *(
            value_column(
                title,
                aggregates.median(aggregates.at(path)),
                unit="s" if unit_of(path) == "ns" else "",
            )
            for title, path in _FIELDS.items()
        ),
    ]
    table = pivot_table(
        f"{test}_native_clients",
        "Processes of the system's own client program",
        native,
        labels,
        columns,
        (
            *_versions(native),
            "rows: that each process wrote; threads, virtual, resident: the most of any process; "
            "CPU, all: CPU time of all processes together",
        ),
    )
    return section_of("Native clients", table)


def _reports(cell: CellRuns) -> list[NativeClientsReport]:
    found = (run.observation for run in cell.measured)
    return [one for one in found if isinstance(one, NativeClientsReport)]


def _program(cell: CellRuns) -> ReportCell:
    return next((text(one.program) for one in _reports(cell)), cell.absent)


def _versions(native: Sequence[CellRuns]) -> Iterator[str]:
    """Of each program once, as it says it."""
    said = (one for cell in native for one in _reports(cell) if one.program_version)
    for program, version in dict.fromkeys((one.program, one.program_version) for one in said):
        yield f"{program}: {version}"

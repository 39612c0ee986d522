"""Takes the cells of a test; returns what each group of clients did at each of several servers
(their roles, counts and latencies), and how stale the replicas were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

from assay.contracts.metric import ReportColumn
from assay.contracts.observation import EndpointReport, Resolution, StalenessReport
from assay.judge.statistics import samples
from assay.record import Run
from assay.record.metrics import clients
from assay.report import cell_runs, cell_tables
from assay.report.cell_runs import CellRuns, middle_runs
from assay.report.columns import (
    integer,
    never_null,
    number,
    of,
    path,
    string,
    times,
    why_null,
    words,
)
from assay.report.program_tables import RUN, ProgramTable, of_runs
from assay.report.values import (
    ReportCell,
    ReportTable,
    Section,
    number_cell,
    rate,
    section_of,
    text,
)
from assay.text import units

_PERCENTILES = ("p50", "p99")
_STALENESS = (
    "from the primary's answer that a number was written, ten times a second, to the replica's "
    "answer that has it; numbers that were not read count with the time until the end"
)


class ServerUsed(NamedTuple):
    """What a group of clients did at a server; the source of a row."""

    run: Run
    group: str
    endpoint: EndpointReport
    resolution: Resolution

    @property
    def role(self) -> str:
        """As the server said it; empty: all of them are alike."""
        members = self.run.deployment.members if self.run.deployment is not None else ()
        return next((one.role.name for one in members if one.name == self.endpoint.name), "")

    @property
    def first_error(self) -> str:
        first = min(self.endpoint.errors, key=attrgetter("first_at_ns"), default=None)
        return "" if first is None else f"{first.class_} after {first.first_at_ns / 1e9:.1f} s"


class StaleReplica(NamedTuple):
    """The source of a row."""

    run: Run
    replica: StalenessReport


def _in_ms(value_ns: int | None, why_none: str = "") -> ReportCell:
    return number_cell(value_ns, "ns", lambda ns: units.digits(ns / 1e6), why_none)


def _age(name: str, meaning: str) -> ReportColumn:
    return integer(
        f"age_{name}_ns",
        meaning,
        lambda replica: clients.staleness_percentile(replica, name),
        title=name,
        shown_in="ms",
        show=lambda value_ns: _in_ms(value_ns, f"n<{samples.needed_for(name)}"),
    )


def _lost(after_s: float | None) -> ReportCell:
    return text("" if after_s is None else f"after {after_s:.1f} s")


def _servers(run: Run) -> Iterator[ServerUsed]:
    """Empty where it had one."""
    if (driven := run.driven) is not None:
        for group in driven.groups:
            for endpoint in group.endpoints:
                yield ServerUsed(run, group.name, endpoint, driven.resolution)


def _replicas(run: Run) -> Iterator[StaleReplica]:
    for replica in run.driven.staleness if run.driven else ():
        yield StaleReplica(run, replica)


SERVERS = ProgramTable(
    "One row per run, group and server, where a run had several.",
    [
        RUN,
        never_null(
            "group", "string", "of clients; empty: the only one", title="group", is_label=True
        ),
        never_null(
            "server", "string", "HOST:PORT, or its socket", path("endpoint", "name"),
            title="server", is_label=True,
        ),
        string("role", "as it said itself; null: all are alike", title="role"),
        *of(
            path("endpoint"),
            [
                integer("clients", "that used it", title="clients"),
                number(
                    "throughput_per_s", "ok, by the time of the group", title="TPS", show=rate
                ),
                integer("ok", "transactions, succeeded", title="ok"),
                integer("aborted", "rolled back as the workload asked", title="aborted"),
                integer("failed", "ended with an error", title="failed"),
                integer("unknown", "may have committed, or not", title="unknown"),
                integer("late", "ended beyond the latency limit"),
                integer("retries", "further attempts"),
                *of(path("all_ok"), times("latency", "latency", "latency")),
                why_null(path("all_ok", "latency")),
            ],
        ),
    ],
    of_runs(_servers),
    is_detail=True,
)  # fmt: skip
STALENESS = ProgramTable(
    "One row per run and replica of which it was measured.",
    [
        RUN,
        *of(
            path("replica"),
            [
                never_null(
                    "server", "string", "HOST:PORT of the replica", path("name"),
                    title="replica", is_label=True,
                ),
                integer("numbers", "written to the primary in the measurement", title="numbers"),
                integer(
                    "not_read", "of them, not read by the end: they count with their age then",
                    title="not read",
                ),
                _age("p50", "until a number was read; null: too few"),
                _age("p99", "the same"),
                integer(
                    "age_max_ns", "the same", path("max_ns"), title="max", shown_in="ms",
                    show=_in_ms,
                ),
                integer(
                    "resolution_ns", "how much too high an age may be, 99th percentile",
                    title="resolution", shown_in="ms", show=_in_ms,
                ),
                number(
                    "lost_after_s", "when it stopped answering; null: it did not",
                    title="lost", is_number=False, show=_lost,
                ),
            ],
        ),
    ],
    of_runs(_replicas),
    is_detail=True,
)  # fmt: skip


def section(test: str, cells: Sequence[CellRuns]) -> Section | None:
    """None where every run had one endpoint."""
    tables = (_servers_table(test, cells), _staleness_table(test, cells))
    return section_of("Servers", *tables, lines=_why_no_staleness(cells))


def _servers_table(test: str, cells: Sequence[CellRuns]) -> ReportTable:
    used = [(cell, one) for cell, run in middle_runs(cells) for one in _servers(run)]
    has_groups = any(one.group for _, one in used)
    first = ("group", "server", "role", "clients", "throughput_per_s")[not has_groups :]
    return cell_tables.table_by_cell(
        f"{test}_endpoints",
        "Each server that clients used, in one measurement",
        (cells, cell_runs.varying(cells, "system")),
        (
            *SERVERS.named(*first),
            *cell_tables.percentile_columns(
                _PERCENTILES,
                [one for _, one in used],
                lambda source: (source.endpoint.all_ok.latency, source.resolution),
            ),
            *SERVERS.named("ok", "aborted", "failed", "unknown"),
            words("first error", path("first_error")),
        ),
        used,
        notes=cell_runs.of_middle(cells),
    )


def _staleness_table(test: str, cells: Sequence[CellRuns]) -> ReportTable:
    stale = [(cell, one) for cell, run in middle_runs(cells) for one in _replicas(run)]
    shown = STALENESS.named(
        "server", "numbers", "age_p50_ns", "age_p99_ns", "age_max_ns", "resolution_ns",
        "not_read", "lost_after_s",
    )  # fmt: skip
    return cell_tables.table_by_cell(
        f"{test}_staleness",
        "How stale each replica was, in one measurement",
        (cells, cell_runs.varying(cells, "system")),
        shown,
        stale,
        notes=(_STALENESS, *cell_runs.of_middle(cells)),
    )


def _why_no_staleness(cells: Sequence[CellRuns]) -> tuple[str, ...]:
    found = (run.measurement.why_no_staleness for _, run in cell_runs.middle_runs(cells))
    return tuple(
        f"How stale the replicas were is not measured: {why}."
        for why in dict.fromkeys(found)
        if why
    )

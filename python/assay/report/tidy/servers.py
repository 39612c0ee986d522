"""The columns of the tidy tables of a cluster's servers: what clients did at each, and how stale
its replicas were."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from assay.contracts.observation import EndpointReport, StalenessReport
from assay.record import RunRecord
from assay.record.metrics import replicas
from assay.report.tidy.columns import TidyColumn, never_null, of, path, times, why_null


class ServerRow(NamedTuple):
    run: RunRecord
    group: str
    endpoint: EndpointReport

    @property
    def role(self) -> str:
        """As it said itself; empty: all of them are alike."""
        members = self.run.deployment.members if self.run.deployment is not None else ()
        return next((one.role.name for one in members if one.name == self.endpoint.name), "")


class StaleRow(NamedTuple):
    run: RunRecord
    replica: StalenessReport


def servers(run: RunRecord) -> Iterator[ServerRow]:
    """Empty where a run had one."""
    for group in run.driven.groups if run.driven else ():
        for endpoint in group.endpoints:
            yield ServerRow(run, group.name, endpoint)


def stale(run: RunRecord) -> Iterator[StaleRow]:
    for replica in run.driven.staleness if run.driven else ():
        yield StaleRow(run, replica)


def _number(name: str, meaning: str) -> TidyColumn:
    return TidyColumn(name, "integer", meaning, path(name))


_RUN = never_null("run", "integer", "its number", lambda row: row.run.id)
SERVERS = [
    _RUN,
    never_null("group", "string", "of clients; empty: the only one", path("group")),
    never_null("server", "string", "HOST:PORT, or its socket", path("endpoint", "name")),
    TidyColumn("role", "string", "as it said itself; null: all are alike", path("role")),
    *of(
        path("endpoint"),
        [
            _number("clients", "that used it"),
            TidyColumn(
                "throughput_per_s", "number", "ok, by the time of the group",
                path("throughput_per_s"),
            ),
            _number("ok", "transactions, succeeded"),
            _number("aborted", "rolled back as the workload asked"),
            _number("failed", "ended with an error"),
            _number("unknown", "may have committed, or not"),
            _number("late", "ended beyond the latency limit"),
            _number("retries", "further attempts"),
            *of(path("all_ok"), times("latency", "latency", "latency")),
            why_null(path("all_ok", "latency")),
        ],
    ),
]  # fmt: skip
STALENESS = [
    _RUN,
    *of(
        path("replica"),
        [
            never_null("server", "string", "HOST:PORT of the replica", path("name")),
            _number("numbers", "written to the primary in the measurement"),
            _number("not_read", "of them, not read by the end: they count with their age then"),
            TidyColumn(
                "age_p50_ns", "integer", "until a number was read; null: too few",
                lambda replica: replicas.percentile(replica, "p50"),
            ),
            TidyColumn(
                "age_p99_ns", "integer", "the same",
                lambda replica: replicas.percentile(replica, "p99"),
            ),
            TidyColumn("age_max_ns", "integer", "the same", path("max_ns")),
            _number("resolution_ns", "how much too high an age may be, 99th percentile"),
            TidyColumn(
                "lost_after_s", "number", "when it stopped answering; null: it did not",
                path("lost_after_s"),
            ),
        ],
    ),
]  # fmt: skip

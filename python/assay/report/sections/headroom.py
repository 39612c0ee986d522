"""Takes runs; returns their statement rates as shares of the calibrated ceiling, and the share
of the processors that the client used.

The ceiling was reached with a server that does nothing but answer, on the same processors: it has
part of them. The client's own share of the processors has no server in it."""

from __future__ import annotations

from collections.abc import Iterable

from assay.judge.evidence import headroom
from assay.judge.warnings import machine_load
from assay.record import RunRecord
from assay.report.values import Number, ReportCell, ReportColumn, ReportTable, Row, absent, text
from assay.text import units


def table(runs: Iterable[RunRecord]) -> ReportTable | None:
    """Each system and number of clients with its fastest run and its ceiling. None where no run has
    a client that could be calibrated."""
    fastest: dict[tuple[str, int], RunRecord] = {}
    for run in runs:
        rate = headroom.statements_per_s(run.evidence)
        if rate is not None:
            key = (run.system_on_machine, run.clients)
            known = fastest.get(key)
            if known is None or rate > (headroom.statements_per_s(known.evidence) or 0):
                fastest[key] = run
    if not fastest:
        return None
    columns = [ReportColumn("system"), ReportColumn("clients", is_number=True)]
    columns += [
        ReportColumn(title, is_number=True)
        for title in ("statements/s", "ceiling", "share of it", "client's share of the CPUs")
    ]
    rows = [
        Row((text(label), ReportCell(str(clients), Number(clients, "count")), *_cells(run)))
        for (label, clients), run in fastest.items()
    ]
    is_missing = any(run.calibration is None for run in fastest.values())
    notes = (
        ["the machine has not been calibrated for every driver: assay calibrate"]
        if is_missing
        else []
    )
    title = "Client headroom: statements per second, and the client's calibrated ceiling"
    return ReportTable(
        "headroom", title, tuple(columns), tuple(rows), tuple(notes), 2, is_detail=True
    )


def _cells(run: RunRecord) -> tuple[ReportCell, ...]:
    rate = headroom.statements_per_s(run.evidence) or 0.0
    done = ReportCell(units.digits(rate), Number(rate, "per_s"))
    shares = machine_load.client_shares(run.evidence)
    of_processors = absent("not measured") if shares is None else _share(shares[0])
    room = headroom.of_run(run.evidence)
    if room is None:
        return done, absent("not calibrated"), absent("not calibrated"), of_processors
    most = room.ceiling.statements_per_s
    most_cell = ReportCell(units.digits(most), Number(most, "per_s"))
    return done, most_cell, _share(room.share), of_processors


def _share(value: float) -> ReportCell:
    return ReportCell(units.share(value), Number(value, "ratio"))

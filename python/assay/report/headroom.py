"""Takes runs; gives how near they came to what their clients can do at most (`assay calibrate`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from assay.provision.deployment import was_embedded
from assay.record import CalibrationRecord, RunRecord
from assay.report import units
from assay.report.values import Cell, Column, Number, Row, Table, absent, text

CEILING_LIMIT = 0.70
"""Share of the client's ceiling beyond which the client's speed is part of the numbers."""


class Headroom(NamedTuple):
    statements_per_s: float
    ceiling: CalibrationRecord

    @property
    def share(self) -> float:
        return self.statements_per_s / self.ceiling.statements_per_s


def of_run(run: RunRecord) -> Headroom | None:
    """None where nothing was calibrated, or statements were not counted."""
    statements_per_s = _statements_per_s(run)
    if run.calibration is None or statements_per_s is None:
        return None
    return Headroom(statements_per_s, run.calibration)


def table(runs: Iterable[RunRecord]) -> Table | None:
    """Each system and number of clients beside its ceiling, by the fastest run. None where no run
    has a client that could be calibrated."""
    fastest: dict[tuple[str, int], RunRecord] = {}
    for run in runs:
        rate = _statements_per_s(run)
        if rate is not None:
            key = (run.system_label, run.clients)
            known = fastest.get(key)
            if known is None or rate > (_statements_per_s(known) or 0):
                fastest[key] = run
    if not fastest:
        return None
    columns = [Column("system"), Column("clients", is_number=True)]
    columns += [Column(one, is_number=True) for one in ("statements/s", "ceiling", "share of it")]
    rows = [
        Row((text(label), Cell(str(clients), Number(clients, "count")), *_cells(run)))
        for (label, clients), run in fastest.items()
    ]
    is_missing = any(run.calibration is None for run in fastest.values())
    notes = (
        ["the machine has not been calibrated for every driver: assay calibrate"]
        if is_missing
        else []
    )
    title = "Headroom of the client: what it did, and what it can do at most"
    return Table("headroom", title, tuple(columns), tuple(rows), tuple(notes), 2, is_detail=True)


def _cells(run: RunRecord) -> tuple[Cell, Cell, Cell]:
    rate = _statements_per_s(run) or 0.0
    done = Cell(units.digits(rate), Number(rate, "per_s"))
    found = of_run(run)
    if found is None:
        return done, absent("not calibrated"), absent("not calibrated")
    most = found.ceiling.statements_per_s
    return (
        done,
        Cell(units.digits(most), Number(most, "per_s")),
        Cell(units.share(found.share), Number(found.share, "ratio")),
    )


def _statements_per_s(run: RunRecord) -> float | None:
    """None for a library that works in the client's own process: it is not the client's work."""
    observation, site = run.observation or {}, run.site or {}
    statements, elapsed_ns = observation.get("statements"), observation.get("elapsed_ns")
    if not statements or not elapsed_ns or was_embedded(site):
        return None
    return float(statements) / (float(elapsed_ns) / 1e9)

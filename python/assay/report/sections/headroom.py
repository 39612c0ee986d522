"""Takes runs; returns their statement rates as shares of the calibrated ceiling, and the share
of the processors that the client used.

The ceiling was reached with a server that does nothing but answer, on the same processors: it has
part of them. The client's own share of the processors has no server in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from assay.judge.evidence import headroom
from assay.judge.warnings import machine_load
from assay.record import Run
from assay.report import columns
from assay.report.columns import counts, numbers, words
from assay.report.values import Number, ReportCell, ReportTable, absent, rate
from assay.text import units


def table(runs: Iterable[Run]) -> ReportTable | None:
    """Each system and number of clients with its fastest run and its ceiling. None where no run has
    a client that could be calibrated."""
    fastest: dict[tuple[str, int], Run] = {}
    for run in runs:
        per_s = headroom.statements_per_s(run)
        if per_s is not None:
            key = (run.system_on_machine, run.clients)
            known = fastest.get(key)
            if known is None or per_s > _done_per_s(known):
                fastest[key] = run
    if not fastest:
        return None
    is_missing = any(run.calibration is None for run in fastest.values())
    notes = (
        ["the machine has not been calibrated for every driver: assay calibrate"]
        if is_missing
        else []
    )
    return columns.table(
        "headroom",
        "Client headroom: statements per second, and the client's calibrated ceiling",
        (
            words("system", attrgetter("system_on_machine"), is_label=True),
            counts("clients", attrgetter("clients"), is_label=True),
            numbers("statements/s", lambda run: rate(_done_per_s(run))),
            numbers("ceiling", _of_room(lambda room: rate(room.ceiling.statements_per_s))),
            numbers("share of it", _of_room(lambda room: _share(room.share))),
            numbers("client's share of the CPUs", _of_processors),
        ),
        fastest.values(),
        notes=tuple(notes),
        is_detail=True,
    )


def _done_per_s(run: Run) -> float:
    return headroom.statements_per_s(run) or 0.0


def _of_room(shown: Callable[[Any], ReportCell]) -> Callable[[Run], ReportCell]:
    def cell(run: Run) -> ReportCell:
        room = headroom.of_run(run)
        return absent("not calibrated") if room is None else shown(room)

    return cell


def _of_processors(run: Run) -> ReportCell:
    shares = machine_load.client_shares(run)
    return absent("not measured") if shares is None else _share(shares[0])


def _share(value: float) -> ReportCell:
    return ReportCell(units.share(value), Number(value, "ratio"))

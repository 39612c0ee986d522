"""Takes the cells of a test; gives the times in which the system, or the client, stood still."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay.record.records import Document
from assay.report.pivot import CellRuns
from assay.report.values import Cell, Column, Number, Row, Table, count, text

STALLED, SUSPENDED = "stalls", "suspensions"
"""Keys of the observation."""
_WHO: Mapping[str, str] = {STALLED: "system stalled", SUSPENDED: "client suspended"}
_SHOWN = 10


def table(test: str, found: Sequence[CellRuns]) -> Table | None:
    """The longest of all runs; None where nothing stood still."""
    standstills = [
        (one["to_ns"] - one["from_ns"], who, one, cell, run)
        for cell in found
        for run in cell.runs
        for key, who in _WHO.items()
        for one in (run.observation or {}).get(key, ())
    ]
    if not standstills:
        return None
    standstills.sort(key=lambda one: -one[0])
    rows = [
        Row(
            (
                count(run.id),
                text(cell.name),
                text(who),
                *(_seconds(value_ns) for value_ns in (one["from_ns"], one["to_ns"], lasted_ns)),
            )
        )
        for lasted_ns, who, one, cell, run in standstills[:_SHOWN]
    ]
    left_out = len(standstills) - len(rows)
    return Table(
        name=f"{test}_standstills",
        label_columns=3,
        title="Standstills",
        columns=(
            Column("run", is_number=True),
            Column("cell"),
            Column("who"),
            *(Column(title, is_number=True, unit="s") for title in ("from", "to", "lasted")),
        ),
        rows=tuple(rows),
        notes=(
            "stalled: no transaction ended while clients waited for an answer; suspended: this "
            "program did not run; from, to: since the beginning of the measurement"
            + (f"; and {left_out} shorter ones" if left_out else ""),
        ),
    )


def summary(observation: Document, key: str) -> str:
    """``2 times, 5.1 s of 6.0 s, the longest 4.0 s from 1.2 s on``; empty where there are none."""
    found = observation.get(key) or ()
    if not found:
        return ""
    lasted_s = [(one["to_ns"] - one["from_ns"]) / 1e9 for one in found]
    elapsed_s = (observation.get("elapsed_ns") or 0) / 1e9
    longest_s, since_ns = max(zip(lasted_s, (one["from_ns"] for one in found), strict=True))
    words = f"{sum(lasted_s):.1f} s of {elapsed_s:.1f} s, "
    if len(found) > 1:
        words = f"{len(found)} times, {words}the longest {longest_s:.1f} s "
    return f"{words}from {since_ns / 1e9:.1f} s on"


def _seconds(value_ns: int) -> Cell:
    return Cell(f"{value_ns / 1e9:.2f}", Number(value_ns, "ns"))

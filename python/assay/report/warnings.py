"""Every known way in which a run can mislead, by name, each with its cause and its cure.

A warning is kept with its run (name and detail) and printed with every report that shows the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from assay.record import RunRecord
from assay.record.records import WarningRecord
from assay.report import units
from assay.report.settings import mean_the_same
from assay.report.values import WarningNote

NOISE_LIMIT = 0.20
"""Repetitions that lie further apart than this share of their median are noisy."""
CLIENT_SHARE_LIMIT = 0.20
"""Share of the machine's processors beyond which the client takes them from the server."""
CLIENT_THREADS_LIMIT = 0.70
"""Busy share of the engine's threads beyond which transactions wait for the client."""
_DETAILS_SHOWN = 4


@dataclass(frozen=True)
class _Text:
    cause: str
    cure: str


class Kind(Enum):
    """All warnings there are; the record holds their names."""

    ONE_REPETITION = _Text(
        "each cell was run once, so nothing is known of how much repetitions differ",
        "--repetitions 3 or more",
    )
    NOISY_REPETITIONS = _Text(
        f"repetitions differ by more than {units.share(NOISE_LIMIT)} of their median",
        "stop what else runs on this machine, drive longer, or use more --repetitions",
    )
    FEW_SAMPLES = _Text(
        "some percentiles have too few samples to be told",
        "more clients, more passes or a longer run",
    )
    FITS_IN_MEMORY = _Text(
        "the data set fits in memory, so reads hardly touch the storage",
        "load more rows than the machine has memory, where the storage is the question",
    )
    DURABILITY_LOWERED = _Text(
        "settings let the system lose commits that it acknowledged",
        "leave these settings at their defaults; compare only what keeps the same promise",
    )
    SYNTHETIC_DATA = _Text(
        "the rows are synthetic: lengths and frequencies are those of real data, the rows are not",
        "load the real files",
    )
    INPUT_SKIPPED = _Text(
        "entries of the input could not be read and are not in the data set",
        "mend the places that are listed with the data set",
    )
    CLIENT_BUSY = _Text(
        "the client took much of the processor time, so its own speed is part of the numbers",
        "fewer clients, or more --threads where processors are idle",
    )
    SETTINGS_DIFFER = _Text(
        "the system did not take a setting as asked",
        "look up the allowed values of this setting in the system's manual",
    )
    RANGE_EXCEEDED = _Text(
        "response times above one hour are counted, but not in the percentiles",
        "fewer clients or passes",
    )

    @property
    def id(self) -> str:
        """``fits-in-memory``, as records and reports spell it."""
        return self.name.lower().replace("_", "-")


def of_run(run: RunRecord, machine: Mapping[str, Any]) -> list[WarningRecord]:
    """What can be said of one run by itself."""
    return [WarningRecord(kind.id, detail) for kind, detail in _of_run(run, machine)]


def notes(warnings: Iterable[WarningRecord]) -> tuple[WarningNote, ...]:
    """The warnings of many runs, each kind once. Kinds this program does not know (a newer one kept
    them) come last and without cause and cure."""
    details: dict[str, list[str]] = {}
    for name, detail in warnings:
        details.setdefault(name, []).append(detail)
    kinds = {kind.id: kind.value for kind in Kind}
    ordered = [name for name in kinds if name in details]
    ordered += [name for name in details if name not in kinds]
    return tuple(
        WarningNote(name, text.cause, _distinct(details[name]), text.cure)
        for name in ordered
        for text in [kinds.get(name, _Text("", ""))]
    )


def client_shares(run: RunRecord, machine: Mapping[str, Any]) -> tuple[float, float] | None:
    """(share of the machine's processors, busy share of the engine's threads) the client took.

    None where the system lives in the client's own process: its work cannot be told apart.
    """
    observation, site = run.observation or {}, run.site or {}
    cost, elapsed_ns = observation.get("client_cost"), observation.get("elapsed_ns")
    if not cost or not elapsed_ns or site.get("address", {}).get("file") is not None:
        return None
    busy = (cost["user_ns"] + cost["system_ns"]) / elapsed_ns
    processors = machine.get("processors_usable") or machine.get("processors") or 1
    return busy / processors, busy / max(1, observation.get("threads") or 1)


def _of_run(run: RunRecord, machine: Mapping[str, Any]) -> Iterator[tuple[Kind, str]]:
    dataset, site, observation = run.dataset or {}, run.site or {}, run.observation or {}
    size_bytes, memory_bytes = dataset.get("size_on_disk_bytes"), memory_of(machine)
    if size_bytes and memory_bytes and size_bytes < memory_bytes:
        yield Kind.FITS_IN_MEMORY, f"{units.size(size_bytes)} of {units.size(memory_bytes)}"
    for setting in site.get("durability_lowered_by", ()):
        yield Kind.DURABILITY_LOWERED, f"{run.system_label}: {setting}"
    if dataset.get("source") == "synthetic":
        yield Kind.SYNTHETIC_DATA, str(dataset.get("description", ""))
    if skipped := dataset.get("skipped_entries"):
        yield Kind.INPUT_SKIPPED, f"{skipped} entries"
    shares = client_shares(run, machine)
    if shares and (shares[0] > CLIENT_SHARE_LIMIT or shares[1] > CLIENT_THREADS_LIMIT):
        yield (
            Kind.CLIENT_BUSY,
            f"{run.system_label}, {units.counted(run.clients, 'client')}: {units.share(shares[0])} "
            f"of the processors, its threads {units.share(shares[1])} busy",
        )
    effective = site.get("settings", {})
    for name, asked in site.get("settings_asked", {}).items():
        found = effective.get(name)
        if found is None:
            yield Kind.SETTINGS_DIFFER, f"{run.system_label}: {name} = {asked} cannot be read back"
        elif not mean_the_same(str(asked), str(found)):
            yield Kind.SETTINGS_DIFFER, f"{run.system_label}: {name} = {asked} became {found}"
    overflow = sum(one["response_time"]["overflow"] for one in observation.get("transactions", ()))
    if overflow:
        yield (
            Kind.RANGE_EXCEEDED,
            f"{run.system_label}, {units.counted(run.clients, 'client')}: {overflow}",
        )


def memory_of(machine: Mapping[str, Any]) -> int:
    """Bytes this process may use: the machine's memory, or its control group's limit."""
    limits = [machine.get("memory_bytes"), machine.get("memory_limit_bytes")]
    return min((limit for limit in limits if limit), default=0)


def _distinct(details: Iterable[str]) -> tuple[str, ...]:
    """Each detail once, the first few; what is left is counted."""
    distinct = list(dict.fromkeys(detail for detail in details if detail))
    more = len(distinct) - _DETAILS_SHOWN
    return (*distinct[:_DETAILS_SHOWN], *([f"and {more} more"] if more > 0 else []))

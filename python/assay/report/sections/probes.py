"""Takes runs; returns what their storages did in each probe that a run uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from assay.judge import RunWarning
from assay.judge.warning_kinds import WarningKind
from assay.probe.measure import DEPTHS, FLUSH_PARTS, UNEVEN, Measured, Probe, age
from assay.record import Run
from assay.record.metrics import resources
from assay.record.runs.run_names import machine_shown
from assay.report import columns, factor_order
from assay.report.columns import integer, never_null, number, of, path, string, words
from assay.report.figures import bars
from assay.report.program_tables import MACHINE_MEANING, ProgramTable
from assay.report.sections import storages
from assay.report.values import (
    Number,
    ReportCell,
    ReportTable,
    Section,
    absent,
    number_cell,
    section_of,
)
from assay.text import units

_NOT_PROBED = "not probed"
_AGAIN = (
    "a storage was probed again when the experiment was continued; each run is compared with the "
    "probe before it"
)
_NOT_PASSED_ON = (
    "flushes do not reach the device (a mount option such as nobarrier): a power cut may lose what "
    "was flushed"
)


class UsedProbe(NamedTuple):
    probe: Probe
    machine: str
    runs: tuple[Run, ...]
    """Those whose numbers are compared with it."""

    @property
    def storage(self) -> str:
        return self.probe.storage


def used_by(runs: Iterable[Run]) -> list[UsedProbe]:
    """Each probe that a run uses, storage by storage. A storage is probed once in an experiment,
    and again when this is continued."""
    by_probe: dict[tuple[str, int, str], list[tuple[Probe, Run]]] = {}
    for run in runs:
        if run.probe is not None:
            key = (run.probe.storage, run.probe.begun_unix_ns, machine_shown(run))
            by_probe.setdefault(key, []).append((run.probe, run))
    storages = list(dict.fromkeys(storage for storage, *_ in by_probe))
    return [
        UsedProbe(used[0][0], key[2], tuple(run for _, run in used))
        for key, used in sorted(
            by_probe.items(), key=lambda item: (storages.index(item[0][0]), item[0])
        )
    ]


def section(runs: Iterable[Run]) -> Section | None:
    """None where no storage was probed, and none is modelled."""
    runs = list(runs)
    found = used_by(runs)
    if all(one.probe.reason for one in found):
        found = []
    table = _table(found) if found else None
    figures = bars.storages(table) if table and len(table.rows) > 1 else ()
    modelled = storages.modelled_disks_table(runs)
    return section_of("Storages by probe", table, modelled, figures=figures)


def why_none(runs: Iterable[Run]) -> str:
    """``storages not probed: here, b: fio is missing``, where none was that was to be; else
    empty."""
    found = [one.probe for one in used_by(runs)]
    if not found or not all(probe.reason for probe in found):
        return ""
    reasons = "; ".join(f"{names}: {reason}" for names, reason in _reasons(found))
    return f"storages {_NOT_PROBED}: {reasons}"


def _reasons(not_probed: Iterable[Probe]) -> Iterator[tuple[str, str]]:
    """``here, b`` with ``fio is missing``."""
    storages: dict[str, dict[str, None]] = {}
    for probe in not_probed:
        storages.setdefault(probe.reason, {})[probe.storage] = None
    for reason, names in storages.items():
        yield ", ".join(names), reason


def warnings(runs: Iterable[Run]) -> Iterator[RunWarning]:
    """Of storages of a machine whose probes differ by more than measurements within one probe
    may."""
    by_storage: dict[tuple[str, str], list[Probe]] = {}
    for one in used_by(runs):
        by_storage.setdefault((one.storage, one.machine), []).append(one.probe)
    for (storage, _), probes in by_storage.items():
        for title, value in _FIGURES.items():
            values = [found for probe in probes if (found := value(probe))]
            if values and max(values) > UNEVEN * min(values):
                low, high = units.digits(min(values)), units.digits(max(values))
                ratio = units.digits(max(values) / min(values), 2)
                yield RunWarning(
                    WarningKind.PROBES_DIFFER.id,
                    f"{storage}: {title} {low} to {high}, {ratio} times",
                )


def _reads(depth: int, field: str) -> Callable[[Probe], Any]:
    return lambda probe: path(field)(_at(probe, depth))


def _at(probe: Probe, depth: int) -> Measured | None:
    return next((one for one in probe.random_reads if one.depth == depth), None)


_FIGURES: Mapping[str, Callable[[Probe], float | None]] = {
    **{f"reads/s, depth {depth}": _reads(depth, "per_s") for depth in DEPTHS},
    "flushes/s": lambda probe: probe.flushes.per_s if probe.flushes else None,
}
"""Those with which runs are compared."""


def _table(probes: Sequence[UsedProbe]) -> ReportTable:
    is_repeated = len({one.storage for one in probes}) < len(probes)
    of_runs = words("of runs", _run_numbers, is_label=True)
    measured = (
        *(f"reads_depth_{depth}_per_s" for depth in DEPTHS),
        "sequential_read_bytes_per_s",
        "sequential_write_bytes_per_s",
        "flushes_per_s",
    )
    return columns.table(
        "storage_probes",
        "Reads, writes and flushes of each storage, before its first use",
        (*PROBES.named("storage"), *([of_runs] if is_repeated else []), *PROBES.named(*measured)),
        probes,
        notes=(*_notes(probes), *([_AGAIN] if is_repeated else [])),
        # Of one storage there is nothing to compare.
        is_detail=len(probes) == 1,
    )


def _run_numbers(used: UsedProbe) -> str:
    """``1-4, 9``."""
    run_ids = sorted(run.id for run in used.runs)
    parts: list[list[int]] = []
    for run_id in run_ids:
        if parts and run_id == parts[-1][-1] + 1:
            parts[-1].append(run_id)
        else:
            parts.append([run_id])
    return ", ".join(f"{one[0]}-{one[-1]}" if len(one) > 1 else str(one[0]) for one in parts)


def _rate(measured: Measured | None) -> ReportCell:
    if measured is None:
        return absent(_NOT_PROBED)
    return number_cell(measured.per_s, "per_s", n=measured.count)


def _flushes(probe: Probe) -> ReportCell:
    shown = _rate(probe.flushes)
    if probe.flushes is None:
        return shown
    over = resources.spread_of_flushes(probe.flushes)
    remarks = (
        resources.uneven_flushes(probe.flushes),
        "" if probe.passes_flushes_on else _NOT_PASSED_ON,
    )
    number = Number(over.median, "per_s", over.n, over.low, over.high)
    return replace(shown, number=number, note="; ".join(filter(None, remarks)))


def _bandwidth(measured: Measured | None) -> ReportCell:
    if measured is None:
        return absent(_NOT_PROBED)
    per_s = measured.bytes_per_s
    return number_cell(per_s, "bytes_per_s", lambda size: f"{units.size(size)}/s", n=measured.count)


MEASURED = [
    never_null(
        "storage", "string", "its name in the experiment", title="storage", is_label=True
    ),
    never_null("begun_unix_ns", "integer", "when the probe began"),
    *(
        number(
            f"reads_depth_{depth}_per_s", f"random reads of 8 KiB, {depth} at once",
            _reads(depth, "per_s"), title=f"reads/s, depth {depth}",
            cell=lambda probe, depth=depth: _rate(_at(probe, depth)),
        )
        for depth in DEPTHS
    ),
    *(
        integer(
            f"reads_depth_{depth}_mean_ns", f"time of a random read, {depth} at once",
            _reads(depth, "mean_ns"),
        )
        for depth in DEPTHS
    ),
    *(
        number(
            f"{name}_bytes_per_s", f"in {what}s of 1 MiB", path(name, "bytes_per_s"),
            title=name.replace("_", " "),
            cell=lambda probe, name=name: _bandwidth(getattr(probe, name)),
        )
        for name, what in (("sequential_read", "read"), ("sequential_write", "write"))
    ),
    number(
        "flushes_per_s", "a write of 8 KiB and fdatasync, one after the other; median",
        path("flushes", "per_s"), title="flushes/s", cell=_flushes,
    ),
    *(
        number(
            f"flushes_{name}_per_s", f"the {which} of {FLUSH_PARTS} measurements",
            path("flushes", f"{field}_per_s"),
        )
        for name, which, field in (("min", "slowest", "low"), ("max", "fastest", "high"))
    ),
    integer(
        "device_flushes",
        "ended by the device during the whole probe, for any program; null: not counted",
    ),
    integer("flush_mean_ns", "time of both", path("flushes", "mean_ns")),
    integer("flush_p99_ns", "of the flush alone; null: too few", path("flushes", "p99_ns")),
    never_null("file_bytes", "integer", "on which it was measured"),
    never_null("is_direct", "boolean", "reads and writes went past the page cache"),
    never_null("seconds", "number", "how long it was to take"),
    never_null("program", "string", "with its version"),
    integer("taken_unix_ns", "when it was taken from the user's cache; null: measured then"),
    string("reason", "why nothing was measured; null: it was"),
]  # fmt: skip
"""Of one probe."""
PROBES = ProgramTable(
    "One row per probe of a storage that a run uses: before its first use, and again when the "
    "experiment was continued.",
    [never_null("machine", "string", MACHINE_MEANING), *of(path("probe"), MEASURED)],
    lambda experiment: iter(used_by(factor_order.runs_in_order(experiment))),
)
"""Of the probes of a report, which may be of several machines."""


def _notes(probes: Sequence[UsedProbe]) -> list[str]:
    notes = [
        "reads: random, of 8 KiB; depth: how many at once; flushes: each a write of 8 KiB and "
        f"fdatasync, one after the other, median of {FLUSH_PARTS} measurements"
    ]
    measured = [one.probe for one in probes if not one.probe.reason]
    how = dict.fromkeys(
        f"by {probe.program} in {units.duration(probe.seconds)}" for probe in measured
    )
    if how:
        notes.append(f"{', '.join(how)}, in a file of {_file_sizes(measured)}")
    notes += dict.fromkeys(
        f"{probe.storage}: reads and writes went through the page cache, which this file system "
        "needs"
        for probe in measured
        if not probe.is_direct
    )
    notes += dict.fromkeys(
        f"{one.storage}: taken from the user's cache, measured {old} before"
        for one in measured
        if (old := age(one))
    )
    reasons = _reasons(one.probe for one in probes if one.probe.reason)
    notes += [f"{names} {_NOT_PROBED}: {reason}" for names, reason in reasons]
    return notes


def _file_sizes(measured: Sequence[Probe]) -> str:
    """``256 MiB``; ``256 MiB, of 40 MiB on slow``: that of most storages, and the others."""
    sizes = dict.fromkeys((probe.storage, units.binary(probe.file_bytes)) for probe in measured)
    (most, _), *others = Counter(size for _, size in sizes).most_common()
    named = (
        f"of {other} on {', '.join(name for name, one in sizes if one == other)}"
        for other, _ in others
    )
    return ", ".join((most, *named))

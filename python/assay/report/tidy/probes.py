"""The columns of the tidy table of storages as they were probed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay.probe import DEPTHS, FLUSH_PARTS, Probe
from assay.report.tidy.columns import TidyColumn, attribute, never_null, of, path
from assay.report.tidy.factors import MACHINE_MEANING


def _reads(depth: int, field: str) -> Callable[[Probe], Any]:
    def value(probe: Probe) -> Any:
        found = next((one for one in probe.random_reads if one.depth == depth), None)
        return None if found is None else getattr(found, field)

    return value


MEASURED = [
    never_null("storage", "string", "its name in the experiment", attribute("storage")),
    never_null(
        "begun_unix_ns", "integer", "when the probe began", attribute("begun_unix_ns")
    ),
    *(
        TidyColumn(
            f"reads_depth_{depth}_per_s", "number",
            f"random reads of 8 KiB, {depth} at once", _reads(depth, "per_s"),
        )
        for depth in DEPTHS
    ),
    *(
        TidyColumn(
            f"reads_depth_{depth}_mean_ns", "integer",
            f"time of a random read, {depth} at once", _reads(depth, "mean_ns"),
        )
        for depth in DEPTHS
    ),
    TidyColumn(
        "sequential_read_bytes_per_s", "number", "in reads of 1 MiB",
        path("sequential_read", "bytes_per_s"),
    ),
    TidyColumn(
        "sequential_write_bytes_per_s", "number", "in writes of 1 MiB",
        path("sequential_write", "bytes_per_s"),
    ),
    TidyColumn(
        "flushes_per_s", "number", "a write of 8 KiB and fdatasync, one after the other; median",
        path("flushes", "per_s"),
    ),
    *(
        TidyColumn(
            f"flushes_{name}_per_s", "number", f"the {which} of {FLUSH_PARTS} measurements",
            path("flushes", f"{field}_per_s"),
        )
        for name, which, field in (("min", "slowest", "low"), ("max", "fastest", "high"))
    ),
    TidyColumn(
        "device_flushes", "integer",
        "ended by the device during the whole probe, for any program; null: not counted",
        attribute("device_flushes"),
    ),
    TidyColumn("flush_mean_ns", "integer", "time of both", path("flushes", "mean_ns")),
    TidyColumn(
        "flush_p99_ns", "integer", "of the flush alone; null: too few", path("flushes", "p99_ns")
    ),
    never_null("file_bytes", "integer", "on which it was measured", attribute("file_bytes")),
    never_null(
        "is_direct", "boolean", "reads and writes went past the page cache",
        attribute("is_direct"),
    ),
    never_null("seconds", "number", "how long it was to take", attribute("seconds")),
    never_null("program", "string", "with its version", attribute("program")),
    TidyColumn("reason", "string", "why nothing was measured; null: it was", attribute("reason")),
]  # fmt: skip
"""Of one probe."""
PROBES = [
    never_null("machine", "string", MACHINE_MEANING, attribute("machine")),
    *of(attribute("probe"), MEASURED),
]
"""Of the probes of a report, which may be of several machines."""

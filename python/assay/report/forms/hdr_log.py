"""Writes the latency histograms of a `Report` as a log of the HdrHistogram tools, format version
1.3: a line per run, second and group, whose tag is the run (``run17``, ``run17.readers``).

Histograms count nanoseconds; the column of the maximum is in milliseconds, as those tools write it.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TextIO

from assay.report.values import Report, TimedHistogram
from assay.text.terminal import visible

_COLUMNS = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'


def render(report: Report, stream: TextIO, *, detail: bool | None = None) -> None:  # noqa: ARG001
    """Writes the log, which has no details to leave out."""
    lines = list(report.histograms())
    begun_s = min((one.begun_unix_ns for one in lines), default=0) / 1e9
    stream.write(f"#[Latencies in ns, written by Assay, {report.of}]\n")
    for tag, cell in dict.fromkeys((_tag(one), one.cell) for one in lines):
        stream.write(f"#[{tag}: {visible(cell)}]\n")
    stream.write("#[Histogram log format version 1.3]\n")
    began = datetime.fromtimestamp(begun_s, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
    stream.write(f"#[StartTime: {begun_s:.3f} (seconds since epoch), {began}]\n{_COLUMNS}\n")
    for one in lines:
        stream.write(
            f"Tag={_tag(one)},{one.begun_unix_ns / 1e9:.3f},{one.lasted_ns / 1e9:.3f},"
            f"{one.latency.max_ns / 1e6:.3f},{one.latency.histogram}\n"
        )


def _tag(histogram: TimedHistogram) -> str:
    """Without the commas and blanks that end a tag."""
    group = re.sub(r"[^\w.-]", "_", histogram.group)
    return f"run{histogram.run}.{group}" if group else f"run{histogram.run}"

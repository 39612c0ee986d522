"""Every known way in which a run can mislead, by name, each with its cause and its fix, and the
limits from which on it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from assay.judge import headroom, service
from assay.text import units

NOISE_LIMIT = 0.20
"""Repetitions that lie further apart than this share of their median are noisy."""
CLIENT_SHARE_LIMIT = 0.20
"""Share of the machine's processors beyond which the client takes them from the server."""
CLIENT_THREADS_LIMIT = 0.70
"""Busy share of the engine's threads beyond which transactions wait for the client."""
SHORTEST_S = 10
"""A run that ends by time and measures less than so many seconds is short."""
REACHED = 0.95
"""Share of the offered rate that must end for the rate to be reached, beside chance."""
LATE_LIMIT = 0.01
"""Share of late and skipped transactions beyond which a warning is due."""
WARM_UP_LIMIT = 0.20
"""By how much the first fifth of a measurement may differ from the rest."""
DRAIN_LIMIT = 0.10
"""Share of the measurement that may be spent waiting for the last transactions."""
WAIT_LIMIT = 0.10
"""Share of their time that the client's threads may wait for a processor, and share of the
machine's processors that other programs may take meanwhile."""
LEAST_COST_NS = 100_000_000
"""Of a shorter measurement nothing is said of processors: the kernel counts in ticks of 1-10 ms,
and the clients' connecting and ending weighs in."""


@dataclass(frozen=True)
class WarningText:
    cause: str
    fix: str
    limits: bool = False
    """Whether it limits what may be concluded from the numbers of its run."""


class Kind(Enum):
    """All warnings there are; the record holds their names."""

    ONE_REPETITION = WarningText(
        "each cell was run once: how much repetitions differ is not known",
        "--repetitions 3 or more",
    )
    NOISY_REPETITIONS = WarningText(
        f"repetitions differ by more than {units.share(NOISE_LIMIT)} of their median",
        "stop other programs on this machine, use a longer --duration or more --repetitions",
    )
    FEW_SAMPLES = WarningText(
        "too few samples for some percentiles",
        "more clients, more passes or a longer run",
    )
    FITS_IN_MEMORY = WarningText(
        "the data set fits in memory: reads hardly touch the storage",
        "to measure the storage, load more rows than the machine has memory",
    )
    DURABILITY_LOWERED = WarningText(
        "settings allow the system to lose acknowledged commits",
        "use the default of these settings; compare only systems with the same durability",
        limits=True,
    )
    SETTINGS_UNKNOWN = WarningText(
        "the server does not report its settings, so they are not in the record",
        "name the server itself in the URL, not a pooler or proxy in front of it",
    )
    SYNTHETIC_DATA = WarningText(
        "the rows are synthetic, with the lengths and frequencies of real data",
        "load the real files",
    )
    INPUT_SKIPPED = WarningText(
        "entries of the input could not be read and are not in the data set",
        "correct the places that are listed with the data set",
    )
    SCRIPT = WarningText(
        "a script probably does not do what was meant",
        "change the places that are named",
    )
    ERRORS = WarningText(
        "transactions failed; with them, the others might have taken longer",
        "see the errors; --retries N retries after deadlocks and serialization failures",
    )
    OUTAGE = WarningText(
        "for a while no transaction succeeded although clients sent some; the numbers include it",
        "see the timeline of the run, and the server's log",
        limits=True,
    )
    STALLED = WarningText(
        "no transaction ended for at least one second, and ten times their median latency, while "
        "clients waited for an answer",
        "see the server's log and the machine's storage at these seconds (checkpoints, locks, "
        "flushes); a longer --duration shows whether it happens again",
        limits=True,
    )
    CLIENT_SUSPENDED = WarningText(
        "this program did not run for a while (stopped by a signal, a paused container or virtual "
        "machine, or no free CPU): what was measured then says nothing about the system",
        "run it again on a machine that is not paused, with fewer other programs",
        limits=True,
    )
    LONG_DRAIN = WarningText(
        f"more than {units.share(DRAIN_LIMIT)} of the measurement was spent waiting for the last "
        "transactions: most clients were idle then, and throughput is divided by all of it",
        "a longer --duration; the timeline shows the throughput while all clients worked",
        limits=True,
    )
    CLIENT_WAITED_FOR_PROCESSOR = WarningText(
        "the client's threads had to wait for a CPU while other programs kept the machine busy",
        "stop other programs on this machine, or reserve CPUs for the run",
        limits=True,
    )
    STARVED_CLIENTS = WarningText(
        f"some clients ended less than {units.share(service.STARVED_SHARE)} of the transactions "
        "of the most served one; percentiles show hardly anything of their waiting",
        "use fewer clients if only one can write at a time; look for unfair locks; see the "
        "transactions per client and the oldest in flight",
        limits=True,
    )
    UNACCOUNTED_TIME = WarningText(
        f"more than {units.share(service.LAW_LIMIT)} of the clients' time is in no figure: "
        "clients = throughput x (latency + pause), Little's law, does not hold",
        "a longer --duration, in which transactions begun in the warm-up weigh less; if these "
        "never end, look for what they wait for",
        limits=True,
    )
    LATE_ARRIVALS = WarningText(
        "transactions were late, or could not start in time",
        "a lower --offered-rate, more clients, or a longer --latency-limit",
    )
    OFFERED_RATE_NOT_REACHED = WarningText(
        "the system did not keep up with the offered rate: latency grows as long as the run lasts",
        "a lower --offered-rate; the highest rate that is reached is what the system can do",
        limits=True,
    )
    SKIPPED_BY_LATENCY_LIMIT = WarningText(
        "some offered transactions could not start within the latency limit and were skipped: "
        "the numbers are of a lower rate than was offered",
        "a lower --offered-rate, more clients, or a longer --latency-limit",
        limits=True,
    )
    SHORT_WARM_UP = WarningText(
        "throughput at the beginning of the measurement differs from the rest",
        "a longer --warm-up",
        limits=True,
    )
    SHORT_MEASUREMENT = WarningText(
        f"a measurement of less than {SHORTEST_S} s shows little of what a system does in the "
        "background (checkpoints, vacuum, compaction)",
        "a longer --duration",
        limits=True,
    )
    CLIENT_BUSY = WarningText(
        f"the client used more than {units.share(CLIENT_SHARE_LIMIT)} of the machine's CPUs, or "
        f"its threads were busy more than {units.share(CLIENT_THREADS_LIMIT)} of the time: the "
        "numbers depend on the client's own speed",
        "fewer clients, or more --threads if CPUs are idle",
        limits=True,
    )
    NEAR_THE_CLIENT_CEILING = WarningText(
        f"more than {units.share(headroom.CEILING_LIMIT)} of the most that this machine's client "
        "can do: the numbers depend on the client's own speed",
        "more --threads if CPUs are idle, or clients on another machine",
        limits=True,
    )
    SETTINGS_DIFFER = WarningText(
        "the system did not take a setting as asked",
        "see the allowed values of this setting in the system's manual",
    )
    RANGE_EXCEEDED = WarningText(
        "latencies above one hour are counted, but not in the percentiles",
        "fewer clients or passes",
    )

    @property
    def id(self) -> str:
        """``fits-in-memory``, as records and reports spell it."""
        return self.name.lower().replace("_", "-")

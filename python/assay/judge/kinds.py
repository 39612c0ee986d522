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
        "each cell was run once, so nothing is known of how much repetitions differ",
        "--repetitions 3 or more",
    )
    NOISY_REPETITIONS = WarningText(
        f"repetitions differ by more than {units.share(NOISE_LIMIT)} of their median",
        "stop what else runs on this machine, drive longer, or use more --repetitions",
    )
    FEW_SAMPLES = WarningText(
        "too few samples for some percentiles",
        "more clients, more passes or a longer run",
    )
    FITS_IN_MEMORY = WarningText(
        "the data set fits in memory, so reads hardly touch the storage",
        "load more rows than the machine has memory, where the storage is the question",
    )
    DURABILITY_LOWERED = WarningText(
        "settings let the system lose commits that it acknowledged",
        "leave these settings at their defaults; compare only what keeps the same promise",
        limits=True,
    )
    SETTINGS_UNKNOWN = WarningText(
        "the server does not tell its settings, so what its speed rests on is not in the record",
        "name the server itself in the URL, and not a pooler or proxy in front of it",
    )
    SYNTHETIC_DATA = WarningText(
        "the rows are synthetic: lengths and frequencies are those of real data, the rows are not",
        "load the real files",
    )
    INPUT_SKIPPED = WarningText(
        "entries of the input could not be read and are not in the data set",
        "correct the places that are listed with the data set",
    )
    SCRIPT = WarningText(
        "a script says what it probably does not mean",
        "change the places that are named",
    )
    ERRORS = WarningText(
        "transactions failed; had they succeeded, the others might have taken longer",
        "look at the errors; --retries N tries again after deadlocks and serialization failures",
    )
    OUTAGE = WarningText(
        "for a while no transaction succeeded, though clients sent some; the numbers include it",
        "look at the course of the run, and at the server's log",
        limits=True,
    )
    STALLED = WarningText(
        "no transaction ended for a second or more, and ten times as long as they take in the "
        "median, while clients waited for an answer",
        "look at the server's log and at the machine's storage for these seconds (checkpoints, "
        "locks, flushes); a longer --duration shows whether it comes again",
        limits=True,
    )
    CLIENT_SUSPENDED = WarningText(
        "this program did not run for a while (stopped by a signal, its container or virtual "
        "machine paused, or no processor left for it): what was measured then is no property of "
        "the system",
        "run it again on a machine that is not paused; fewer programs beside it",
        limits=True,
    )
    LONG_DRAIN = WarningText(
        f"more than {units.share(DRAIN_LIMIT)} of the measurement was spent waiting for the last "
        "transactions: most clients were at rest then, and throughput divides by all of it",
        "a longer --duration, beside which the longest transaction is short; the course shows the "
        "throughput while all clients were at work",
        limits=True,
    )
    CLIENT_WAITED_FOR_PROCESSOR = WarningText(
        "the client's threads were ready to run and had to wait for a processor, while other "
        "programs kept the machine busy: what was measured is that load too",
        "stop what else runs on this machine, or give the run processors of its own",
        limits=True,
    )
    STARVED_CLIENTS = WarningText(
        f"some clients ended less than {units.share(service.STARVED_SHARE)} of what the most "
        "served one ended: they waited while others went ahead, and percentiles hold hardly "
        "anything of it",
        "fewer clients where only one can write at a time; look for locks that are handed over "
        "unfairly; judge by the transactions of each client and the oldest in flight",
        limits=True,
    )
    UNACCOUNTED_TIME = WarningText(
        f"more than {units.share(service.LAW_LIMIT)} of the clients' time is in no figure: "
        "clients = throughput x (response time + pause), Little's law, does not hold",
        "a longer --duration, in which transactions begun in the warm-up weigh less; if these "
        "never end, look for what they wait for",
        limits=True,
    )
    LATE_ARRIVALS = WarningText(
        "transactions came too late, or could not begin in time",
        "offer a lower rate, use more clients, or widen --latency-limit",
    )
    OFFERED_RATE_NOT_REACHED = WarningText(
        "the system did not keep up with the offered rate: response times grow for as long as the "
        "run lasts, and say how long that was",
        "offer less; the highest rate that is kept up is what the system can do",
        limits=True,
    )
    SKIPPED_BY_LATENCY_LIMIT = WarningText(
        "a part of the offered transactions could not begin within the latency limit and was "
        "skipped: the numbers are of those that were begun, at a lower rate than was offered",
        "offer less, use more clients, or widen --latency-limit",
        limits=True,
    )
    SHORT_WARM_UP = WarningText(
        "throughput at the beginning of the measurement is unlike that of the rest",
        "a longer --warm-up",
        limits=True,
    )
    SHORT_MEASUREMENT = WarningText(
        f"a measurement of less than {SHORTEST_S} s tells little of what a system does in the "
        "background (checkpoints, vacuum, compaction)",
        "a longer --duration",
        limits=True,
    )
    CLIENT_BUSY = WarningText(
        f"the client used more than {units.share(CLIENT_SHARE_LIMIT)} of the machine's processors, "
        f"or kept its threads busy for more than {units.share(CLIENT_THREADS_LIMIT)} of the time, "
        "so its own speed is part of the numbers",
        "fewer clients, or more --threads where processors are idle",
        limits=True,
    )
    NEAR_THE_CLIENT_CEILING = WarningText(
        f"more than {units.share(headroom.CEILING_LIMIT)} of what this machine's client can do, so "
        "the client's own speed is part of the numbers",
        "more --threads where processors are idle, or clients on another machine",
        limits=True,
    )
    SETTINGS_DIFFER = WarningText(
        "the system did not take a setting as asked",
        "look up the allowed values of this setting in the system's manual",
    )
    RANGE_EXCEEDED = WarningText(
        "response times above one hour are counted, but not in the percentiles",
        "fewer clients or passes",
    )

    @property
    def id(self) -> str:
        """``fits-in-memory``, as records and reports spell it."""
        return self.name.lower().replace("_", "-")

"""All warnings: the known ways in which a run can mislead, each with its cause and its fix, and the
limits beyond which they are given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache

from assay import registry
from assay.contracts.metric import WarningText
from assay.contracts.observation.costs import OTHERS_LIMIT
from assay.judge import service_levels
from assay.probe.measure import UNEVEN
from assay.text import units

NOISE_LIMIT = 0.20
"""Repetitions that differ by more than this share of their median are noisy."""
CLIENT_SHARE_LIMIT = 0.20
"""Share of the machine's processors beyond which the client takes them from the server."""
CLIENT_THREADS_LIMIT = 0.70
"""Busy share of the engine's threads beyond which transactions wait for the client."""
SHORTEST_S = 10
"""A run that measures fewer seconds is short, by whichever limit it ended (except passes)."""
SHORTEST_PASSES_S = 0.5
"""Passes that take fewer seconds in all are short."""
WARM_UP_LIMIT = 0.02
"""By which share the first seconds of a measurement may change its throughput."""
DRIFT_LIMIT = 0.10
"""By which share of its mean throughput may rise or fall within a measurement."""
DRAIN_LIMIT = 0.10
"""Share of the measurement that may be spent waiting for the last transactions."""
WAIT_LIMIT = 0.10
"""Share of their time that the client's threads may wait for a CPU, and share of the machine's CPUs
that other programs may use meanwhile."""
STORAGE_LIMIT_TOLERANCE = 1.1
"""Times a storage's limit that its device may do: the kernel lets requests through in slices."""
RTT_LIMIT = 0.20
"""Share of the asked round-trip time by which the measured one may differ: what repetitions may
differ by. Farther off, a level is not what its name says."""
CLOCKS_UNCERTAIN_NS = 5_000_000
"""By which the offset of a load generator's clock may be wrong."""
CLOCKS_DRIFT_MS_PER_MIN = 1.0
STALE_NS = 1_000_000_000
"""How old what a replica answers may be, 99th percentile."""
LEAST_COST_NS = 100_000_000
"""A shorter measurement gets no warnings about CPU time: the kernel counts in ticks of 1-10 ms, and
connecting and disconnecting would dominate."""


ENOUGH_REPETITIONS = 5
"""Advised where there is one: the interval of a ratio is narrow enough to decide something, and an
outlier among them is found."""


class WarningKind(Enum):
    """All warnings; the record holds their names."""

    NOISY_REPETITIONS = WarningText(
        f"repetitions differ by more than {units.share(NOISE_LIMIT)} of their median",
        "stop other programs on this machine, use {longer} or more {--repetitions}",
    )
    FEW_SAMPLES = WarningText("too few samples for some percentiles", "more clients, or {longer}")
    FITS_IN_MEMORY = WarningText(
        "the data set fits in memory: few reads reach the storage",
        "to measure the storage, load more rows than the machine has memory",
    )
    PAGE_CACHE_KEPT = WarningText(
        "files of the data remained in the operating system's page cache when it was dropped",
        "use a storage on a disk",
        limits=True,
    )
    NOT_FROM_DEVICE = WarningText(
        "the test measures reads from the device, but nothing was read from it: the data came from "
        "the page cache, so that its numbers are not compared",
        "{--memory} below the size of the data (a control group counts the page cache as well), or "
        "more data",
        limits=True,
        forbids_deciding=True,
    )
    SCRIPTS_LEFT_OUT = WarningText(
        "the system cannot express all scripts of the test and ran the others: that is less work "
        "than other systems have, so that its times are not compared",
        "feed all systems the same scripts ({--feed FILE}), or compare the times of single scripts",
        limits=True,
        is_of_other_work=True,
        forbids_deciding=True,
    )
    WENT_WITHOUT = WarningText(
        "the system lacks something that the test needs elsewhere, and ran it without: its numbers "
        "are of a weaker promise than those of systems that have it",
        "compare it only with systems that lack the same",
        limits=True,
    )
    ISOLATION_RAISED = WarningText(
        "scripts name an isolation level that the system does not have: their transactions were at "
        "the next stronger one, as the SQL standard allows",
        "compare it with systems at that level, or name it in the scripts",
    )
    ISOLATION_LOWERED = WarningText(
        "scripts name an isolation level that the system does not have, and their transactions "
        "were at a weaker one: it allows what other systems exclude",
        "compare it with systems at that level",
        limits=True,
    )
    NOT_WARM = WarningText(
        "the caches should have been warm, but the system read from its storage during the "
        "measurement",
        "a {--warm-up}, a larger buffer of the system, or more memory than the data need",
        limits=True,
    )
    WARM_NOT_VERIFIED = WarningText(
        "whether the caches were warm cannot be seen: neither the reads of the system's processes "
        "nor those of a device are known",
        "run as the server's user or root, with a server on this machine",
        limits=True,
    )
    DURABILITY_LOWERED = WarningText(
        "the system can lose acknowledged commits, by its settings, by what the scripts set, or as "
        "measured",
        "give each setting the value that is named as durable, and choose a storage whose mount "
        "options pass flushes on; compare only systems with the same durability",
        limits=True,
    )
    CLASS_CONTRADICTED = WarningText(
        "the device flushed too seldom for commits that wait for a flush, so the durability class "
        "that was measured does not hold for this run: its sessions set something that lowers it, "
        "its tables are not logged, or most of its transactions changed nothing",
        "look at what the scripts, and functions they call, set; compare the run only with runs of "
        "the same script",
        limits=True,
    )
    STORAGE_LIMIT_EXCEEDED = WarningText(
        "the device did more than the limits of its storage allow: control groups of version 1 do "
        "not limit what the kernel writes back from the page cache, so these numbers are not those "
        "of a storage with such limits",
        "a machine with control groups of version 2, or a modelled disk",
        limits=True,
    )
    WRITE_BACK_NOT_LIMITED = WarningText(
        "limits of writes hold for what the server flushes or writes directly: control groups of "
        "version 1 do not limit what the kernel writes back from the page cache",
        "a machine with control groups of version 2, or a modelled disk; see what the device wrote",
    )
    MODEL_NOT_KEPT = WarningText(
        "before the runs, reads from the modelled disk did not take the time of its model: the "
        "numbers belong to another disk",
        "stop other programs on this machine; where the I/O path overhead is the cause, a model "
        "that is several times as slow, or fewer requests at once",
        limits=True,
    )
    NODES_ON_ONE_MACHINE = WarningText(
        "the nodes of a cluster share one machine: they divide its processors, memory and storage, "
        "and there is no network between them, so that the number is not that of a cluster on "
        "several machines",
        "compare it only with clusters that were measured in the same way, or measure servers on "
        "machines of their own by URL",
        limits=True,
    )
    SETTINGS_UNKNOWN = WarningText(
        "the server does not report its settings, so they are not in the record",
        "note them yourself; behind a pooler or proxy, connect to the server itself",
    )
    DATA_UNKNOWN = WarningText(
        "it is not known what the tables held that the scripts name, so that no other run is known "
        "to have done the same work: this one is not compared",
        "correct the name of a table that does not exist; let the user of the URL read the others; "
        "write in the script itself what a called function, block or procedure does; `assay "
        "compare --despite data` where you know that the data are the same",
        limits=True,
    )
    DATA_CHANGED = WarningText(
        "the tables that the scripts read did not hold the same after the run as before, and the "
        "run itself committed nothing: something else changed them meanwhile",
        "stop what else writes to these tables, and run it again",
        limits=True,
        forbids_deciding=True,
    )
    CELL_CHANGED = WarningText(
        "repetitions of a cell did not find the same version, settings or rows: their numbers are "
        "not of one thing, so that nothing is ranked by them",
        "measure all repetitions again in a new experiment ({--new}), and change nothing on the "
        "system until it has ended",
        limits=True,
        forbids_deciding=True,
    )
    SEVERAL_SERVERS = WarningText(
        "several servers behind one address answered the clients' sessions: the numbers are not "
        "those of one server, and nothing is ranked by them",
        "name one server in the URL, without the balancer; where a URL may hold several hosts, "
        "one is chosen for all sessions",
        limits=True,
        forbids_deciding=True,
    )
    BEHIND_POOLER = WarningText(
        "there is a pooler or proxy between clients and server: the numbers are those of both, and "
        "in transaction mode it mixes up prepared statements and settings of sessions",
        "connect to the server itself; or {--protocol simple}, or set the pooler's "
        "max_prepared_statements (in PgBouncer since 1.21)",
        limits=True,
    )
    SYNTHETIC_DATA = WarningText(
        "the rows are synthetic, with the lengths and frequencies of real data",
        "load the real files",
    )
    BUFFER_NOT_SIZED = WarningText(
        "the test sizes the buffer by its data, and this server is not started by Assay",
        "give the server that buffer and start it again, or name the system instead of its URL",
    )
    INPUT_SKIPPED = WarningText(
        "entries of the input could not be read and are not in the data set",
        "correct the lines that are listed with the data set",
    )
    SCRIPT = WarningText(
        "a script probably does not do what was intended", "change the lines that are named"
    )
    ERRORS = WarningText(
        "transactions failed, or it is unknown whether they committed; if they had succeeded, the "
        "others might have taken longer",
        "mend what the first error names; after deadlocks and serialization failures "
        "{--retries N}, after lost connections {--reconnect}, for transactions cancelled at the "
        "end a longer {--drain}",
    )
    PARTLY_DURABLE = WarningText(
        "transactions failed after a part of them was committed; they count as unknown, as what "
        "they left is neither all nor nothing",
        "put the statements that belong together into one transaction: `\\begin` … `\\commit`",
    )
    DECLARED_ATOMIC = WarningText(
        "scripts declare with `\\atomic` that a procedure is one transaction, and Assay has not "
        "checked it: if it is none, a transaction that counts as failed may have left a part",
        "read what the procedure commits; without `\\atomic` such transactions count as unknown",
    )
    RETRIES_IMPOSSIBLE = WarningText(
        "{--retries} skipped transactions of which a part was committed before the failure: a "
        "retry would do that part twice",
        "put the statements into one transaction (`\\begin` … `\\commit`); where the system has "
        "no transactions, leave {--retries} out",
    )
    PREPARED_AGAIN = WarningText(
        "the server no longer accepted prepared statements; Assay prepared them again, which costs "
        "a round trip each",
        "see what changes the schema during the run; behind a pooler take {--protocol simple}",
    )
    ALL_ABORTED = WarningText(
        "every transaction was rolled back by `\\abort`: nothing was changed, and no throughput is "
        "shown",
        "see the condition before `\\abort` in the script, and its variables",
        limits=True,
    )
    OUTAGE = WarningText(
        "for a while no client had a session, until a transaction ended ok again; the numbers "
        "include that time",
        "see the timeline of the run, and the server's log",
        limits=True,
        is_unsteady=True,
    )
    STALLED = WarningText(
        "no transaction ended for at least one second, and ten times their median latency, while "
        "clients waited for an answer",
        "see the server's log and the machine's storage at these seconds (checkpoints, locks, "
        "flushes); {longer}, to see whether it happens again",
        limits=True,
    )
    CLIENT_SUSPENDED = WarningText(
        "this program did not run for a while (stopped by a signal, a paused container or virtual "
        "machine, or no free CPU): these seconds do not measure the system",
        "run it again on a machine that is not paused, with fewer other programs",
        limits=True,
        is_unsteady=True,
    )
    LONG_DRAIN = WarningText(
        f"more than {units.share(DRAIN_LIMIT)} of the measurement was spent waiting for the last "
        "transactions: most clients were idle then, and throughput is divided by all of it",
        "{longer}; the timeline shows the throughput while all clients worked",
        limits=True,
        is_unsteady=True,
    )
    OTHER_PROGRAMS = WarningText(
        f"programs other than client and server used more than {units.share(OTHERS_LIMIT)} of the "
        "machine's CPUs during the measurement: nothing is decided from this run, except a ratio "
        "that is greater than they can explain",
        "stop other programs on this machine (top shows them) and measure again",
        limits=True,
        forbids_deciding=True,
    )
    CLIENT_WAITED_FOR_PROCESSOR = WarningText(
        "the client's threads had to wait for a CPU while other programs kept the machine busy",
        "stop other programs on this machine, or reserve CPUs for the run",
        limits=True,
    )
    STARVED_CLIENTS = WarningText(
        f"some clients ended less than {units.share(service_levels.STARVED_SHARE)} "
        "of the transactions "
        "of the most served one; percentiles hardly show their waiting",
        "use fewer clients if only one can write at a time; look for unfair locks; see the "
        "transactions per client and the oldest in flight",
        limits=True,
        is_unsteady=True,
    )
    PAUSES_TOO_LONG = WarningText(
        "no client ended more than one transaction before its pause outlasted the measurement: "
        "the throughput depends on the duration, not on the system",
        "{longer}, or a shorter {--think-time} or {--keying-time}",
        limits=True,
    )
    UNACCOUNTED_TIME = WarningText(
        f"more than {units.share(service_levels.LAW_LIMIT)} "
        "of the clients' time is not accounted for: "
        "Little's law, clients = throughput x (latency + pause), does not hold",
        "fewer clients if only one can write at a time, since the others wait however long the "
        "run is; otherwise {longer}, so that transactions begun in the warm-up weigh less",
        limits=True,
        is_unsteady=True,
    )
    LATE_ARRIVALS = WarningText(
        "transactions were late, or could not start in time",
        "a lower {--offered-rate}, more clients, or a longer {--latency-limit}",
    )
    OFFERED_RATE_NOT_REACHED = WarningText(
        "the system did not keep up with the offered rate: latency grows as long as the run lasts",
        "a lower {--offered-rate}; the highest rate that is reached is the system's capacity",
        limits=True,
        is_of_other_work=True,
    )
    SKIPPED_BY_LATENCY_LIMIT = WarningText(
        "some offered transactions could not start within the latency limit and were skipped: "
        "the numbers belong to a lower rate than the offered one",
        "a lower {--offered-rate}, more clients, or a longer {--latency-limit}",
        limits=True,
        is_of_other_work=True,
    )
    SHORT_WARM_UP = WarningText(
        "throughput at the beginning of the measurement differs from the rest",
        "the longer {--warm-up} that is named with the run",
        limits=True,
    )
    DRIFT = WarningText(
        f"throughput rose or fell steadily, by more than {units.share(DRIFT_LIMIT)} within the "
        "measurement: its mean depends on how long was measured",
        "if it rises to a level, a longer {--warm-up}; else {longer}, and see what grows (the "
        "data, an index, a queue of background work)",
        limits=True,
    )
    OUTLYING_SECONDS = WarningText(
        "in single seconds throughput was far from that of all others, more than chance explains; "
        "they are part of every number",
        "see the server's log and the machine at these seconds; {longer}, to see whether they "
        "return",
    )
    OUTLYING_REPETITION = WarningText(
        "one repetition is far from all others, more than chance explains; it is part of every "
        "number",
        "see what else the machine did at that time; more {--repetitions}",
    )
    SHORT_MEASUREMENT = WarningText(
        f"a measurement of less than {SHORTEST_S} s shows little of the background work of a "
        "system (checkpoints, vacuum, compaction)",
        "{longer}",
        limits=True,
    )
    SHORT_PASSES = WarningText(
        f"all passes together took less than {SHORTEST_PASSES_S} s: the start of the clients and "
        "single delays of the machine are a large part of that",
        "more passes, or more data",
        limits=True,
    )
    GENERATOR_LOST = WarningText(
        "a load generator was lost, and the others went on without its clients: the load was less "
        "than the number of clients says",
        "see the memory and the network of its machine",
        limits=True,
        is_of_other_work=True,
        forbids_deciding=True,
    )
    CLOCKS_APART = WarningText(
        "the clocks of the load generators are not known to agree within "
        f"{CLOCKS_UNCERTAIN_NS / 1e6:g} ms, or drift by more than {CLOCKS_DRIFT_MS_PER_MIN:g} ms a "
        "minute: what is shown by the second may be of two seconds (each latency is of one clock)",
        "generators nearer to this machine, or a running time service (NTP, PTP) on each",
    )
    STALE_REPLICA = WarningText(
        "what was written to the primary was read at a replica only more than "
        f"{STALE_NS / 1e9:g} s later (99th percentile): its clients read old data, and it may not "
        "keep up with the primary",
        "fewer writers, or a replica that keeps up; the report has how stale each one was",
    )
    CLIENT_BUSY = WarningText(
        f"the client used more than {units.share(CLIENT_SHARE_LIMIT)} of the machine's CPUs, or "
        f"its threads were busy more than {units.share(CLIENT_THREADS_LIMIT)} of the time: the "
        "numbers depend on the client's own speed",
        "fewer clients, or more {--threads} if CPUs are idle",
        limits=True,
    )
    NEAR_THE_CLIENT_CEILING = WarningText(
        f"more than {units.share(service_levels.CEILING_LIMIT)} of the calibrated ceiling of this "
        "machine's client: the numbers depend on the client's own speed",
        "more {--threads} if CPUs are idle, or clients on another machine",
        limits=True,
    )
    ANSWERS_DIFFER = WarningText(
        "the same statements had different answers: the systems did different work, so these "
        "numbers are not ranked",
        "load the same rows into each of them; what depends on the time or on the order of rows "
        "belongs in no script that compares systems",
        limits=True,
        is_of_other_work=True,
    )
    SETTINGS_DIFFER = WarningText(
        "a setting has another value than was asked for",
        "see the allowed values of this setting in the system's manual",
    )
    PROBES_DIFFER = WarningText(
        f"a storage was probed again when the experiment was continued, and the faster probe is "
        f"more than {UNEVEN:g} times the slower: the storage, or what else used it, was not the "
        "same for all runs",
        "compare only runs of one probe; for all of them a new experiment, without interruption",
    )
    ROUND_TRIP_DIFFERS = WarningText(
        f"the measured round trip differs by more than {units.share(RTT_LIMIT)} from the one that "
        "was asked for: the numbers belong to the measured one",
        "stop other programs on this machine, or a longer {--rtt}, of which the proxy's own time "
        "is a smaller part",
        limits=True,
    )
    REPORT_UNREAD = WarningText(
        "what a step reported cannot be read here: its metrics and warnings are missing",
        "install the package that the experiment was run with; --detail shows the report as it is "
        "kept",
    )
    RANGE_EXCEEDED = WarningText(
        "latencies above one hour are counted, but not in the percentiles",
        "fewer clients or passes",
    )

    @property
    def id(self) -> str:
        """``fits-in-memory``, as records and reports spell it."""
        return self.name.lower().replace("_", "-")


@cache
def texts() -> Mapping[str, WarningText]:
    """Every warning by its name; those that reports of steps bring are the last."""
    found = {kind.id: kind.value for kind in WarningKind}
    for report in registry.step_reports().values():
        for name, text in report.warning_texts.items():
            found.setdefault(name, text)
    return found


def _names(has: Callable[[WarningText], bool]) -> frozenset[str]:
    """Of the warnings that have it."""
    return frozenset(name for name, text in texts().items() if has(text))


@cache
def _places() -> Mapping[str, int]:
    """Name → its place among all warnings of a report."""
    ordered = sorted(
        texts(), key=lambda name: (not texts()[name].limits, not texts()[name].is_of_other_work)
    )
    return {name: place for place, name in enumerate(ordered)}


def place(name: str) -> int:
    """The place of a warning among those of a report: those of other work than was asked for, then
    those that limit a number, then the others, then kinds that this version does not know."""
    return _places().get(name, len(_places()))


@cache
def limiting() -> frozenset[str]:
    """Names of those that make a number unreliable."""
    return _names(lambda text: text.limits)


@cache
def undeciding() -> frozenset[str]:
    """Names of those after which nothing is decided."""
    return _names(lambda text: text.forbids_deciding)


@cache
def unsteady() -> frozenset[str]:
    """Names of those whose throughput is not the rate of clients at work."""
    return _names(lambda text: text.is_unsteady)

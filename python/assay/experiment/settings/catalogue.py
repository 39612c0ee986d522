"""The settings of an experiment, each declared once: its type, its names in the three places where
it may be written, its help, what it sets and what it applies to.

The options of the command line (`assay.cli.options.setting_options`), the arguments of `assay.run`
(`assay.api.asked`), the keys of experiment files that a setting alone decides
(`assay.experiment.settings.levels`) and their descriptions in the JSON Schema, the refusal of
unused settings and the spelling of errors come from here. One list, so the file is long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final

from msgspec import structs

from assay.contracts import factors, languages
from assay.contracts.driving import (
    ARRIVALS,
    CACHES,
    CLIENT_PROGRAMS,
    CONNECTIONS,
    ISOLATION_LEVELS,
    ON_LOST,
    READS,
    RECONNECT_TIMEOUT_S,
)
from assay.contracts.experiment import ENCODINGS, PROTOCOLS
from assay.contracts.factors import Factor
from assay.experiment.choices import checked_choices, server_limits, storage_words
from assay.experiment.settings import applies
from assay.experiment.settings.client_options import offered_rates, pause, reads
from assay.experiment.settings.setting import IN_NO_FILE, Heading, Setting
from assay.experiment.settings.value_kinds import (
    Assignments,
    Choice,
    FileName,
    FileNames,
    Flag,
    Levels,
    NameList,
    NumberOf,
    Text,
)
from assay.text import quantities, rates
from assay.text.sizes import size_word
from assay.text.units import exact_duration
from assay.workload.driving import NO_PAUSE


def _declared(
    default: Any,
    *declared: Any,
    factor: Factor | None = None,
    because: str = "",
    **further: Any,
) -> Any:
    """``factor``: whose levels it sets. ``because``: why it applies to none of the systems, of each
    of which ``why_not`` says why it cannot be given a level."""
    if factor is not None:
        further = {**further, "factor": factor, "experiment_field": factor.asked}
    if because:
        further["applies"] = applies.to_machines(further["why_not"], because)
    return field(default=default, metadata={"setting": Setting(*declared, **further)})


@dataclass(frozen=True)
class Words:
    """What a command line says of an experiment; None, empty or False: it does not say it. In the
    order of `--help`."""

    target: str
    """``WORKLOAD``, ``WORKLOAD.TEST``, a workload folder, a script (`languages.ENDINGS`), an
    experiment file ``*.toml``; or nothing, for ``script`` alone."""
    on: tuple[str, ...] = _declared(
        (), NameList(), Heading.WHAT, metavar="SYSTEM,…", key="systems",
        help="Systems: NAME (see `assay list systems`), NAME@VERSION, NAME[key=value] or URL; "
        "old=URL names one, URL[storage=NAME] says its storage.",
        file_help="Systems: names from `assay list systems`, NAME@VERSION, NAME[key=value], or "
        "URLs of running servers.",
    )  # fmt: skip
    storage: tuple[str, ...] = _declared(
        (), NameList(), Heading.WHAT, metavar="STORAGE,…", key="storages", factor=factors.STORAGE,
        read=lambda words: storage_words.storage_choices(words) or None,
        applies=applies.TO_OWN_SERVERS,
        help="Storages: KIND, KIND[key=value,…] or KIND:DIRECTORY, NAME= before it to name "
        "it; see `assay list storages --detail`. [default: here]",
        file_help="Storages: KIND, KIND[key=value,…], KIND:DIRECTORY, or names that are declared "
        "in [storage.NAME].",
    )  # fmt: skip
    erase: bool = _declared(
        False, Flag(destroys=True), Heading.WHAT, key=IN_NO_FILE, applies=applies.TO_DEVICES,
        help="Allow the devices of the storages (device:, raw:) to be erased.",
    )  # fmt: skip
    price: tuple[str, ...] = _declared(
        (), NameList(), Heading.WHAT, metavar="NAME=PRICE,…",
        help="Price of a storage (ssd=0.60EUR/GB), which divides its speed-up, or of a whole "
        "system (SYSTEM=4500EUR), divided by what a --goal found.",
        file_help="What whole systems cost (SYSTEM=4500EUR): a price is divided by what a goal "
        "found. Those of storages may be in their tables: price_per_gb.",
    )  # fmt: skip
    required_rate_per_s: float | None = _declared(
        None, NumberOf(quantities.REQUIRED_RATE_PER_S), Heading.WHAT, metavar="R",
        experiment_field="required_rate_per_s", applies=applies.TO_PRICES,
        help="Transactions per second that are needed: with --price, the report says which storage "
        "keeps them for the least money.",
        file_help="Transactions per second that a storage must keep to be recommended by its "
        "price.",
    )  # fmt: skip
    cache: str | None = _declared(
        None, Levels(CACHES, "state of the cache"), Heading.WHAT, metavar="STATE,…",
        factor=factors.CACHE, is_of_tests=True, applies=applies.TO_CACHES,
        help="State of the caches when a measurement begins, each a cell: cold, cold-machine (all "
        "files), warm or as-is. [default: the test's; as-is]",
    )  # fmt: skip
    set: tuple[str, ...] = _declared(
        (), Assignments(), Heading.WHAT, metavar="KEY=VALUE,…", short="-D", key="parameters",
        help="Workload parameter or script variable (copies=1,10), or a server's setting "
        "(SYSTEM.KEY=VALUE); each value is a cell.",
        file_help="Parameters of the workload or variables of a script; a list gives the levels "
        "of a factor.",
    )  # fmt: skip
    script: tuple[str, ...] = _declared(
        (), FileNames(), Heading.WHAT, metavar="FILE[@WEIGHT]", short="-f",
        help=f"Script ({languages.files('')}; `-`: standard input) in place of the test's, or "
        "alone; further ones join the mix, A.sql,B.sql measures each.",
        file_help="Script files in place of the test's own, or without a workload: FILE[@WEIGHT], "
        "relative to this file; \"A.sql,B.sql\" measures each by itself.",
    )  # fmt: skip
    scale: int | None = _declared(
        None, NumberOf(quantities.SCALE), Heading.WHAT, metavar="N", short="-s", is_short_for="set",
        key=IN_NO_FILE, help="Same as --set scale=N. [default: 1]",
    )  # fmt: skip
    input: tuple[str, ...] = _declared(
        (), FileNames(), Heading.WHAT, metavar="PATH", other_option="--bib",
        experiment_field="input_paths",
        applies=applies.TO_INPUT,
        help="File or folder that the workload's rows are read from; may be repeated.",
    )  # fmt: skip
    encoding: str | None = _declared(
        None, Choice(ENCODINGS), Heading.WHAT, experiment_field="encoding",
        applies=applies.TO_INPUT,
        help=f"Encoding of the --input files. [default: {ENCODINGS[0]}]",
    )  # fmt: skip
    keep_going: bool = _declared(
        False, Flag(), Heading.WHAT, experiment_field="keep_going", applies=applies.TO_INPUT,
        help="Skip and count bad entries of --input files instead of stopping.",
    )  # fmt: skip
    feed: str | None = _declared(
        None, FileName(), Heading.WHAT, metavar="FILE", experiment_field="feed",
        applies=applies.TO_NO_SCRIPTS,
        help="Plain SQL file whose statements clients send instead of the test's scripts.",
    )  # fmt: skip
    only: tuple[str, ...] = _declared(
        (), NameList(), Heading.WHAT, metavar="PATTERN,…", key=IN_NO_FILE,
        help="Execute only the cells whose test, system or storage has one of these names (* for "
        "any characters); each further --only narrows the choice.",
    )  # fmt: skip
    quick: bool = _declared(
        False, Flag(), Heading.WHAT, key=IN_NO_FILE,
        help="Run the quick version, for a laptop: with the quick values of the workload, or of "
        "[quick] in the file; the title says so.",
    )  # fmt: skip

    memory: str | None = _declared(
        None, Levels(quantities.MEMORY_BYTES, may_be_none=True, example="8GB,1GB"),
        Heading.MACHINE, metavar="SIZE,…", factor=factors.MEMORY, show=size_word, is_of_tests=True,
        why_not=server_limits.why_memory_not_limited,
        because="only a server that Assay starts can be limited, or a library in the client's own "
        "process that bounds its memory",
        help="Memory of a private server, page cache included (8GB,1GB; none: all), each size a "
        "cell.",
    )  # fmt: skip
    cpus: str | None = _declared(
        None, Levels(quantities.CPUS, may_be_none=True, example="2,1"), Heading.MACHINE,
        metavar="N,…", factor=factors.CPUS, show="{:.12g}".format, is_of_tests=True,
        why_not=server_limits.why_cpus_not_limited,
        because="only a server that Assay starts can be limited, not one that is running already, "
        "and not a library in the client's own process",
        help="Processors of a private server (2,0.5; none: all), each number a cell.",
    )  # fmt: skip
    rtt: str | None = _declared(
        None, Levels(quantities.RTT_S, example="0,1ms"), Heading.MACHINE, metavar="D,…",
        factor=factors.RTT, show=exact_duration, is_of_tests=True,
        why_not=server_limits.why_not_moved,
        because="its systems run in the client's own process",
        help="Round-trip time to add between clients and server (0,1ms), each a cell: a proxy "
        "delays every byte by half of it.",
    )  # fmt: skip
    log_storage: tuple[str, ...] = _declared(
        (), NameList(), Heading.MACHINE, metavar="STORAGE,…",
        factor=factors.LOG_STORAGE, why_not=server_limits.why_log_not_apart,
        because="none of its systems is a server that Assay starts with its log on a storage of "
        "its own",
        help="Storage of the server's log (write-ahead, redo and binary log), each a cell: as "
        "--storage has it, a name from there, or none: with the data.",
        file_help="Storages of the server's log (write-ahead, redo and binary log), each a cell: "
        "as in storages, names that are declared in [storage.NAME], or none: with the data.",
    )  # fmt: skip

    clients: str | None = _declared(
        None, Levels(quantities.CLIENTS, may_be_of_groups=True), Heading.CLIENTS, metavar="N,…",
        short="-c", is_of_tests=True, applies=applies.TO_CLIENTS,
        known_as=("users", "threads", "threadcount", "terminals"),
        help="Concurrent clients, each number a cell; by group: readers=8,writers=2. [default: "
        "the test's]",
    )  # fmt: skip
    client_program: str | None = _declared(
        None, Levels(CLIENT_PROGRAMS, "client program"), Heading.CLIENTS, metavar="PROGRAM,…",
        factor=factors.CLIENT_PROGRAM,
        is_of_tests=True,
        help="What clients are, each a cell: engine (Assay's own) or native (a process of the "
        "system's client program per client). [default: engine]",
    )  # fmt: skip
    threads: int | None = _declared(
        None, NumberOf(quantities.THREADS), Heading.CLIENTS, metavar="N", short="-j",
        experiment_field="threads",
        applies=applies.TO_ALL_SCRIPTS,
        help="Client threads, at most one per client; 0: one per processor. [default: 0]",
    )  # fmt: skip
    generators: str | None = _declared(
        None, Levels(quantities.GENERATORS), Heading.CLIENTS, metavar="N,…",
        factor=factors.GENERATORS, is_of_tests=True, applies=applies.TO_ALL_SCRIPTS,
        help="Load generators among which the clients are distributed, each number a cell; 1: "
        "Assay's own process. [default: 1]",
        file_help="Load generators among which the clients are distributed, each number a cell; 1: "
        "Assay's own process.",
    )  # fmt: skip
    fleet: str | None = _declared(
        None, Text(), Heading.CLIENTS, metavar="ray://HOST:PORT", key=IN_NO_FILE,
        driving_field="fleet", applies=applies.TO_GENERATORS,
        help="Start each load generator on another machine of this Ray cluster, of which this "
        "machine is one. [default: on this machine]",
    )  # fmt: skip
    on_lost: str | None = _declared(
        None, Choice(ON_LOST), Heading.CLIENTS, key="drive.", driving_field="on_lost",
        applies=applies.TO_GENERATORS,
        help="What the others do where a load generator is lost: end (the run is invalid), or "
        "continue (indicative). [default: end]",
        file_help="What the others do where a load generator is lost: end (the run is invalid), "
        "or continue (indicative).",
    )  # fmt: skip
    duration_s: float | None = _declared(
        None, NumberOf(quantities.DURATION_S), Heading.CLIENTS, metavar="S", short="-T",
        key="drive.", driving_field="duration_s", applies=applies.TO_A_TIME,
        help="How long to measure: seconds, or with a unit (500ms, 5s, 2min, 1h), as in all "
        "options of time. [default: the test's; 10 for a script]",
    )  # fmt: skip
    transactions: int | None = _declared(
        None, NumberOf(quantities.TRANSACTIONS), Heading.CLIENTS, metavar="N", short="-t",
        key="drive.",
        driving_field="transactions", applies=applies.TO_SCRIPTS,
        help="Transactions per client; with --duration, whichever ends first.",
    )  # fmt: skip
    warm_up_s: float | None = _declared(
        None, NumberOf(quantities.WAIT_S), Heading.CLIENTS, metavar="S", key="drive.",
        driving_field="warm_up_s",
        applies=applies.TO_WORK_BEFORE,
        help="Seconds of work before the measurement; none with --cache cold. [default: the "
        "test's]",
    )  # fmt: skip
    ramp_up_s: float | None = _declared(
        None, NumberOf(quantities.WAIT_S), Heading.CLIENTS, metavar="S", key="drive.",
        driving_field="ramp_up_s",
        applies=applies.TO_WORK_BEFORE,
        help="Seconds over which clients start one after another, before the warm-up. [default: "
        "the test's]",
    )  # fmt: skip
    drain_s: float | None = _declared(
        None, NumberOf(quantities.WAIT_S), Heading.CLIENTS, metavar="S", key="drive.",
        driving_field="drain_s",
        applies=applies.TO_SCRIPTS,
        help="Seconds to wait at the end for open transactions, which are then cancelled. "
        "[default: the test's; 10]",
    )  # fmt: skip
    statement_limit_s: float | None = _declared(
        None, NumberOf(quantities.STATEMENT_LIMIT_S), Heading.CLIENTS, metavar="S", key="drive.",
        driving_field="statement_limit_s",
        applies=applies.TO_SCRIPTS,
        help="Time after which a statement is cancelled: its transaction then fails, and its "
        "client goes on. [default: the test's; 0: none]",
        file_help="Seconds after which a statement is cancelled: its transaction then fails, and "
        "its client goes on; 0: none.",
    )  # fmt: skip

    arrival: str | None = _declared(
        None, Choice(ARRIVALS), Heading.ARRIVALS, key="drive.", driving_field="arrival",
        applies=applies.TO_SCRIPTS,
        help="closed: a client starts when its last transaction has ended; constant, poisson: at "
        "the offered rate. [default: the test's]",
    )  # fmt: skip
    offered_rate_per_s: str | None = _declared(
        None, Levels(quantities.OFFERED_RATE_PER_S), Heading.ARRIVALS, metavar="R,…",
        short="-R", key="drive.", factor=factors.OFFERED_RATE, is_of_tests=True,
        read=offered_rates, show=rates.shown, applies=applies.TO_SCRIPTS,
        help="Transactions per second of all clients, each rate a cell; implies --arrival "
        "constant. In time: 0s:200,60s:800; a ramp: 60s:200..800,90s:800.",
    )  # fmt: skip
    latency_limit_s: float | None = _declared(
        None, NumberOf(quantities.LATENCY_LIMIT_S, of_option=quantities.LATENCY_LIMIT_MS),
        Heading.ARRIVALS, metavar="MS", short="-L", key="drive.", driving_field="latency_limit_s",
        applies=applies.TO_SCRIPTS,
        help="Milliseconds after which a transaction is late, or skipped if it could not start. "
        "[default: the test's; 0: none]",
        file_help="Seconds after which a transaction is late, or skipped if it could not start; "
        "0: none.",
    )  # fmt: skip
    goal: str | None = _declared(
        None, Text(), Heading.ARRIVALS, metavar="CONDITION", experiment_field="goal",
        applies=applies.TO_SCRIPTS,
        help="Find the highest offered rate that meets it ('p99 < 5ms'), by bisection; "
        "--offered-rate then says the least and the greatest to try.",
        file_help="Find the highest offered rate that meets this condition (\"p99 < 5ms\"), by "
        "bisection; offered_rate_per_s then has the least and the greatest rate to try.",
    )  # fmt: skip
    goal_over: str | None = _declared(
        None, Text(), Heading.ARRIVALS, metavar="NAME", experiment_field="goal_over",
        applies=applies.TO_GOALS,
        help="Search the highest level of this parameter that meets the --goal, among those of "
        "--set, in place of the rate.",
        file_help="Search the highest level of this parameter that meets the goal, among its "
        "levels under [parameters], in place of the offered rate.",
    )  # fmt: skip
    goal_tolerance: float | None = _declared(
        None, NumberOf(quantities.GOAL_TOLERANCE), Heading.ARRIVALS, metavar="P%",
        experiment_field="goal_tolerance", applies=applies.TO_GOALS,
        help="How close the highest rate that meets the --goal and the lowest that does not must "
        "be. [default: 5%]",
        file_help="How close the highest rate that meets the goal and the lowest that does not "
        "must be.",
    )  # fmt: skip
    goal_trials: int | None = _declared(
        None, NumberOf(quantities.GOAL_TRIALS), Heading.ARRIVALS, metavar="N",
        experiment_field="goal_trials", applies=applies.TO_GOALS,
        help="The most offered rates to try for the --goal, of each cell. [default: 16]",
        file_help="The most offered rates to try for the goal, of each cell.",
    )  # fmt: skip
    think_time: str | None = _declared(
        None, Text((NO_PAUSE,)), Heading.ARRIVALS, metavar="D", key="drive.",
        driving_field="think_time", read=lambda word: pause("think_time", word),
        applies=applies.TO_SCRIPTS,
        help="Pause after each transaction: a distribution such as exponential:1s, or none. "
        "[default: the test's]",
    )  # fmt: skip
    keying_time: str | None = _declared(
        None, Text((NO_PAUSE,)), Heading.ARRIVALS, metavar="D", key="drive.",
        driving_field="keying_time", read=lambda word: pause("keying_time", word),
        applies=applies.TO_SCRIPTS,
        help="Pause before each transaction, written like --think-time.",
    )  # fmt: skip

    protocol: str | None = _declared(
        None, Choice(PROTOCOLS), Heading.SESSIONS, short="-M", experiment_field="protocol",
        is_of_tests=True,
        applies=applies.TO_ALL_SCRIPTS,
        help="How statements are sent, as in pgbench. [default: simple for a script, else the "
        "test's]",
    )  # fmt: skip
    isolation: str | None = _declared(
        None, Choice(ISOLATION_LEVELS), Heading.SESSIONS, metavar="LEVEL", key="drive.",
        driving_field="isolation", applies=applies.TO_SCRIPTS,
        help=f"Isolation level: {', '.join(ISOLATION_LEVELS)}. [default: the test's]",
    )  # fmt: skip
    connection: str | None = _declared(
        None, Choice(CONNECTIONS), Heading.SESSIONS, key="drive.", driving_field="connection",
        applies=applies.TO_SCRIPTS,
        help="kept: one session per client; per transaction: a new one each time. [default: the "
        "test's]",
    )  # fmt: skip
    read: str | None = _declared(
        None, Text(READS), Heading.SESSIONS, metavar="WHERE", key="drive.", driving_field="read",
        read=reads, applies=applies.TO_SCRIPTS,
        help="Of several servers in a URL (//a,b,c/), where scripts go: primary, replica, any; "
        "one script: SCRIPT=replica. [default: the test's]",
    )  # fmt: skip
    reconnect: bool = _declared(
        False, Flag(), Heading.SESSIONS, key="drive.", driving_field="reconnect_timeout_s",
        read=lambda _: RECONNECT_TIMEOUT_S, applies=applies.TO_SCRIPTS,
        help="Try for a minute to reconnect clients that lose their connection.",
    )  # fmt: skip
    retries: int | None = _declared(
        None, NumberOf(quantities.RETRIES), Heading.SESSIONS, metavar="N", key="drive.",
        driving_field="retries",
        applies=applies.TO_SCRIPTS,
        help="Retries after a deadlock or a serialization failure. [default: the test's]",
    )  # fmt: skip
    per_statement: bool = _declared(
        False, Flag(), Heading.SESSIONS, key="drive.", driving_field="per_statement",
        applies=applies.TO_SCRIPTS,
        help="Time each statement as well.",
    )  # fmt: skip
    allow_shell: bool = _declared(
        False, Flag(), Heading.SESSIONS, key="drive.", driving_field="allow_shell",
        applies=applies.TO_SCRIPTS,
        help=r"Let scripts run programs on this machine (\shell, \setshell).",
    )  # fmt: skip

    trust: bool = _declared(
        False, Flag(destroys=True), Heading.SESSIONS, key=IN_NO_FILE,
        help="Run a capsule with all your rights: what it runs is then not confined.",
    )  # fmt: skip
    repetitions: int | None = _declared(
        None, NumberOf(quantities.REPETITIONS), Heading.REPETITIONS, metavar="N",
        experiment_field="repetitions",
        is_of_tests=True,
        help="Runs of each cell; with --precision or --budget the minimum. [default: 1]",
    )  # fmt: skip
    precision: float | None = _declared(
        None, NumberOf(quantities.PRECISION), Heading.REPETITIONS, metavar="P%",
        experiment_field="precision",
        help="Repeat each cell, 3 to 30 times, until its mean is known to within this share: half "
        "the width of its 95 % interval.",
    )  # fmt: skip
    budget_s: float | None = _declared(
        None, NumberOf(quantities.BUDGET_S), Heading.REPETITIONS, metavar="S", key="budget",
        experiment_field="budget_s",
        help="Begin no repetition that would end later than this (30min); without --precision, as "
        "many as fit, up to 30. Each cell is run at least once.",
    )  # fmt: skip
    order: str | None = _declared(
        None, Choice(checked_choices.ORDERS), Heading.REPETITIONS, experiment_field="order",
        help="interleaved: systems take turns; randomized: in a random order, by the seed; "
        f"sequential: one after the other. [default: {checked_choices.ORDERS[0]}]",
    )  # fmt: skip
    seed: int | None = _declared(
        None, NumberOf(quantities.SEED), Heading.REPETITIONS, metavar="N", experiment_field="seed",
        help="Seed of all random streams. [default: 1]",
    )  # fmt: skip

    log: str | None = _declared(
        None, FileName(), Heading.OUTPUT, metavar="FILE", key=IN_NO_FILE, experiment_field="log",
        applies=applies.TO_ALL_SCRIPTS,
        help="File for single transactions (type, client, times, outcome): CSV, or Parquet by its "
        "name. New, or that of the experiment that is continued.",
    )  # fmt: skip
    log_sample: float | None = _declared(
        None, NumberOf(quantities.LOG_SAMPLE), Heading.OUTPUT, metavar="SHARE", key=IN_NO_FILE,
        help="Share of the transactions that --log writes, chosen by the seed. [default: 1]",
    )  # fmt: skip

    def has(self, name: str) -> bool:
        """Whether the setting was given."""
        given = getattr(self, name)
        return not (given is None or given is False or given == ())


SETTINGS: Final[Mapping[str, Setting]] = {
    one.name: structs.replace(one.metadata["setting"], name=one.name)
    for one in fields(Words)
    if "setting" in one.metadata
}
"""By the fields of `Words`."""

NEW = Setting(
    Flag(), Heading.WHAT, name="new", key=IN_NO_FILE,
    help="Begin a new experiment, even if the last one of FILE.toml is unfinished.",
)  # fmt: skip
LOAD_SESSIONS = Setting(
    NumberOf(quantities.LOAD_SESSIONS), Heading.LOADING, name="load_sessions", metavar="N",
    key=IN_NO_FILE,
    help="Parallel sessions that load generated rows. [default: half the processors]",
)  # fmt: skip
VERIFY = Setting(
    Flag(), Heading.LOADING, name="verify", key=IN_NO_FILE,
    help="Read every loaded table back and compare it with what was generated.",
)  # fmt: skip
DATASETS = Setting(
    FileName(), Heading.LOADING, name="datasets", metavar="FOLDER", key=IN_NO_FILE,
    help="Folder for copies of loaded data, which later runs restore instead of loading.",
)  # fmt: skip
PROBE_S = Setting(
    NumberOf(quantities.PROBE_OR_NONE_S), Heading.STORAGES, name="probe_s",
    option_word="probe_seconds",
    metavar="S", key=IN_NO_FILE,
    help="About how long to measure reads, writes and flushes of each storage before its first "
    "use, with fio.",
)  # fmt: skip
DEFAULT_FILE_NAME = "assay-records.sqlite"
RECORDS = Setting(
    FileName(), Heading.OUTPUT, name="records", metavar="PATH", key=IN_NO_FILE,
    help="Record file in which all runs are kept.",
)  # fmt: skip

OPTIONS: Final[Mapping[str, Setting]] = {
    setting.word: setting
    for setting in (
        *(setting for setting in SETTINGS.values() if not setting.is_short_for),
        NEW, LOAD_SESSIONS, VERIFY, DATASETS, PROBE_S, RECORDS,
    )
}  # fmt: skip
"""By the names of the options: those that `assay run` and `assay.run` both have."""

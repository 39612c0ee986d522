"""The settings of an experiment, each declared once: its type, its names in the three places where
it may be written, its help, what it sets and what it applies to. Those of how clients are driven
are declared at the fields of `assay.contracts.driving.Driving`, all others here.

The options of the command line (`assay.cli.options.shared_options`), the arguments of `assay.run`
(`assay.api.asked`), the keys of experiment files that a setting alone decides
(`assay.experiment.file_keys`) and their descriptions in the JSON Schema, the refusal of
unused settings and the spelling of errors come from here. One list, so the file is long.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, get_args

from msgspec import Struct, defstruct, structs

from assay.contracts import capabilities, driving, factors
from assay.contracts.driving import CACHES, CLIENT_PROGRAMS
from assay.contracts.experiment import ENCODINGS, PROTOCOLS
from assay.contracts.factors import Factor, Part
from assay.contracts.setting import (
    IN_NO_FILE,
    Assignments,
    Choice,
    FileName,
    FileNames,
    Flag,
    Heading,
    Levels,
    NameList,
    NumberOf,
    Setting,
    Text,
)
from assay.experiment import setting_values
from assay.experiment.choices import checked_choices, server_limits, storage_words
from assay.text import quantities
from assay.text.units import exact_duration, size_word

# Annotations are values here, not text: `SETTINGS` is made of them.


def _declared(
    *declared: Any, factor: Factor | None = None, because: str = "", **further: Any
) -> Setting:
    """``factor``: whose levels it sets. ``because``: why it applies to none of the systems, of each
    of which ``why_not`` says why it cannot be given a level."""
    if factor is not None:
        further = {**further, "factor": factor, "experiment_field": factor.asked}
    if because:
        further["applies"] = setting_values.to_machines(further["why_not"], because)
    return Setting(*declared, **further)


class _Words(Struct, frozen=True):
    """What is said of all but how clients are driven."""

    target: str
    """``WORKLOAD``, ``WORKLOAD.TEST``, a workload folder, a script (`languages.ENDINGS`), an
    experiment file ``*.toml``; or nothing, for ``script`` alone."""
    on: Annotated[tuple[str, ...], _declared(
        NameList(), Heading.WHAT, metavar="SYSTEM,…", key="systems",
        help="Systems: NAME (`assay list systems`), NAME@VERSION, NAME:DIRECTORY, NAME[key=value], "
        "URL; old=URL names one, URL[storage=NAME] its storage.",
        file_help="Systems: names from `assay list systems`, NAME@VERSION, NAME:DIRECTORY of its "
        "programs, NAME[key=value], or URLs of running servers.",
    )] = ()  # fmt: skip
    storage: Annotated[tuple[str, ...], _declared(
        NameList(), Heading.WHAT, metavar="STORAGE,…", key="storages", factor=factors.STORAGE,
        read=lambda words: storage_words.storage_choices(words) or None,
        applies=setting_values.TO_OWN_SERVERS,
        help="Storages: KIND, KIND[key=value,…] or KIND:DIRECTORY, NAME= before it to name "
        "it; see `assay list storages --detail`. [default: here]",
        file_help="Storages: KIND, KIND[key=value,…], KIND:DIRECTORY, or names that are declared "
        "in [storage.NAME].",
    )] = ()  # fmt: skip
    erase: Annotated[bool, _declared(
        Flag(destroys=True), Heading.WHAT, key=IN_NO_FILE, applies=setting_values.TO_DEVICES,
        help="Allow the devices of the storages (device:, raw:) to be erased.",
    )] = False  # fmt: skip
    price: Annotated[tuple[str, ...], _declared(
        NameList(), Heading.WHAT, metavar="NAME=PRICE,…",
        help="Price of a storage (ssd=0.60EUR/GB), which divides its speed-up, or of a whole "
        "system (SYSTEM=4500EUR), divided by what a --goal found.",
        file_help="What whole systems cost (SYSTEM=4500EUR): a price is divided by what a goal "
        "found. Those of storages may be in their tables: price_per_gb.",
    )] = ()  # fmt: skip
    required_rate_per_s: Annotated[float | None, _declared(
        NumberOf(quantities.REQUIRED_RATE_PER_S), Heading.WHAT, metavar="R",
        experiment_field="required_rate_per_s", applies=setting_values.TO_PRICES,
        help="Transactions per second that are needed: with --price, the report says which storage "
        "keeps them for the least money.",
        file_help="Transactions per second that a storage must keep to be recommended by its "
        "price.",
    )] = None  # fmt: skip
    cache: Annotated[str | None, _declared(
        Levels(CACHES, "state of the cache"), Heading.WHAT, metavar="STATE,…",
        factor=factors.CACHE, is_of_tests=True, applies=setting_values.TO_CACHES,
        help="State of the caches when a measurement begins, each a cell: cold, cold-machine (all "
        "files), warm or as-is. [default: the test's; as-is]",
    )] = None  # fmt: skip
    set: Annotated[tuple[str, ...], _declared(
        Assignments(), Heading.WHAT, metavar="KEY=VALUE,…", short="-D", key="parameters",
        help="Workload parameter or script variable (copies=1,10), or a server's setting "
        "(SYSTEM.KEY=VALUE); each value is a cell.",
        file_help="Parameters of the workload or variables of a script; a list gives the levels "
        "of a factor.",
    )] = ()  # fmt: skip
    script: Annotated[tuple[str, ...], _declared(
        FileNames(), Heading.WHAT, metavar="FILE[@WEIGHT]", short="-f",
        help=f"Script ({capabilities.script_file_names('')}; `-`: standard input) in place of the "
        "test's, or "
        "alone; further ones join the mix, A.sql,B.sql measures each.",
        file_help="Script files in place of the test's own, or without a workload: FILE[@WEIGHT], "
        "relative to this file; \"A.sql,B.sql\" measures each by itself.",
    )] = ()  # fmt: skip
    scale: Annotated[int | None, _declared(
        NumberOf(quantities.SCALE), Heading.WHAT, metavar="N", short="-s", is_short_for="set",
        key=IN_NO_FILE, help="Same as --set scale=N. [default: 1]",
    )] = None  # fmt: skip
    input: Annotated[tuple[str, ...], _declared(
        FileNames(), Heading.WHAT, metavar="PATH", other_option="--bib",
        experiment_field="input_paths",
        applies=setting_values.TO_INPUT,
        help="File or folder that the workload's rows are read from; may be repeated.",
    )] = ()  # fmt: skip
    encoding: Annotated[str | None, _declared(
        Choice(ENCODINGS), Heading.WHAT, experiment_field="encoding",
        applies=setting_values.TO_INPUT,
        help=f"Encoding of the --input files. [default: {ENCODINGS[0]}]",
    )] = None  # fmt: skip
    keep_going: Annotated[bool, _declared(
        Flag(), Heading.WHAT, experiment_field="keep_going", applies=setting_values.TO_INPUT,
        help="Skip and count bad entries of --input files instead of stopping.",
    )] = False  # fmt: skip
    feed: Annotated[str | None, _declared(
        FileName(), Heading.WHAT, metavar="FILE", experiment_field="feed",
        applies=setting_values.TO_NO_SCRIPTS,
        help="Plain SQL file whose statements clients send instead of the test's scripts.",
    )] = None  # fmt: skip
    only: Annotated[tuple[str, ...], _declared(
        NameList(), Heading.WHAT, metavar="PATTERN,…", key=IN_NO_FILE,
        help="Execute only the cells whose test, system or storage has one of these names (* for "
        "any characters); each further --only narrows the choice.",
    )] = ()  # fmt: skip
    quick: Annotated[bool, _declared(
        Flag(), Heading.WHAT, key=IN_NO_FILE,
        help="Run the quick version, for a laptop: with the quick values of the workload, or of "
        "[quick] in the file; the title says so.",
    )] = False  # fmt: skip

    memory: Annotated[str | None, _declared(
        Levels(quantities.MEMORY_BYTES, may_be_none=True, example="8GB,1GB"),
        Heading.MACHINE, metavar="SIZE,…", factor=factors.MEMORY, show=size_word, is_of_tests=True,
        why_not=server_limits.why_memory_not_limited,
        because="only a server that Assay starts can be limited, or a library in the client's own "
        "process that bounds its memory",
        help="Memory of a private server, page cache included (8GB,1GB; none: all), each size a "
        "cell.",
    )] = None  # fmt: skip
    cpus: Annotated[str | None, _declared(
        Levels(quantities.CPUS, may_be_none=True, example="2,1"), Heading.MACHINE,
        metavar="N,…", factor=factors.CPUS, show="{:.12g}".format, is_of_tests=True,
        why_not=server_limits.why_cpus_not_limited,
        because="only a server that Assay starts can be limited, not one that is running already, "
        "and not a library in the client's own process",
        help="Processors of a private server (2,0.5; none: all), each number a cell.",
    )] = None  # fmt: skip
    rtt: Annotated[str | None, _declared(
        Levels(quantities.RTT_S, example="0,1ms"), Heading.MACHINE, metavar="D,…",
        factor=factors.RTT, show=exact_duration, is_of_tests=True,
        why_not=server_limits.why_not_moved,
        because="its systems run in the client's own process",
        help="Round-trip time to add between clients and server (0,1ms), each a cell: a proxy "
        "delays every byte by half of it.",
    )] = None  # fmt: skip
    log_storage: Annotated[tuple[str, ...], _declared(
        NameList(), Heading.MACHINE, metavar="STORAGE,…",
        factor=factors.LOG_STORAGE, why_not=server_limits.why_log_not_apart,
        because="none of its systems is a server that Assay starts with its log on a storage of "
        "its own",
        help="Storage of the server's log (write-ahead, redo and binary log), each a cell: as "
        "--storage has it, a name from there, or none: with the data.",
        file_help="Storages of the server's log (write-ahead, redo and binary log), each a cell: "
        "as in storages, names that are declared in [storage.NAME], or none: with the data.",
    )] = ()  # fmt: skip

    clients: Annotated[str | None, _declared(
        Levels(quantities.CLIENTS, may_be_of_groups=True), Heading.CLIENTS, metavar="N,…",
        short="-c", is_of_tests=True, applies=setting_values.TO_CLIENTS,
        known_as=("users", "threads", "threadcount", "terminals"),
        help="Concurrent clients, each number a cell; by group: readers=8,writers=2. [default: "
        "the test's]",
    )] = None  # fmt: skip
    client_program: Annotated[str | None, _declared(
        Levels(CLIENT_PROGRAMS, "client program"), Heading.CLIENTS, metavar="PROGRAM,…",
        factor=factors.CLIENT_PROGRAM,
        is_of_tests=True,
        help="What clients are, each a cell: engine (Assay's own) or native (a process of the "
        "system's client program per client). [default: engine]",
    )] = None  # fmt: skip
    threads: Annotated[int | None, _declared(
        NumberOf(quantities.THREADS), Heading.CLIENTS, metavar="N", short="-j",
        experiment_field="threads",
        applies=setting_values.TO_ALL_SCRIPTS,
        help="Client threads, at most one per client; 0: one per processor. [default: 0]",
    )] = None  # fmt: skip
    generators: Annotated[str | None, _declared(
        Levels(quantities.GENERATORS), Heading.CLIENTS, metavar="N,…",
        factor=factors.GENERATORS, is_of_tests=True, applies=setting_values.TO_ALL_SCRIPTS,
        help="Load generators among which the clients are distributed, each number a cell; 1: "
        "Assay's own process. [default: 1]",
    )] = None  # fmt: skip

    goal: Annotated[str | None, _declared(
        Text(), Heading.ARRIVALS, metavar="CONDITION", experiment_field="goal",
        applies=setting_values.TO_SCRIPTS,
        help="Find the highest offered rate that meets it ('p99 < 5ms'), by bisection; "
        "--offered-rate then says the least and the greatest to try.",
        file_help="Find the highest offered rate that meets this condition (\"p99 < 5ms\"), by "
        "bisection; offered_rate_per_s then has the least and the greatest rate to try.",
    )] = None  # fmt: skip
    goal_over: Annotated[str | None, _declared(
        Text(), Heading.ARRIVALS, metavar="NAME", experiment_field="goal_over",
        applies=setting_values.TO_GOALS,
        help="Search the highest level of this parameter that meets the --goal, among those of "
        "--set, in place of the rate.",
        file_help="Search the highest level of this parameter that meets the goal, among its "
        "levels under [parameters], in place of the offered rate.",
    )] = None  # fmt: skip
    goal_tolerance: Annotated[float | None, _declared(
        NumberOf(quantities.GOAL_TOLERANCE), Heading.ARRIVALS, metavar="P%",
        experiment_field="goal_tolerance", applies=setting_values.TO_GOALS,
        help="How close the highest rate that meets the --goal and the lowest that does not must "
        "be. [default: 5%]",
        file_help="How close the highest rate that meets the goal and the lowest that does not "
        "must be.",
    )] = None  # fmt: skip
    goal_trials: Annotated[int | None, _declared(
        NumberOf(quantities.GOAL_TRIALS), Heading.ARRIVALS, metavar="N",
        experiment_field="goal_trials", applies=setting_values.TO_GOALS,
        help="The most offered rates to try for the --goal, of each cell. [default: 16]",
        file_help="The most offered rates to try for the goal, of each cell.",
    )] = None  # fmt: skip

    protocol: Annotated[str | None, _declared(
        Choice(PROTOCOLS), Heading.SESSIONS, short="-M", experiment_field="protocol",
        is_of_tests=True,
        applies=setting_values.TO_ALL_SCRIPTS,
        help="How statements are sent, as in pgbench. [default: simple for a script, else the "
        "test's]",
    )] = None  # fmt: skip

    trust: Annotated[bool, _declared(
        Flag(destroys=True), Heading.SESSIONS, key=IN_NO_FILE,
        help="Run a capsule with all your rights: what it runs is then not confined.",
    )] = False  # fmt: skip
    repetitions: Annotated[int | None, _declared(
        NumberOf(quantities.REPETITIONS), Heading.REPETITIONS, metavar="N",
        experiment_field="repetitions",
        is_of_tests=True,
        help="Runs of each cell; with --precision or --budget the minimum. [default: 1]",
    )] = None  # fmt: skip
    precision: Annotated[float | None, _declared(
        NumberOf(quantities.PRECISION), Heading.REPETITIONS, metavar="P%",
        experiment_field="precision",
        help="Repeat each cell, 3 to 30 times, until its mean is known to within this share: half "
        "the width of its 95 % interval.",
    )] = None  # fmt: skip
    budget_s: Annotated[float | None, _declared(
        NumberOf(quantities.BUDGET_S), Heading.REPETITIONS, metavar="S", key="budget",
        experiment_field="budget_s",
        help="Begin no repetition that would end later than this (30min); without --precision, as "
        "many as fit, up to 30. Each cell is run at least once.",
    )] = None  # fmt: skip
    order: Annotated[str | None, _declared(
        Choice(checked_choices.ORDERS), Heading.REPETITIONS, experiment_field="order",
        help="interleaved: systems take turns; randomized: in a random order, by the seed; "
        f"sequential: one after the other. [default: {checked_choices.ORDERS[0]}]",
    )] = None  # fmt: skip
    seed: Annotated[int | None, _declared(
        NumberOf(quantities.SEED), Heading.REPETITIONS, metavar="N", experiment_field="seed",
        help="Seed of all random streams. [default: 1]",
    )] = None  # fmt: skip

    log: Annotated[str | None, _declared(
        FileName(), Heading.OUTPUT, metavar="FILE", key=IN_NO_FILE, experiment_field="log",
        applies=setting_values.TO_ALL_SCRIPTS,
        help="File for single transactions (type, client, times, outcome): CSV, or Parquet by its "
        "name. New, or that of the experiment that is continued.",
    )] = None  # fmt: skip

    def has(self, name: str) -> bool:
        """Whether the setting was given."""
        given = getattr(self, name)
        return not (given is None or given is False or given == ())


def _settings() -> dict[str, Setting]:
    """In the order of `--help`: those of how clients are driven behind the ones that they name."""
    own = {
        name: structs.replace(get_args(hint)[1], name=name)
        for name, hint in _Words.__annotations__.items()
        if name != "target"
    }
    driven = {one.name: _of_driving(one) for one in driving.SETTINGS.values() if one.heading}
    places: dict[str, tuple[int, ...]] = {name: (place,) for place, name in enumerate(own)}

    def place_of(name: str) -> tuple[int, ...]:
        if name not in places:
            places[name] = (*place_of(driven[name].after), [*driven].index(name))
        return places[name]

    found = {**own, **driven}
    return {name: found[name] for name in sorted(found, key=place_of)}


def _of_driving(declared: Setting) -> Setting:
    """With the factor whose levels it sets."""
    word = declared.applies
    known = structs.replace(declared, applies=setting_values.OF_DRIVING[word] if word else None)
    for factor in factors.of_part(Part.DRIVING).values():
        if factor.column == declared.driving_field:
            return structs.replace(
                known, factor=factor, experiment_field=factor.asked, driving_field=""
            )
    return known


SETTINGS: Final[Mapping[str, Setting]] = _settings()
"""By the fields of `Words`."""

if TYPE_CHECKING:

    class Words(_Words, frozen=True):
        """What a command line says of an experiment; None, empty or False: it does not say it. It
        has a field for each of `SETTINGS`, by its name."""

        allow_shell: bool = False
        log_sample: float | None = None

        def __init__(self, target: str, **given: Any) -> None: ...

else:
    _DRIVEN = [one for name, one in SETTINGS.items() if name not in _Words.__struct_fields__]
    Words = defstruct(
        "Words",
        [(one.name, Any, False if one.is_flag else None) for one in _DRIVEN],
        bases=(_Words,),
        frozen=True,
        module=__name__,
    )

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
    help="About how long to measure each storage before its first use, with fio. [default: 2 where "
    "storages are compared, else 0]",
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

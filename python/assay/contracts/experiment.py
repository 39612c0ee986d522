"""An experiment as frozen values: systems, storages, and the factors to vary.

It is long because it lists all that an experiment may say, each field with its meaning.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, get_type_hints

from msgspec import Struct

from assay.contracts import factors, server_url
from assay.contracts.documents import Value, convert, with_hidden
from assay.contracts.driving import STOPS, DrivingChanges, without
from assay.contracts.factors import BY_URL as BY_URL
from assay.contracts.factors import Scalar, ServerMachine
from assay.contracts.factors import StorageChoice as StorageChoice
from assay.text.keys import TEXT, TEXTS, Key, SeveralKeys, in_file
from assay.text.rates import Rate
from assay.text.secrets import HIDDEN, is_secret

VERSION = "version"
"""The option that names the version of a system's programs."""


def setting_text(name: str, value: str) -> str:
    """The value of an option or setting in a system's name: in quotes where it would be read as
    more than one; a password never."""
    if is_secret(name):
        return HIDDEN
    return f'"{value}"' if " " in str(value) else str(value)


def setting_word(name: str, shown: str) -> str:
    """An option or setting as it stands behind the name of a system (``@15.18``, `` jit=off``);
    ``shown``: its value, as `setting_text` has it."""
    return f"@{shown}" if name == VERSION else f" {name}={shown}"


_SHOWN_OF_DIGEST = 12
"""Characters of the digest of programs."""


def shown_build(build: str) -> str:
    """As names, reports and versions have it: the beginning of the digest; of programs that were
    not read the directory."""
    return build if "/" in build else build[:_SHOWN_OF_DIGEST]


_LONG_LABEL = 80
"""Characters; more make a line about something else unreadable."""


def brief(label: str) -> str:
    """The label of a system where all of it was said already: without its settings, if they are
    many."""
    return label if len(label) <= _LONG_LABEL else f"{label.partition(' ')[0]} …"


@dataclass(frozen=True, slots=True)
class SystemChoice:
    """A system under test as chosen: a name of the registry, or the URL of a running server.

    ``settings`` are the server's own settings (``shared_buffers``); ``options`` are declared by its
    plugin (``engine`` where there are several storage engines).
    """

    name: str
    url: str | None = field(default=None, repr=False)
    """May hold a password; see `url_without_password`."""
    options: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    url_origins: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Where each value of the server's address comes from (``URL``, a variable of the environment,
    a file), by name; not compared."""
    machine: ServerMachine = field(default_factory=ServerMachine)
    profile: str = ""
    """The profile of settings that was asked for (`assay.contracts.systems.abilities.Profile`)."""
    of_profile: Mapping[str, str] = field(default_factory=dict)
    """Those of the options and settings that it gave, and nothing else asked for."""
    at_default: tuple[str, ...] = field(default=(), compare=False)
    """Those of the options and settings that were asked for and are what the system has anyway."""
    stands_on: StorageChoice | None = None
    """Of a server by URL: the storage that it is on, where that was said."""
    dialect_content: str = field(default="", compare=False)
    """Digest of the dialect file that its name ends with, by which it is known wherever that
    lies; empty: there is none."""
    called: str = field(default="", compare=False)
    """The name that the user gave it, which is no level: equal systems are equal by any name."""
    shown: str = field(default="", compare=False)
    """Its name among the systems of its experiment (`assay.experiment.choices.identity`),
    without its machine; empty: not named yet."""
    programs: str = field(default="", compare=False)
    """Where the programs of its version are (`assay.contracts.systems.abilities.SeveralVersions`),
    or those of the directory that the user named; empty: where the system looks for them itself."""
    build: str = ""
    """Of programs whose directory the user named: the digest of them and of their libraries, by
    which they are known wherever they lie; the directory itself until they are read."""

    @property
    def version(self) -> str:
        """Of its programs, or the beginning of one (``15``); empty: any."""
        return self.options.get(VERSION, "")

    @property
    def names(self) -> tuple[str, ...]:
        """By which other options and keys may mean it: its system, and what the user called it."""
        return (self.name, *([self.called] if self.called else []))

    @property
    def label(self) -> str:
        """As progress, plan and record name it: ``name option=level``, or as the user called
        it."""
        storage = self.stands_on
        return " ".join([self.label_on_storage, *([f"storage={storage.name}"] if storage else [])])

    @property
    def label_on_storage(self) -> str:
        """As reports name it beside its storage: two servers by URL on storages of different names
        may have one."""
        return " ".join([self.shown or self.name_with(()), *self.machine.words])

    @property
    def asked(self) -> dict[str, str]:
        """The options and settings that were asked for, each with its value as a name shows it, and
        the profile."""
        given = {**self.options, **self.settings}
        own = {key: one for key, one in given.items() if self.of_profile.get(key) != one}
        if self.profile:
            own["profile"] = self.profile
        if self.build:
            own["build"] = shown_build(self.build)
        return {key: setting_text(key, own[key]) for key in sorted(own)}

    @property
    def particulars(self) -> dict[str, str]:
        """What may distinguish it from another system, apart from its machine, in the order in
        which a name has it: the system, its address, options and settings."""
        return {
            "system": self.name,
            **({"place": server_url.place(self.url)} if self.url else {}),
            **(server_url.particulars(self.url) if self.url else {}),
            **{f"{key}=": value for key, value in self.asked.items()},
        }

    def name_with(self, shown: Collection[str]) -> str:
        """Its name with those of its `particulars`. Without any: as the user called it, or the
        system, its host or file where its storage does not say which it is, and all that was asked
        for."""
        address = f" at {server_url.place(self.url, shown)}" if self.url else ""
        if self.stands_on and not {"place", *server_url.particulars(self.url or "")} & {*shown}:
            address = ""
        words = {key: setting_word(key, value) for key, value in self.asked.items()}
        version = words.pop(VERSION, "")
        if not self.called:
            return "".join([self.name, version, address, *words.values()])
        is_of_place = self.url and any(one in shown for one in server_url.particulars(self.url))
        return "".join(
            [
                self.called,
                version if f"{VERSION}=" in shown else "",
                f" ({self.name})" if "system" in shown else "",
                address if is_of_place or "place" in shown else "",
                *(word for key, word in words.items() if f"{key}=" in shown),
            ]
        )

    @property
    def url_without_password(self) -> str | None:
        """The URL as it may be printed, recorded and fingerprinted."""
        return None if self.url is None else server_url.without_password(self.url)


class StoragePrice(Struct, frozen=True):
    """What a storage costs for each GB that is stored on it: a GB has 1,000,000,000 bytes, as
    storages are sold."""

    per_gb: float
    currency: str = ""
    """As it was written; empty: not said."""


class SystemPrice(Struct, frozen=True):
    """What a whole system under test costs: machine, storage, software, and whatever else the one
    who gives the price reckons to it."""

    amount: float
    currency: str = ""
    """As it was written; empty: not said."""


ENCODINGS = ("utf-8", "latin-1")
"""Of files that rows are read from."""
PROTOCOLS = ("simple", "extended", "prepared")
"""How statements are sent, by pgbench's names: as text with literal values; parsed, bound and
executed each time; prepared once per client."""


OF_SCRIPTS = "of its scripts"
"""The content of a workload that is nothing but scripts, which have their own."""


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """A script file, and its weight in a mix."""

    path: str
    weight: int = 1
    content: str = field(default="", compare=False)
    """Digest of its text, by which it is known wherever it lies; empty: not read yet."""

    @property
    def shown(self) -> str:
        """``read.sql@9``: its name without folders, and its weight if that is not 1."""
        name = "stdin" if self.path in ("-", "<stdin>") else Path(self.path).name
        return name if self.weight == 1 else f"{name}@{self.weight}"


def shown_scripts(files: Iterable[ScriptFile]) -> str:
    """``read.sql@9 + write.sql``, as labels of results name what was run."""
    return " + ".join(file.shown for file in files)


@dataclass(frozen=True, slots=True)
class ClientWork:
    """What clients run: a workload, or what takes the place of its scripts."""

    workload: str
    feed: Annotated[str | None, in_file(
        TEXT, read=lambda section, key: str(section.file.parent / section.text(key))
    )] = field(default=None, kw_only=True)  # fmt: skip
    """A plain file of statements that clients send in place of the test's scripts."""
    feed_content: str = field(default="", compare=False, kw_only=True)
    """Digest of its text; empty: not known, or nothing is fed."""
    workload_content: str = field(default="", compare=False, kw_only=True)
    """Digest of the texts of a workload that is named by a path, or `OF_SCRIPTS`; empty: it is one
    of the registry, which has the same name everywhere, or an earlier Assay did not say."""
    scripts: tuple[ScriptFile, ...] = field(default=(), kw_only=True)
    """Script files that clients run in place of the test's own."""

    behind: ClassVar[tuple[tuple[str, tuple[str, ...]], ...]] = ()
    """Fields, each with those of the above that a record has behind it."""

    @classmethod
    def in_order(cls, document: Mapping[str, Value]) -> dict[str, Value]:
        """The fields in the order in which a record has them."""
        behind = dict(cls.behind)
        moved = {name for names in behind.values() for name in names}
        return {
            name: document[name]
            for key in document
            if key not in moved
            for name in (key, *behind.get(key, ()))
        }


class UsedProfile(Struct, frozen=True):
    """A profile of settings that an experiment uses, as it was then."""

    system: str
    name: str
    title: str
    printed: Mapping[str, str]
    """Setting as a paper printed it → what stands for it here."""


class Scaled(Struct, frozen=True):
    """One thing that the quick version, or an option of the command line, has otherwise than the
    experiment file or the workload."""

    test: str
    name: str
    """Of a parameter, or ``clients``, ``duration_s``, ``repetitions`` …"""
    full: str
    quick: str
    """Levels in words; empty: none."""
    is_asked: bool = False
    """An option has it so, not the quick version."""
    reason: str = ""
    """Why it was left out: it is optional, and cannot be had here. Else empty."""


class LeftOut(Struct, frozen=True):
    """A level of a factor of the server's machine that is optional and that a system cannot be
    given here."""

    system: str
    """Its label."""
    factor: str
    """By its name."""
    level: int | float | str
    """In bytes, processors or seconds; or the name of the storage."""
    reason: str


LEAST_FOR_PRECISION = 3
"""Repetitions without which nothing is known of a precision."""
MOST_TRIALS = 16
"""Rates of a goal search; bisection of the whole range needs nine, at the default tolerance."""
MOST_REPETITIONS = 30
"""Of a cell that never gets as precise as was asked, or within a long budget."""


class ExperimentChanges(dict[str, Any]):
    """Fields of `Experiment` that are set somewhere, in place of what was set before: name → value.
    Those of `Experiment.levels` are beside them, each as the factor is asked for
    (`Factor.asked`)."""


OfTest = ExperimentChanges
"""Of one of its tests, whose systems and storages are given by their names, and which may have a
workload and scripts of its own."""


@dataclass(frozen=True)
class Experiment(ClientWork):
    """What is varied, what is measured, and how often. An ad hoc script has no other test and no
    tables; then ``workload`` is only its name."""

    tests: tuple[str, ...]
    systems: tuple[SystemChoice, ...]
    storages: tuple[StorageChoice, ...] = (StorageChoice(),)
    clients: tuple[int, ...] = ()
    """Levels of the client count; empty: each test's own default."""
    group_clients: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Levels of the client count, by group of clients."""
    parameters: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """Levels of each workload parameter that was given (``copies``, ``replicas``)."""
    repetitions: int = 1
    """With a precision or a budget the least number; see `least_repetitions`."""
    precision: float | None = None
    """Cells are repeated until half the width of the 95 % interval of their mean is this share of
    it at most; None: no precision is asked."""
    budget_s: float | None = None
    """No repetition but a cell's first begins that would end after it; None: no time limit."""
    order: str = "interleaved"
    seed: int = 1
    series: tuple[str, ...] = ()
    """The series of tests that were asked for by name, whose tables are what is wanted."""
    threads: int = 0
    """Client threads, at most one per client; 0: one per processor."""
    protocol: str | None = None
    """One of `PROTOCOLS`; None: the test's own default."""
    input_paths: Annotated[tuple[str, ...], SeveralKeys(
        (
            Key("input", TEXTS),
            Key("bib", TEXTS, "Files to read; the older name of `input`."),
        ),
        lambda section: tuple(
            str(section.file.parent / path)
            for key in ("input", "bib")
            for path in section.texts(key, ())
        ),
    )] = ()  # fmt: skip
    """Files or folders that rows are read from (``--input``); empty: the workload's default."""
    encoding: str = ENCODINGS[0]
    keep_going: bool = False
    is_ad_hoc: bool = False
    driving: DrivingChanges = field(default_factory=DrivingChanges)
    """Fields of `Driving` set here, which override the test: field → level."""
    offered_rates_per_s: tuple[Rate, ...] = ()
    """Levels of the offered rate; empty: the test's own."""
    levels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """By the factors of `assay.contracts.factors.VARIED`; of one that is missing, the default of
    the test, or of the server's machine."""
    of_tests: Mapping[str, OfTest] = field(default_factory=dict)
    """By the name of the test."""
    optional: tuple[str, ...] = ()
    """Names of systems and storages without which the others are run, and of factors of the
    server's machine whose levels are left out where they cannot be had."""
    left_out: tuple[LeftOut, ...] = ()
    """Levels of these that cannot be had here; known once the experiment was planned."""
    title: Annotated[str, in_file(TEXT, "One line, for reports.")] = ""
    reproduces: Annotated[
        str, in_file(TEXT, "What is repeated, for the report: a paper and its table.")
    ] = ""
    is_quick: bool = False
    """Parameters have the quick values that the workload or the file declares for them."""
    profiles: tuple[UsedProfile, ...] = ()
    scaled: tuple[Scaled, ...] = ()
    """What differs from the full size, in a quick version or in a file that reproduces a paper; and
    what was left out because it cannot be had here."""
    prices: Mapping[str, StoragePrice] = field(default_factory=dict)
    """Those that are known, by the names of the storages."""
    system_prices: Mapping[str, SystemPrice] = field(default_factory=dict)
    """Those that are known, by the labels of the systems."""
    log: str | None = None
    """The file that single transactions are written to."""
    required_rate_per_s: float | None = None
    """Transactions per second that a storage must keep to be recommended by its price; None: none
    is recommended."""
    goal: str = ""
    """A condition (``p99 < 5ms``): the highest offered rate is searched for that meets it; empty:
    none is. Where offered rates are given, they are the least and the greatest to try."""
    goal_over: str = ""
    """The parameter whose highest level is searched for, among those that are asked for; empty: the
    offered rate is searched."""
    goal_tolerance: float = 0.05
    """How far apart the rates are that may be tried, as a share."""
    goal_trials: int = MOST_TRIALS
    """The most rates that are tried of each search."""

    is_confined: bool = False
    """It is that of a capsule, which the user has not trusted: what it runs has no rights."""

    behind = (("keep_going", ("feed", "feed_content", "workload_content", "scripts")),)

    @classmethod
    def of_record(cls, document: Any, name: str) -> Self:
        """As it was asked for; ``name`` stands for the document in messages. Raises
        `ShapeError`."""
        plain = with_hidden(document)
        if not isinstance(plain, dict):
            return convert(plain, cls, name)
        kinds: dict[str, Any] = get_type_hints(ServerMachine)
        levels = {
            factor.name: tuple(
                convert(level, kinds.get(factor.column, Scalar), f"{name}.{factor.asked}")
                for level in convert(plain[factor.asked], list[Any], f"{name}.{factor.asked}")
            )
            for factor in factors.VARIED.values()
            if plain.get(factor.asked)
        }
        return replace(convert({**plain, "levels": {}}, cls, name), levels=levels)

    @property
    def log_storages(self) -> tuple[StorageChoice | None, ...]:
        """Levels of the storage of the server's log; None: that of its data."""
        return self.levels.get(factors.LOG_STORAGE.name, ())

    @property
    def all_storages(self) -> tuple[StorageChoice, ...]:
        """Those of data, and those of logs that are not among them."""
        logs = (storage for storage in self.log_storages if storage is not None)
        others = [storage for storage in logs if storage not in self.storages]
        return (*self.storages, *others)

    @property
    def is_repeated_as_needed(self) -> bool:
        """Whether the number of repetitions is found out while the experiment is under way."""
        return self.precision is not None or self.budget_s is not None

    @property
    def least_repetitions(self) -> int:
        """Of each cell, if the budget allows it."""
        least = LEAST_FOR_PRECISION if self.precision is not None else 1
        return max(self.repetitions, least)

    @property
    def most_repetitions(self) -> int:
        """Of each cell; as many are planned."""
        if not self.is_repeated_as_needed:
            return self.repetitions
        return max(self.repetitions, MOST_REPETITIONS)

    def for_test(self, name: str) -> Experiment:
        """The experiment of that test alone."""
        of_test = self.of_tests.get(name, OfTest())
        systems, storages = self.systems, self.storages
        if "systems" in of_test:
            systems = tuple(one for one in systems if {*one.names} & {*of_test["systems"]})
        if "storages" in of_test:
            storages = tuple(one for one in storages if {*one.names} & {*of_test["storages"]})
            systems = self._systems_on(storages, systems)
        places = ("systems", "storages")
        own = {name: level for name, level in of_test.items() if name not in places}
        given = ExperimentChanges(own)
        if "parameters" in given:
            given["parameters"] = {**self.parameters, **given["parameters"]}
        if "driving" in given:
            given["driving"] = driving_with(self.driving, given["driving"])
        if "clients" in given or "group_clients" in given:
            given = ExperimentChanges({"clients": (), "group_clients": {}, **given})
        given.update(systems=systems, storages=storages, tests=(name,), of_tests={})
        return self.changed(given)

    def changed(self, changes: ExperimentChanges) -> Experiment:
        """A copy with these in place of its own."""
        given: dict[str, Any] = {**changes}
        levels = {
            name: given.pop(factor.asked)
            for name, factor in factors.VARIED.items()
            if factor.asked in given
        }
        return replace(self, **given, levels={**self.levels, **levels})

    def asked(self, name: str) -> Any:
        """A field, or the levels of the factor that is asked for by this name."""
        for factor in factors.VARIED.values():
            if factor.asked == name:
                return self.levels.get(factor.name, ())
        return getattr(self, name)

    def for_record(self) -> dict[str, Any]:
        """As it is kept: its levels beside its fields."""
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "levels"}
        return {
            **self.in_order(own),
            **{one.asked: self.asked(one.asked) for one in factors.VARIED.values()},
        }

    def _systems_on(
        self, storages: Iterable[StorageChoice], chosen: tuple[SystemChoice, ...]
    ) -> tuple[SystemChoice, ...]:
        """Without the servers by URL that are on the others of these storages; all, where none is
        left."""
        others = {one.name_alone for one in self.storages} - {one.name_alone for one in storages}
        on = (one for one in chosen if not (one.stands_on and one.stands_on.name in others))
        return tuple(on) or chosen


def driving_with(before: DrivingChanges, given: DrivingChanges) -> DrivingChanges:
    """Both; a limit of `STOPS` that is given replaces every limit before."""
    gone = STOPS if set(given) & set(STOPS) else ()
    return DrivingChanges({**without(before, gone), **given})

"""What a workload folder says, as frozen values: tables, tests, scripts, answers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from assay import registry
from assay.dialects.protocol import Table
from assay.experiment.values import Driving
from assay.registry import unknown
from assay.workload.parameters import Parameter, Scalar
from assay.workload.schema import Schema
from assay.workload.steps import Drive, Group, Step


@dataclass(frozen=True)
class Script:
    """One transaction type: a text in the script language."""

    name: str
    path: str
    """Relative to the workload folder, as messages and records name it."""
    text: str
    weight: int = 1
    is_plain: bool = False
    """The text is one statement of a plain file, sent as it stands."""

    @property
    def title(self) -> str:
        """What its first comment says after its name (``-- S01: ISBN without ISBN-13``)."""
        first = self.text.partition("\n")[0].lstrip("- ")
        name, colon, title = first.partition(":")
        return title.strip() if colon and name == self.name else first.strip()


class Speaks(Protocol):
    """A dialect, as far as scripts are chosen by it."""

    name: str
    language: str


class RunsScripts(Protocol):
    """What names scripts and their weights: a test, or a step of a run."""

    @property
    def scripts(self) -> tuple[str, ...]: ...

    @property
    def mix(self) -> Mapping[str, int]: ...


@dataclass(frozen=True)
class Test:
    """One experiment of the workload."""

    name: str
    title: str
    help: str
    reproduces: str = ""
    steps: tuple[Step, ...] = field(default_factory=lambda: (registry.step("load")(), Drive()))
    """What is done, in this order."""
    scripts: tuple[str, ...] = ()
    """Names of the transaction types, in order."""
    order: str = "sequence"
    """``sequence``: all scripts once in order, which is one pass; ``mix``: chosen by weight."""
    mix: Mapping[str, int] = field(default_factory=dict)
    """Name → weight in the mix; what is not in it has the weight 1."""
    clients: tuple[int, ...] = (1,)
    driving: Driving = field(default_factory=Driving)
    """Numbers may be names of parameters."""
    protocol: str = "prepared"
    data: str = "loaded"
    """``loaded``, or ``empty``: the tables are made and hold no rows."""
    changes_data: bool = True
    """Whether other data may be left behind than were found. Where it is false, sessions are
    read-only as far as the system has such."""
    compare_results: bool = False
    """Whether all systems of an experiment must answer every transaction with the same rows."""
    data_to_buffer: float | str | None = None
    """Bytes of data for each byte of the system's buffer; None: the buffer is as the system has
    it."""
    checks: tuple[str, ...] = ("*",)
    """Which consistency checks are asked, by glob of their paths."""
    counted_checks: tuple[str, ...] = ()
    """Those of the checks that may find something behind the clients: it is counted, and the run
    does not fail for it."""
    defaults: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """Levels of parameters that differ in this test from the workload's own defaults."""

    needs: tuple[str, ...] = ()
    """Capabilities that a system must have (`assay.capabilities`), beside those that its steps
    need."""

    not_expressible: Mapping[str, str] = field(default_factory=dict)
    """Dialect or language → why its systems cannot express the test."""

    __test__ = False  # pytest must not take this for one of its own

    @property
    def drives(self) -> tuple[Drive, ...]:
        """The steps in which clients run scripts, as they are declared."""
        return tuple(one for one in self.steps if isinstance(one, Drive))

    @property
    def only_drive(self) -> Drive | None:
        """The step in which clients run scripts, where there is one and all clients are of one
        kind; what is said on a command line of clients means this one."""
        is_one = len(self.drives) == 1 and not (self.drives[0].groups or self.overlaps)
        return self.drives[0] if is_one else None

    @property
    def groups(self) -> tuple[Group, ...]:
        """All groups of clients that its steps name."""
        return tuple(group for one in self.drives for group in one.groups)

    @property
    def overlaps(self) -> bool:
        """Whether clients start one after the other, so that counts and not times end them."""
        return any(one.staggers_clients for one in self.steps)

    @property
    def has_clients(self) -> bool:
        return any(one.has_clients for one in self.steps)

    @property
    def loads(self) -> bool:
        """Whether a system is filled with the workload's data."""
        return any(one.loads for one in self.steps)

    @property
    def all_needs(self) -> tuple[str, ...]:
        """What it says that it needs, and what its steps need."""
        return tuple(dict.fromkeys([*self.needs, *(one.needs for one in self.steps if one.needs)]))

    @property
    def leaves_other_data(self) -> bool:
        """Whether the data it leaves may differ from those it found."""
        return any(one.changes_data for one in self.steps) or bool(
            self.changes_data and self.drives
        )


@dataclass(frozen=True)
class ExpectedAnswers:
    """The row counts of one known data set."""

    dataset: str
    source: str
    """Who counted, and how."""
    fingerprint: str
    """Of the data set's files, as their reader makes it (`Scan.fingerprint`)."""
    entries: int
    bytes: int
    counts: Mapping[str, int]


@dataclass(frozen=True)
class Workload:
    """A workload folder that has been read and found consistent."""

    name: str
    folder: Path
    title: str
    source: str
    description: str
    default_test: str
    default_system: str
    """The default system; empty: a system must be named."""
    data_source: str
    """Where the rows come from: a name of `assay.row_sources`."""
    data: Any
    """What ``[data]`` says to that source, as the source has read it."""
    parameters: Mapping[str, Parameter]
    schema: Schema = field(repr=False)
    tests: Mapping[str, Test] = field(repr=False)
    scripts: Mapping[str, Script] = field(repr=False)
    checks: Mapping[str, Script] = field(repr=False)
    """Queries that must return no row, by name."""
    overrides: Mapping[tuple[str, str], Script] = field(repr=False)
    """(dialect or language, name of a script or a check) → what is sent instead."""
    expected: tuple[ExpectedAnswers, ...]
    expected_rules: Mapping[str, str]
    """Variant → what replication does to a count: ``times replicas`` or ``unchanged``."""
    report: Mapping[str, Mapping[str, Any]] = field(repr=False)
    """Test → what its report shows, in the words of `assay.report.declaration`."""
    published: Mapping[str, Mapping[str, Any]] = field(repr=False)
    """Test → the table of the paper, in the same words."""
    texts: Mapping[str, str] = field(repr=False)
    """Every text that decides what is run, by path within the folder."""
    is_ad_hoc: bool = False
    """Scripts by themselves, without a folder (`assay.workload.ad_hoc_script`)."""
    series: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    """Name → a table over several tests, in the words of `assay.report.series`."""

    def tests_of(self, name: str) -> tuple[str, ...]:
        """The tests of the series of that name, or the one test; raises `ArgumentError`."""
        if name in self.series:
            return tuple(dict.fromkeys(one["test"] for one in self.series[name]["columns"]))
        if name not in self.tests:
            raise unknown(f"test of {self.name}", name, [*self.tests, *self.series])
        return (name,)

    def full_name(self, test: str) -> str:
        """``tpcb.simple-update``; of an ad hoc script its file."""
        return self.name if self.is_ad_hoc else f"{self.name}.{test}"

    def test(self, name: str) -> Test:
        """The test of that name; an unknown one is an `ArgumentError` that names the nearest."""
        if name not in self.tests:
            raise unknown(f"test of {self.name}", name, self.tests)
        return self.tests[name]

    def scripts_for(self, runs: RunsScripts, dialect: Speaks) -> tuple[Script, ...]:
        """The scripts of a test, or of one of its steps, as one dialect is sent them: its own where
        it has an override."""
        sent = (self.script_for(name, dialect) for name in runs.scripts)
        return tuple(replace(one, weight=runs.mix.get(one.name, one.weight)) for one in sent)

    def script_for(self, name: str, dialect: Speaks) -> Script:
        """The script of that name as one dialect is sent it: its own, or that of its language."""
        return self._own(name, dialect) or self.scripts[name]

    def checks_for(self, dialect: Speaks) -> tuple[Script, ...]:
        """The consistency checks as one dialect is sent them; those that its language does not have
        are left out."""
        return tuple(
            self._own(name, dialect) or one
            for name, one in self.checks.items()
            if self.is_spoken(name, dialect)
        )

    def is_spoken(self, name: str, dialect: Speaks) -> bool:
        """Whether the script or the check of that name has a text in the dialect's language. Ad hoc
        scripts are in the language of whatever system they are sent to."""
        is_base = dialect.language == "sql" or self.is_ad_hoc
        return is_base or self._own(name, dialect) is not None

    def _own(self, name: str, dialect: Speaks) -> Script | None:
        of_dialect = self.overrides.get((dialect.name, name))
        return of_dialect or self.overrides.get((dialect.language, name))

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables as they are declared, one of each; what a deployment gets: `tables_for`."""
        return tuple(one.table for one in self.schema.declared)

    def tables_for(self, parameters: Mapping[str, Scalar]) -> tuple[Table, ...]:
        """The tables of a deployment, one for each instance; ``parameters``: those of the run,
        others have their defaults."""
        return self.schema.tables_for(self.with_defaults(parameters))

    def identifiers_for(self, parameters: Mapping[str, Scalar]) -> dict[str, list[str]]:
        """What ``:{name}`` chooses among in scripts: the drive document's ``identifiers``."""
        return self.schema.identifiers_for(self.with_defaults(parameters))

    def source_for(self, parameters: Mapping[str, Scalar], seed: int) -> dict[str, Any]:
        """The engine's source document for the rows of generated tables."""
        return self.schema.source_for(self.with_defaults(parameters), seed)

    def with_defaults(self, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """Every parameter of the workload, also those that a test does not take, and its
        constants."""
        known = {one.name: one.default for one in self.parameters.values()}
        given = {name: parameters[name] for name in known if name in parameters}
        return self.schema.with_constants({**known, **given})

    def constants_for(self, parameters: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """The constants of the workload, with these parameters."""
        whole = self.with_defaults(parameters) if self.schema.constants else {}
        return {name: whole[name] for name in self.schema.constants}

    def parameters_of(self, test: Test) -> tuple[Parameter, ...]:
        """The parameters this test takes."""
        return tuple(
            one for one in self.parameters.values() if not one.tests or test.name in one.tests
        )

    def expected_counts(
        self, fingerprint: str, replicas: int = 1, variant: str = "full"
    ) -> dict[str, int | None]:
        """Rows that each script must return on data of that fingerprint; None: unknown."""
        for answers in self.expected:
            if answers.fingerprint == fingerprint:
                factor = replicas if self.expected_rules.get(variant) == "times replicas" else 1
                return {
                    name: answers.counts[name] * factor if name in answers.counts else None
                    for name in self.scripts
                }
        return dict.fromkeys(self.scripts)

    @property
    def titles(self) -> dict[str, str]:
        """Script → what it is about."""
        return {name: script.title for name, script in self.scripts.items()}

    def for_record(self) -> dict[str, Any]:
        """What a report needs to know of the workload once its folder is gone."""
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "fingerprint": self.fingerprint,
            "report": {test: dict(table) for test, table in self.report.items()},
            "published": {test: dict(table) for test, table in self.published.items()},
            "series": {name: dict(table) for name, table in self.series.items()},
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all texts that decide what is run."""
        digest = hashlib.sha256()
        for path, text in sorted(self.texts.items()):
            digest.update(f"{path}\0{len(text.encode())}\0".encode())
            digest.update(text.encode())
        return digest.hexdigest()

"""What a workload folder says, as frozen values: tables, tests, scripts, answers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.dialects.protocol import Table
from assay.registry import unknown
from assay.workloads.parameters import Parameter, Scalar


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


@dataclass(frozen=True)
class Stop:
    """When a client of a test has done its work. A text is the name of the parameter that says."""

    passes: int | str | None = None
    transactions: int | str | None = None
    duration_s: float | str | None = None

    def resolved(self, parameters: Mapping[str, Scalar]) -> dict[str, int | float]:
        """The limits that are set, in numbers, as the engine takes them."""
        limits: dict[str, int | float] = {}
        for name, value in vars(self).items():
            number = parameters[value] if isinstance(value, str) else value
            if isinstance(number, int | float):
                limits[name] = number
        return limits


@dataclass(frozen=True)
class Test:
    """One experiment of the workload."""

    name: str
    title: str
    help: str
    reproduces: str = ""
    procedure: str = "drive"
    """``drive``: clients run scripts; ``update``: changed input is brought in; ``limit``: sessions
    are opened until one is refused."""
    scripts: tuple[str, ...] = ()
    """Names of the transaction types, in order."""
    order: str = "sequence"
    """``sequence``: all scripts once in order, which is one pass; ``mix``: chosen by weight."""
    clients: tuple[int, ...] = (1,)
    stop: Stop = Stop()
    protocol: str = "simple"
    defaults: Mapping[str, tuple[Scalar, ...]] = field(default_factory=dict)
    """Levels of parameters that differ in this test from the workload's own defaults."""

    __test__ = False  # pytest must not take this for one of its own


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
class FileRows:
    """How rows follow the files they came from, so that changed files can be brought in alone."""

    table: str
    """The table whose rows belong to one file each."""
    key: str
    """Its column that holds the file's name."""
    rebuilt: tuple[str, ...] = ()
    """Tables over all files, which are emptied and filled anew."""


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
    """What it is run on unless told otherwise; empty: a system must be named."""
    data_source: str
    """Who makes the rows; ``bib``: the bibliography reader."""
    default_input: str
    """Name of the data set it is run on unless told otherwise."""
    update: FileRows | None
    """None: the data cannot be brought up to date by file."""
    parameters: Mapping[str, Parameter]
    tables: tuple[Table, ...] = field(repr=False)
    tests: Mapping[str, Test] = field(repr=False)
    scripts: Mapping[str, Script] = field(repr=False)
    overrides: Mapping[tuple[str, str], Script] = field(repr=False)
    """(dialect, script name) → what that dialect is sent instead."""
    expected: tuple[ExpectedAnswers, ...]
    expected_rules: Mapping[str, str]
    """Variant → what replication does to a count: ``times replicas`` or ``unchanged``."""
    report: Mapping[str, Mapping[str, Any]] = field(repr=False)
    """Test → what its report shows, in the words of `assay.report.declaration`."""
    published: Mapping[str, Mapping[str, Any]] = field(repr=False)
    """Test → the table of the paper, in the same words."""
    texts: Mapping[str, str] = field(repr=False)
    """Every text that decides what is run, by path within the folder."""

    def test(self, name: str) -> Test:
        """The test of that name; an unknown one is an `ArgumentError` that names the nearest."""
        if name not in self.tests:
            raise unknown(f"test of {self.name}", name, self.tests)
        return self.tests[name]

    def scripts_for(self, test: Test, dialect: str) -> tuple[Script, ...]:
        """The scripts of a test as one dialect is sent them: its own where it has an override."""
        return tuple(
            self.overrides.get((dialect, name), self.scripts[name]) for name in test.scripts
        )

    def parameters_of(self, test: Test) -> tuple[Parameter, ...]:
        """The parameters this test takes."""
        return tuple(
            one for one in self.parameters.values() if not one.tests or test.name in one.tests
        )

    def expected_counts(
        self, fingerprint: str, replicas: int = 1, variant: str = "full"
    ) -> dict[str, int | None]:
        """Rows each script must return on the data set of that fingerprint; None: nobody knows."""
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
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all texts that decide what is run."""
        digest = hashlib.sha256()
        for path, text in sorted(self.texts.items()):
            digest.update(f"{path}\0{len(text.encode())}\0".encode())
            digest.update(text.encode())
        return digest.hexdigest()

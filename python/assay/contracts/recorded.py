"""The documents of an experiment that a record keeps as JSON, by their keys.

A key may be missing: an earlier Assay kept fewer. Further keys are kept, and only shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from assay.contracts.factors import Scalar
from assay.text.files.toml_file import TomlData

MachineFact = str | int | float | None
OptionValue = str | int | float | bool | Sequence[str]
Command = Mapping[str, OptionValue | Mapping[str, OptionValue]]
"""A command line, by which the experiments of an experiment file are found again: ``file``,
``folder``, ``only``, ``ways`` (how data are loaded), and the options that were given, by name."""


class Machine(TypedDict, total=False):
    """What decides on a machine how fast a database can be, with the limits under which Assay ran
    there. None: not known."""

    name: str
    """As it was given in `ASSAY_MACHINE`."""
    host: str
    """A digest of its own identity: it distinguishes two machines of equal hardware, and names
    none. Left out where the machine has no identity."""
    cpu_model: str | None
    architecture: str
    cores: int | None
    processors: int | None
    processors_usable: int | None
    """By its affinity."""
    affinity: str
    """``0-3,8``, as ``taskset --cpu-list`` takes them."""
    processors_limit: float | None
    """What the control groups around Assay allow."""
    memory_bytes: int | None
    memory_limit_bytes: int | None
    cpu_governor: str | None
    kernel: str
    operating_system: str
    python: str


HardwareFact = Literal[
    "cpu_model", "architecture", "cores", "processors", "processors_usable", "affinity",
    "processors_limit", "memory_bytes", "memory_limit_bytes",
]  # fmt: skip


class Build(TypedDict, total=False):
    """The program that executed the runs."""

    assay: str
    """Its version."""
    version: str
    """Of the engine."""
    profile: str
    """With which the engine was compiled."""
    drivers: list[str]


class SheetRecord(TypedDict):
    """A table that reports show as it stands."""

    title: str
    columns: list[str]
    rows: list[list[str]]


class DerivedRecord(TypedDict):
    """A metric that is derived from what was measured."""

    name: str
    title: str
    help: str
    value: str
    """Its formula."""
    test: str
    """Empty: it is derived from the metrics of other tests."""
    is_more_better: bool


class WorkloadRecord(TypedDict, total=False):
    """What reports need of a workload, whose folder may be gone."""

    name: str
    title: str
    source: str
    fingerprint: str
    report: dict[str, TomlData]
    """Test → its ``[report.TEST]``."""
    published: dict[str, TomlData]
    """Test or series → its table in ``published.toml``."""
    claims: list[TomlData]
    series: dict[str, TomlData]
    sheets: list[SheetRecord]
    derived: list[DerivedRecord]
    bytes_per_unit: dict[str, float]
    """Parameter → how much data each unit of it makes, of those that say it."""


class StorageDocument(TypedDict, total=False):
    """A `StorageChoice`, as JSON."""

    name: str
    kind: str
    directory: str | None
    options: dict[str, str]
    role: str
    rtt_s: float


class SystemDocument(TypedDict, total=False):
    """A `SystemChoice`, as JSON."""

    name: str
    url: str | None
    options: dict[str, str]
    settings: dict[str, str]
    machine: dict[str, float | StorageDocument | None]
    profile: str
    of_profile: dict[str, str]
    at_default: list[str]
    stands_on: StorageDocument | None
    dialect_content: str


class ScriptFileDocument(TypedDict, total=False):
    """A `ScriptFile`, as JSON."""

    path: str
    weight: int
    content: str


class CellDocument(TypedDict, total=False):
    """All that the fingerprint of a cell is of."""

    workload: str
    test: str
    system: SystemDocument
    storage: StorageDocument | None
    clients: int | None
    parameters: dict[str, Scalar]
    driving: dict[str, Scalar | None]
    group_clients: dict[str, int]
    scripts: list[ScriptFileDocument]
    feed: str | None
    workload_content: str


class ProfileDocument(TypedDict, total=False):
    """A `UsedProfile`, as JSON."""

    system: str
    name: str
    title: str
    printed: dict[str, str]
    became: dict[str, str]
    """The same; its name before November 2026."""


class ScaledDocument(TypedDict, total=False):
    """A `Scaled`, as JSON."""

    test: str
    name: str
    full: str
    quick: str
    is_asked: bool
    reason: str


class PriceDocument(TypedDict):
    """A `StoragePrice`, as JSON."""

    per_gb: float
    currency: str


class SystemPriceDocument(TypedDict):
    """A `SystemPrice`, as JSON."""

    amount: float
    currency: str


class OfTestDocument(TypedDict, total=False):
    """What is otherwise for one test of an experiment."""

    parameters: dict[str, list[Scalar]]


class LeftOutDocument(TypedDict):
    """A level of an optional factor that could not be had (`LeftOut`)."""

    system: str
    factor: str
    level: int | float | str
    reason: str


class ExperimentDocument(TypedDict, total=False):
    """What was asked (`Experiment`), as JSON."""

    title: str
    reproduces: str
    workload: str
    workload_content: str
    scripts: list[ScriptFileDocument]
    input_paths: list[str]
    feed: str | None
    feed_content: str
    optional: list[str]
    left_out: list[LeftOutDocument]
    is_quick: bool
    is_ad_hoc: bool
    is_confined: bool
    order: str
    repetitions: int
    precision: float | None
    budget_s: float | None
    required_rate_per_s: float | None
    goal: str
    goal_over: str
    goal_tolerance: float
    goal_trials: int
    log: str | None
    series: list[str]
    systems: list[SystemDocument]
    storages: list[StorageDocument]
    clients: list[int]
    group_clients: dict[str, list[int]]
    parameters: dict[str, list[Scalar]]
    tests: list[str]
    log_storages: list[StorageDocument | None]
    offered_rates_per_s: list[Scalar]
    profiles: list[ProfileDocument]
    scaled: list[ScaledDocument]
    of_tests: dict[str, OfTestDocument]
    prices: dict[str, PriceDocument]
    system_prices: dict[str, SystemPriceDocument]


class DatasetDocument(TypedDict, total=False):
    """A `Dataset`, as JSON."""

    fingerprint: str
    source: str
    description: str
    items: int
    skipped_items: int
    rows: Mapping[str, int]
    replicas: int
    variant: str
    how: str
    bytes_sent: int
    schema_ns: int
    load_ns: int
    index_ns: int
    analyze_ns: int
    foreign_keys_ns: int
    restore_ns: int | None
    size_on_disk_bytes: int | None
    data_bytes: int | None


class KeptDrive(TypedDict, total=False):
    """A `DriveDocument` without the deployment and scripts, as JSON."""

    is_result: bool
    """Its step was declared to be the result of the test."""
    seed: int
    clients: int
    order: str


class ExperimentFacts(TypedDict):
    """What determines the results of an experiment, beside what was asked."""

    machine: Machine
    workload: WorkloadRecord
    build: Build
    content: Mapping[str, object]
    """Of `assay.plan.content.Content`."""

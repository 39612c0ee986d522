"""Takes an experiment's record that could not be read to its end; says which document in it is not
of its shape. Documents are JSON, and a file may hold valid JSON that no program of ours wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import msgspec

from assay.observation import ShapeError, read_observation
from assay.record import faults
from assay.record.records import Document, ExperimentRecord, RunRecord

Scalar = str | int | float | bool


class _Address(msgspec.Struct):
    driver: str
    unix: str | None = None
    host: str | None = None
    port: int | None = None
    file: str | None = None
    tls: str = "off"


class _Storage(msgspec.Struct):
    name: str
    kind: str
    file_system: str | None = None
    device: str | None = None
    size_bytes: int | None = None


class _Deployment(msgspec.Struct):
    version: str
    address: _Address
    storage: _Storage
    connection_limit: int | None
    settings: dict[str, Scalar | None]
    settings_asked: dict[str, Scalar | None]
    settings_confirmed: list[str] = []
    settings_unknown: str = ""
    durability_lowered_by: list[str] = []
    is_embedded: bool = False


class _Dataset(msgspec.Struct):
    fingerprint: str
    source: str
    description: str
    entries: int
    rows: dict[str, int]
    replicas: int
    variant: str
    skipped_entries: int
    load_ns: int
    index_ns: int
    analyze_ns: int
    size_on_disk_bytes: int
    restore_ns: int | None = None
    buffer_bytes: int | None = None
    data_to_buffer: float | None = None


class _Driving(msgspec.Struct):
    arrival: str = "closed"
    offered_rate_per_s: float | None = None
    duration_s: float | None = None
    latency_limit_s: float | None = None
    reconnect_patience_s: float | None = None


class _Resolution(msgspec.Struct):
    lowest_ns: Annotated[int, msgspec.Meta(ge=1)]
    significant_digits: Annotated[int, msgspec.Meta(ge=1, le=5)]


class _Check(msgspec.Struct):
    id: str
    title: str
    expected: int | None
    found: int | None
    ok: bool | None
    note: str


class _Machine(msgspec.Struct):
    cpu_model: str | None = None
    processors: int | None = None
    processors_usable: int | None = None
    memory_bytes: int | None = None
    memory_limit_bytes: int | None = None


class _Workload(msgspec.Struct):
    name: str = ""
    fingerprint: str = ""
    report: dict[str, dict[str, Any]] = {}
    published: dict[str, dict[str, Any]] = {}
    series: dict[str, dict[str, Any]] = {}


@contextmanager
def checked(experiment: ExperimentRecord) -> Iterator[None]:
    """Where the block cannot read a document, and there is one that is not of its shape, an error
    that names it. Raises `ArgumentError`; what is wrong elsewhere goes on as it is."""
    try:
        yield
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        for place in _places(experiment):
            raise faults.damaged(ValueError(place), experiment.path) from error
        raise


def _places(experiment: ExperimentRecord) -> Iterator[str]:
    """Every document that is not of its shape, with the first key that is wrong."""
    yield from _wrong("machine", experiment.machine, _Machine)
    yield from _wrong("build", experiment.build, dict[str, Any])
    yield from _wrong("workload", experiment.workload, _Workload)
    for run in experiment.runs:
        for place in _of_run(run):
            yield f"run {run.id}: {place}"


def _of_run(run: RunRecord) -> Iterator[str]:
    yield from _wrong("parameters", run.parameters, dict[str, Scalar])
    yield from _wrong("driving", run.driving, _Driving)
    yield from _wrong("group_clients", run.group_clients, dict[str, int])
    if run.site is not None:
        yield from _wrong("deployment", run.site, _Deployment)
    if run.dataset is not None:
        yield from _wrong("data set", run.dataset, _Dataset)
    for number, check in enumerate(run.checks):
        yield from _wrong(f"checks[{number}]", check, _Check)
    for step in run.steps:
        observation: Document | None = step.observation
        if observation is None:
            continue
        if not isinstance(observation, Mapping):
            yield from _wrong("observation", observation, dict[str, Any])
        elif "outcomes" in observation or "version" in observation:
            if (resolution := observation.get("resolution")) is not None:
                yield from _wrong("observation.resolution", resolution, _Resolution)
            try:
                read_observation(observation)
            except ShapeError as error:
                yield str(error)


def _wrong(name: str, document: object, shape: Any) -> Iterator[str]:
    try:
        msgspec.convert(document, shape)
    except msgspec.ValidationError as error:
        what, _, place = str(error).partition(" - at `$")
        yield f"{name}{place.rstrip('`')}: {what[:1].lower()}{what[1:]}".replace("`", "")

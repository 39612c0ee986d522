"""The contract of a row source, and the data that a run needs of one, as a value. A new one
derives from `RowSource` and is registered as an entry point ``assay.row_sources``; a workload
names it: ``[data] source = "NAME"``."""

from __future__ import annotations

import hashlib
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from msgspec import Struct, structs

from assay import env_vars, registry
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Dialect, Table
from assay.contracts.documents import EngineDocument, convert, convert_without
from assay.contracts.engine import FileMistake
from assay.contracts.experiment import Experiment
from assay.contracts.factors import Scalar
from assay.contracts.observation import UpdateReport
from assay.contracts.systems.protocol import System
from assay.errors import Bug, PluginFailed
from assay.text.toml_file import TomlTable
from assay.workload.schema import Schema
from assay.workload.values import Workload


class ProgressReceiver(Protocol):
    """Gets what is said while input is read; `assay.contracts.events.Events` is one."""

    def stage(self, name: str) -> None: ...

    def warning(self, message: str) -> None: ...


class RunSystem(Protocol):
    """The system of a run and the statements of its test, for rows that depend on what these
    statements answer."""

    @property
    def dialect(self) -> Dialect:
        """Of the system."""
        ...

    def load(self, request: DataRequest) -> Deployment:
        """The system, filled with these rows."""

    def statements(self) -> Sequence[str]:
        """Those that the run's scripts send."""


class Asked(Struct, frozen=True):
    """The run that needs data."""

    parameters: Mapping[str, Scalar]
    """Of the run."""
    system: RunSystem
    """The one that is loaded."""
    is_empty: bool = False
    """The tables are made and hold no rows."""


class ExperimentRows(Protocol):
    """The rows of one experiment, whose input has been read."""

    def request(self, asked: Asked) -> DataRequest:
        """What the run is loaded with."""


@runtime_checkable
class UpdatesRows(Protocol):
    """Rows that can follow changes of their input: the step ``update``."""

    def update(
        self,
        deployment: Deployment,
        system: System,
        tables: Sequence[Table],
        parameters: Mapping[str, Scalar],
        seed: int,
    ) -> UpdateReport:
        """Changes copies of the input, brings the rows of the deployment up to date, and compares
        them with a fresh load."""


@runtime_checkable
class ReadsFiles(Protocol):
    """Rows that are read from files, which may change between two experiments."""

    @property
    def input_fingerprint(self) -> str:
        """Digest of the content of the files, and of how they are read."""


class RowsSize(NamedTuple):
    """The size of rows, before they are loaded."""

    rows: int
    """At least so many."""
    text_bytes: int
    """About, of all their values as text."""


class Download(Struct, frozen=True):
    """A data set that ``assay install NAME`` brings."""

    name: str
    help: str
    """Its first line is short."""
    get: Callable[[Path | None, Callable[[str], None], bool], Path]
    """Brings it to a folder (None: the user's data folder), says what is being done, replaces files
    that exist where asked to; returns the folder."""
    remove: Callable[[Path | None], str]
    """Removes it from there again, and says so. Raises `ArgumentError` where it is not there."""


class RowSource(ABC):
    """Where rows come from."""

    name: str
    """As ``[data] source`` says it."""
    makes_rows: bool = True
    """False: every table stays empty."""
    has_expressions: bool = False
    """Tables say how their rows are made, in the language of scripts."""
    starts_programs: bool = False
    """A workload says which program makes the rows."""
    reads_input: bool = False
    """The user may name files to read: ``--input``."""
    reads_parameters: tuple[str, ...] | None = None
    """Parameters of a workload that it reads by these names; None: any, so that none is refused as
    unused."""
    downloads: tuple[Download, ...] = ()
    """Data sets that ``assay install NAME`` brings."""

    def declared(self, data: TomlTable, schema: Schema) -> Any:
        """What ``[data]`` of the workload says to this source: `Workload.data`. Raises
        `ExperimentError` with the line."""
        del data, schema

    def check(self, workload: Workload, levels: Iterable[Mapping[str, Scalar]]) -> None:
        """Raises `ExperimentError` where rows cannot be made with one of these sets of parameters.
        Called before anything is started."""
        del workload, levels

    def check_input(self, paths: Sequence[str]) -> None:
        """Raises `InputError` for a file or folder of ``--input`` that cannot be read."""
        del paths

    def input_files(self, paths: Sequence[str]) -> Sequence[Path]:
        """The files that are read where ``--input`` names these paths: by default the paths. Raises
        `InputError` where one is not there."""
        return tuple(map(Path, paths))

    def rows_size(
        self,
        workload: Workload,
        paths: Sequence[str],
        parameters: Mapping[str, Scalar],
        language: str,
    ) -> RowsSize | None:
        """Of the rows of a run on a system with statements of this language, before anything is
        read or made; ``paths``: those of ``--input``. None: that is not known beforehand."""
        del workload, paths, parameters, language
        return None

    def refuse_update(self, workload: Workload) -> str | None:
        """Why the rows cannot follow changes of their input (the step ``update``); None: they can,
        and what `open` gives is `UpdatesRows`."""
        del workload
        return f"rows from the source {self.name!r} cannot be updated"

    @abstractmethod
    def open(
        self, workload: Workload, experiment: Experiment, listener: ProgressReceiver
    ) -> ExperimentRows:
        """The rows of an experiment; its input is read here, once. Raises `InputError` where that
        is wrong."""


def row_source(workload: Workload) -> RowSource:
    """The one that the workload names."""
    found: RowSource = registry.row_source(workload.data_source)
    return found


def opened(
    workload: Workload, experiment: Experiment, listener: ProgressReceiver
) -> ExperimentRows:
    """The rows of an experiment; its input is read here. Raises `PluginFailed` where the source
    gives something else."""
    rows = row_source(workload).open(workload, experiment, listener)
    if not callable(getattr(rows, "request", None)):
        raise _wrong(workload, "open", "ExperimentRows", rows)
    return rows


def request_of(workload: Workload, rows: ExperimentRows, asked: Asked) -> DataRequest:
    """What a run is loaded with. Raises `PluginFailed` where the source gives something else."""
    request = rows.request(asked)

    if not isinstance(request, DataRequest):
        raise _wrong(workload, "request", "a DataRequest", request)
    return request


def _wrong(workload: Workload, function: str, expected: str, value: object) -> PluginFailed:
    return PluginFailed(
        f"the source of rows {workload.data_source!r}: expected {expected} from {function}(), "
        f"found {type(value).__name__}"
    )


Cell = object
"""None, bool, int, float, str or bytes; of any other value the text that its class defines, as that
of a decimal number or a date. The load is refused, on every system, unless each cell is a value of
its column's type or the text of one: a date as ``2024-02-29``, a number that is finite."""

Rows = Mapping[str, Iterable[Sequence[Cell]]]
"""Table → its rows, whose cells are in the order of the table's columns. Tables are filled in their
own order, whatever order they have here; one that is not here stays empty."""

MakesRows = EngineDocument | Callable[[], Rows]
"""A document from which the engine makes the rows itself (its ``kind`` says how), or rows made in
Python, anew at each call."""


class Problem(FileMistake):
    """Something wrong in the input."""

    severity: str
    """``error``: rows are missing because of it; ``warning``."""


class DataRequest(Struct, frozen=True):
    """Which data a run needs."""

    source: MakesRows
    """Makes the rows, when the load asks for them."""
    origin: str
    """``real``, ``synthetic``, ``files`` or ``generated``: where the data come from, said in every
    report."""
    description: str
    """What the data are, in a few words, for reports."""
    fingerprint: str
    """Digest of the content of the input, before replication."""
    items: int
    """Of the input, before replication."""
    files: tuple[str, ...] = ()
    """That are read for the rows."""
    settings: object = None
    """What decides the rows beside the input that has this fingerprint, as plain data; None:
    nothing."""
    is_divisible: bool = False
    """Any part of the rows can be made by itself, so that several sessions can load them."""
    bytes_total: int = 0
    """Bytes of input that are read to make all rows, for progress; 0: not known."""
    problems: tuple[Problem, ...] = ()
    """What the reader found wrong and skipped or warned of."""
    skipped_items: int = 0
    """Of the input, that could not be read."""
    replicas: int = 1
    """How many times the input is taken."""
    variant: str = "full"
    """Which form of the input is taken; most sources have one only."""
    rows_expected: Mapping[str, int] | None = None
    """Table → its number of rows, where that is known before any row is made."""
    checksums: Callable[[], Mapping[str, str]] | None = None
    """Makes all rows and returns each table's digest; None: only a load shows it."""
    declared_fingerprint: str = ""
    """Digest of what is declared of the rows of all tables, also of those that systems of another
    language have; empty: not known."""

    @property
    def key(self) -> str:
        """Equal keys mean equal rows: a system that holds them need not be loaded again."""
        decisive = json.dumps([self.fingerprint, self.settings], sort_keys=True)
        return hashlib.sha256(decisive.encode()).hexdigest()

    def for_record(self) -> dict[str, Any]:
        """Plain data, as `record` keeps it."""
        fields = structs.asdict(self)
        kept = {name: value for name, value in fields.items() if name not in _NOT_KEPT}
        return {**kept, "source": self.origin, "files": list(self.files)}

    @classmethod
    def of_record(cls, document: dict[str, Any], name: str) -> Self:
        """As `for_record` has it, without the rows; ``name`` stands for the document in messages.
        Raises `ShapeError`."""
        kept = convert_without(document, cls, _NOT_KEPT, name)
        return cls(_gone, convert(document.get("source"), str, f"{name}.source"), **kept)


_NOT_KEPT = frozenset(
    {"source", "origin", "settings", "is_divisible", "rows_expected", "checksums"}
)


def _gone() -> Rows:
    raise Bug("the rows of a data set on record cannot be made again")


PLACE_HINT = f"${env_vars.INPUT_DIRECTORY.name} names another folder for data sets"


def input_folder() -> Path:
    """The folder of all data sets: ``$ASSAY_INPUT_DIRECTORY``, else the user's data folder."""
    if given := env_vars.INPUT_DIRECTORY.get():
        return Path(given)
    data = env_vars.XDG_DATA_HOME.get()
    if data:
        return Path(data) / "assay" / "input"
    home = env_vars.home()
    if home is None:
        return Path(f"/var/tmp/assay-{os.geteuid()}") / "input"
    return home / ".local" / "share" / "assay" / "input"

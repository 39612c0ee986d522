"""The contract of a row source. A new one derives from `RowSource` and is registered as an entry
point ``assay.row_sources``; a workload names it: ``[data] source = "NAME"``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from msgspec import Struct

from assay import registry
from assay.contracts.deployment import Deployment
from assay.contracts.dialects.protocol import Dialect, Table
from assay.contracts.experiment import Experiment
from assay.contracts.factors import Scalar
from assay.contracts.observation import UpdateReport
from assay.contracts.systems.protocol import System
from assay.errors import PluginFailed
from assay.text.files.toml_file import TomlTable
from assay.workload.schema import Schema
from assay.workload.values import Workload

if TYPE_CHECKING:
    from assay.load.row_sources.request import DataRequest


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
    """A data set that ``assay get NAME`` brings."""

    name: str
    help: str
    """Its first line is short."""
    get: Callable[[Path | None, Callable[[str], None], bool], Path]
    """Brings it to a folder (None: the user's data folder), says what is being done, replaces files
    that exist where asked to; returns the folder."""


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
    """Data sets that ``assay get NAME`` brings."""

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
    from assay.load.row_sources.request import DataRequest

    if not isinstance(request, DataRequest):
        raise _wrong(workload, "request", "a DataRequest", request)
    return request


def _wrong(workload: Workload, function: str, expected: str, value: object) -> PluginFailed:
    return PluginFailed(
        f"the source of rows {workload.data_source!r}: expected {expected} from {function}(), "
        f"found {type(value).__name__}"
    )

"""The typed face of the engine. Documents go in and come out as JSON text; their shapes are those
of the Rust structs they are named after.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import NoReturn, final

from assay.contracts.documents import TextStyle

__all__ = [
    "EngineError",
    "NullDbapiConnection",
    "NullDbapiCursor",
    "Rows",
    "Session",
    "TomlPlaces",
    "become_confined_program",
    "bib_replicate",
    "bib_scan",
    "bib_synthesize",
    "bib_write_sql",
    "build_info",
    "check_clients",
    "check_load_sessions",
    "confine_thread",
    "connects_are_measured",
    "cut_at_names",
    "delay",
    "disk_model",
    "disk_model_parameters",
    "disk_model_reference",
    "disk_model_seconds",
    "drive",
    "drivers",
    "drivers_with_transactions",
    "end_with_parent",
    "enter_own_network",
    "evaluate",
    "expected_of_option",
    "explain",
    "generate",
    "is_distribution",
    "languages",
    "load",
    "measure",
    "merge_latency",
    "never_prepared",
    "null_protocols",
    "observation_schema",
    "probe",
    "python_drivers",
    "query",
    "script_reference",
    "script_warnings",
    "serve",
    "split_statements",
    "statements",
]

class EngineError(Exception):
    """What the engine could not do.

    ``kind`` is ``script``, ``system``, ``source``, ``machine`` or ``document``. A place (``file``,
    ``line``, ``column``) comes with scripts and sources; ``error_class``, ``code`` and
    ``certainty`` (``undone`` or ``unknown``: the statement's effect) with systems.
    """

    kind: str
    message: str
    error_class: str
    certainty: str
    code: str
    file: str
    line: int
    column: int
    hint: str | None

@final
class Rows:
    """The answer to one statement, in text form."""

    @property
    def is_query(self) -> bool:
        """Whether the statement is a query, even one without rows. An answer of documents has
        columns only where it has rows."""
    @property
    def columns(self) -> list[str]: ...
    @property
    def rows(self) -> list[tuple[str | None, ...]]: ...
    @property
    def affected(self) -> int: ...

@final
class Session:
    """One session with a system, for schema, settings and questions; not for measuring."""

    def __new__(cls, deployment: str, look: Callable[[str], None] | None = None) -> Session:
        """``look`` is called ten times a second while an answer is waited for; what it raises ends
        the wait."""
    def execute(self, statement: str) -> Rows: ...
    def digest(self, statement: str, types: list[str] | None = None) -> tuple[int, str]:
        """Number of rows, and a digest that is equal for equal sets of rows in any order; with the
        neutral types of the columns also across systems, which print one value in several ways."""
    @property
    def server_version(self) -> str: ...
    @property
    def session_id(self) -> int:
        """The id that the server gave the session at login; 0: none."""
    def close(self) -> None: ...

@final
class TomlPlaces:
    """Where the keys, tables and elements of a text begin that is TOML."""

    def __new__(cls, text: str) -> TomlPlaces: ...
    def place(self, path: Sequence[str | int]) -> tuple[int, int, str]:
        """The 1-based line, the 1-based column of the value's text in it, and the value as it is
        spelled. Of what is not there: the line of the innermost table around it that has one, 0 for
        the whole file."""

@final
class NullDbapiConnection:
    """A connection of a DB-API module that does nothing."""

    def __new__(cls) -> NullDbapiConnection: ...
    autocommit: bool
    @staticmethod
    def cursor() -> NullDbapiCursor: ...
    @staticmethod
    def commit() -> None: ...
    @staticmethod
    def rollback() -> None: ...
    @staticmethod
    def close() -> None: ...

@final
class NullDbapiCursor:
    """Its cursor: a query has one row, every other statement none."""

    @property
    def description(self) -> Sequence[tuple[object, ...]] | None: ...
    @property
    def rowcount(self) -> int: ...
    def execute(self, operation: str, parameters: object = None) -> None: ...
    @staticmethod
    def executemany(operation: str, parameters: object) -> None: ...
    def fetchmany(self, size: int = 1) -> list[tuple[int]]: ...
    @staticmethod
    def close() -> None: ...

def build_info() -> str:
    """JSON: version, profile, drivers."""

def check_clients(driver: str, clients: int, threads: int) -> None:
    """Raises where this machine has not the threads and open files for so many clients; 0 threads:
    as the engine chooses."""

def check_load_sessions(sessions: int) -> None:
    """Raises where this machine has not the threads and open files for so many sessions."""

def end_with_parent(requests: int, lines: int) -> None:
    """Kills this process and its group when no process can write to the pipe ``requests`` any more;
    writes an error to ``lines`` where ``connect()`` of a Python module exceeds its limit."""

def connects_are_measured() -> None:
    """From now on ``connect()`` has no such limit."""

def drivers() -> list[str]: ...
def drivers_with_transactions() -> list[str]:
    """Those of them whose scripts may begin transactions."""

def expected_of_option(driver: str, name: str, value: str) -> str | None:
    """What the driver expects as the value of one of its options; None: it can take this one. Of
    a library driver always None."""

def python_drivers() -> list[str]:
    """Those of them that call Python, of which a process runs one thread at a time."""

def drive(
    document: str,
    progress: Callable[[str], bool | None] | None = None,
    ready: Callable[[], int | None] | None = None,
) -> str:
    """Runs a `DriveDocument`; returns an `Observation`. The interpreter is free meanwhile;
    ``progress`` gets a `DriveProgress` at most ten times a second; where it returns False, clients
    end, and the observation is ``interrupted``. ``ready`` is called once, when
    every client is connected and has prepared its statements: it gives the instant at which to
    begin, in nanoseconds since 1970, or None for at once."""

def load(
    document: str,
    source: str | Mapping[str, Iterable[Sequence[object]]],
    progress: Callable[[str], None] | None = None,
) -> str:
    """Runs a `LoadDocument` with rows of a `SourceDocument`, or with those of each table that are
    handed over; returns a `LoadReport`. What iterating over rows raises is raised."""

def generate(
    source: str, document: str, file_descriptor: int, progress: Callable[[str], None] | None = None
) -> str:
    """Writes the rows of one table as an `ExportDocument` says; returns an `ExportReport`."""

def measure(
    source: str, with_checksums: bool = False, progress: Callable[[str], None] | None = None
) -> str:
    """Rows, bytes and checksums of the tables of a `GeneratedDocument`; returns a `Measure`."""

def merge_latency(parts: str) -> str:
    """All samples of a list of `EncodedHistogram` in one `Latency`; exact, in any order."""

def observation_schema() -> str:
    """The JSON Schema of an `Observation`, as JSON text."""

def query(document: str, look: Callable[[str], None] | None = None) -> list[tuple[str, Rows]]:
    """Runs every script of a `DriveDocument` once in one session, parameters bound; returns
    (transaction, rows) of each statement."""

def probe(deployment: str, upto: int, look: Callable[[str], None] | None = None) -> str:
    """Opens sessions and holds them until one is refused; returns a `Probe`."""

def evaluate(
    text: str,
    constants: list[tuple[str, bool | int | float | str]],
    file: str,
    line: int,
    column: int,
) -> bool | int | float | str | None:
    """The value of an expression that uses nothing but ``constants``."""

def serve(document: str, ready: Callable[[str], None] | None = None) -> str:
    """Plays the null server of a `ServeDocument` until a signal's handler raises; returns a
    `Served`. ``ready`` gets a `Listening` once it listens. The interpreter is free meanwhile."""

def delay(document: str, ready: Callable[[str], None] | None = None) -> str:
    """Runs the delay proxy of a `DelayDocument` until a signal's handler raises; returns a
    `Delayed`. ``ready`` gets a `Delaying` once it listens. The interpreter is free meanwhile."""

def null_protocols(language: str | None = None) -> list[str]:
    """The protocols that `serve` speaks, under the names of their drivers."""

def confine_thread(
    reads: Sequence[str], writes: Sequence[str], user: tuple[int, int] | None, reads_others: bool
) -> None:
    """Confines the calling thread for good, with the threads and programs that it starts: files are
    read below ``reads`` and ``writes``, and changed below ``writes`` alone. It loses all
    capabilities, and becomes ``user`` (its number and that of its group). With
    ``reads_others`` it may still read there what is not that user's. `OSError` where the kernel
    cannot; the thread is then to do nothing more."""

def become_confined_program(
    reads: Sequence[str], writes: Sequence[str], words: Sequence[str]
) -> NoReturn:
    """Confines this process in the same way, but for its user, and becomes the program."""

def enter_own_network() -> None:
    """Moves this process, which has one thread, into a network that has loopback alone."""

def disk_model(arguments: Sequence[str]) -> int:
    """Runs the program of modelled disks (``crates/disk-model``) with these words to its end;
    returns its exit status. For a process of its own: it takes SIGTERM and SIGINT for itself."""

def disk_model_parameters(text: str, size_bytes: int) -> str:
    """The disk of so many bytes that ``KEY=VALUE,…`` makes: ``profile``, ``kind``, ``source`` of
    the profile's numbers, and all ``parameters``."""

def disk_model_reference() -> str:
    """``profiles`` (name, kind, source, parameters) and ``parameters`` (name, kinds of disks that
    have it, help)."""

def disk_model_seconds(path: str | PathLike[str], from_ns: int, to_ns: int) -> str:
    """What ended in each second of a period (nanoseconds since 1970), by the account of a modelled
    disk: a list of `AccountedSecond`, as JSON. `EngineError` where it is no account."""

def explain(document: str) -> str:
    """The instruction list of a `DriveDocument`'s scripts."""

def is_distribution(text: str) -> bool:
    """Whether the text spells a distribution of durations, as ``exponential:1s``."""

def statements(document: str) -> list[tuple[str, str]]:
    """(transaction, text with its values as ``:name``) of every statement of a `DriveDocument`'s
    scripts."""

def never_prepared(document: str) -> list[tuple[str, int, int]]:
    """(path, line, column) of the statements that the protocol ``prepared`` sends as text, but for
    those that begin or end a transaction: they neither read nor change rows, nor have values."""

def script_warnings(document: str) -> list[tuple[str, int, int, str, str | None]]:
    """(path, line, column, message, fix) of what the scripts of a `DriveDocument` probably do not
    mean: a parameter within quotes, a transaction that is not ended on every branch."""

def split_statements(text: str, path: str, style: TextStyle) -> list[tuple[str, int, int]]:
    """A plain file as (statement, line, column)."""

def languages() -> list[str]:
    """Those that scripts may have statements in; SQL, the language of ``.sql``, is the first."""

def cut_at_names(text: str, style: TextStyle) -> list[str]:
    """The text of a script in pieces, which joined are the text: those with an odd index are the
    names in double quotes in its statements, with these quotes."""

def script_reference() -> str:
    """The script language's meta commands, functions and opcodes, as Markdown."""

def bib_scan(document: str, progress: Callable[[str], None] | None = None) -> str: ...
def bib_write_sql(document: str, file_descriptor: int) -> str: ...
def bib_replicate(document: str, file_descriptor: int) -> str: ...
def bib_synthesize(document: str) -> str: ...

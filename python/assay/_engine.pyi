"""The typed face of the engine. Documents go in and come out as JSON text; their shapes are those
of the Rust structs they are named after.
"""

from collections.abc import Callable
from typing import final

__all__ = [
    "EngineError",
    "Rows",
    "Session",
    "bib_replicate",
    "bib_scan",
    "bib_synthesize",
    "bib_write_sql",
    "build_info",
    "drive",
    "drivers",
    "explain",
    "load",
    "probe",
    "script_reference",
    "split_statements",
    "statements",
]

class EngineError(Exception):
    """What the engine could not do.

    ``kind`` is ``script``, ``system``, ``source`` or ``document``. A place (``file``, ``line``,
    ``column``) comes with scripts and sources; ``error_class`` and ``code`` with systems.
    """

    kind: str
    message: str
    error_class: str
    code: str
    file: str
    line: int
    column: int
    hint: str | None

@final
class Rows:
    """The answer to one statement, in text form."""

    @property
    def columns(self) -> list[str]: ...
    @property
    def rows(self) -> list[tuple[str | None, ...]]: ...
    @property
    def affected(self) -> int: ...

@final
class Session:
    """One session with a system, for schema, settings and questions; not for measuring."""

    def __new__(cls, site: str) -> Session: ...
    def execute(self, statement: str) -> Rows: ...
    def digest(self, statement: str) -> tuple[int, str]:
        """Number of rows, and a digest that is equal for equal sets of rows in any order."""
    @property
    def server_version(self) -> str: ...
    def close(self) -> None: ...

def build_info() -> str:
    """JSON: version, profile, drivers."""

def drivers() -> list[str]: ...
def drive(document: str, progress: Callable[[str], None] | None = None) -> str:
    """Runs a `DriveDocument`; gives an `Observation`. The interpreter is free meanwhile;
    ``progress`` gets a `DriveProgress` at most ten times a second."""

def load(document: str, source: str, progress: Callable[[str], None] | None = None) -> str:
    """Runs a `LoadDocument` with rows of a `SourceDocument`; gives a `LoadReport`."""

def probe(site: str, upto: int) -> str:
    """Opens sessions and holds them until one is refused; gives a `Probe`."""

def explain(document: str) -> str:
    """The instruction list of a `DriveDocument`'s scripts."""

def statements(document: str) -> list[tuple[str, str]]:
    """(transaction, text as it is sent) of every statement of a `DriveDocument`'s scripts."""

def split_statements(text: str, path: str, literal_style: str) -> list[tuple[str, int, int]]:
    """A plain file as (statement, line, column)."""

def script_reference() -> str:
    """The script language's meta commands, functions and opcodes, as Markdown."""

def bib_scan(document: str, progress: Callable[[str], None] | None = None) -> str: ...
def bib_write_sql(document: str, file_descriptor: int) -> str: ...
def bib_replicate(document: str, file_descriptor: int) -> str: ...
def bib_synthesize(document: str) -> str: ...

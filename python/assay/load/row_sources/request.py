"""The data that a run needs, as a value: the source of the rows, and everything that determines
them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from assay.contracts.engine.document import EngineDocument
from assay.contracts.engine.messages import FileMistake

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
        left_out = {"source", "origin", "settings", "is_divisible", "rows_expected", "checksums"}
        kept = {name: value for name, value in structs.asdict(self).items() if name not in left_out}
        return {**kept, "source": self.origin, "files": list(self.files)}

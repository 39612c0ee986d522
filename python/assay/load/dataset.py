"""A loaded data set: the options of its load, its rows and times; and whether runs were loaded with
the same data."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from msgspec import Struct, field, structs

from assay.contracts.deployment import Deployment
from assay.contracts.documents import convert_without, with_hidden
from assay.load.row_sources.protocol import DataRequest


class Dataset(Struct, frozen=True):
    """The rows in a deployment, counted there."""

    request: DataRequest
    rows: Mapping[str, int]
    """Rows per table, as the system counts them."""
    bytes_sent: int
    schema_ns: int
    load_ns: int
    index_ns: int
    analyze_ns: int
    size_on_disk_bytes: int | None
    options: Mapping[str, str] = field(default_factory=dict)
    foreign_keys_ns: int = 0
    data_bytes: int = 0
    """Of tables and indexes, without logs and catalogue."""
    sessions: int = 1
    """Sessions that loaded concurrently, each in its own transaction."""
    checksums: Mapping[str, str] = field(default_factory=dict)
    """Table → digest of its rows, where it was read back and found equal (``--verify``)."""
    how: str = "loaded"
    """``loaded``, or ``restored`` from a copy; the times are then those of the original load."""
    restore_ns: int = 0
    """For stopping the server, copying, and starting it."""
    buffer_bytes: int | None = None
    """The size of the server's buffer where it was computed from the data; None: it was not."""
    data_to_buffer: float | None = None
    """The ratio of the data's size to that buffer's size."""
    data_to_buffer_asked: float | None = None
    """The ratio that the test asks for, where the buffer stayed as it was: the server is not
    started by Assay. None: it was made so, or none is asked for."""
    files_on_disk: int | None = None
    """In the data directories, after the load; None: only the server's machine has them."""

    @property
    def one_load(self) -> tuple[object, ...]:
        """Identifies a load: equal for runs that reused the data of an earlier run or a copy of
        them."""
        asked = (self.request.fingerprint, self.request.replicas, self.request.variant)
        times = (self.schema_ns, self.load_ns, self.index_ns, self.analyze_ns)
        return (*asked, *times, *sorted(self.rows.items()))

    @property
    def made_ns(self) -> int:
        """Of loading, indexing and analyzing."""
        return self.load_ns + self.index_ns + self.analyze_ns

    def for_record(self) -> dict[str, Any]:
        """Plain data, as `record` keeps it."""
        own = {key: value for key, value in structs.asdict(self).items() if key != "request"}
        return {**own, **self.request.for_record()}

    @classmethod
    def of_record(cls, document: Any, name: str) -> Self:
        """As `for_record` has it; ``name`` stands for the document in messages. Raises
        `ShapeError`."""
        plain = with_hidden(document)
        own = convert_without(plain, cls, frozenset({"request"}), name)
        return cls(DataRequest.of_record(plain, name), **own)


_ROWS_PER_SESSION = 50_000
"""With fewer rows per session, another session does not pay."""


class Loading(Struct, frozen=True):
    """Options that determine how rows are loaded, not which rows."""

    sessions: int | None = None
    """Sessions that load concurrently, each a part of every table; None: `sessions_for` decides."""
    is_verified: bool = False
    """Whether every table is read back and compared with the generated rows."""
    datasets: Path | None = None
    """The folder in which copies of loaded data are kept after an experiment; None: none are
    kept."""

    def sessions_for(self, deployment: Deployment, request: DataRequest) -> int:
        """The number of sessions to load with. 1 for rows that cannot be divided and for an
        embedded system, which has one writer. For a server the number given, else one per two
        processors of this machine, because a session keeps one busy in the server and part of
        another in the client; few rows get 1. With several sessions the order of rows in a heap
        table differs from load to load."""
        if not request.is_divisible or deployment.is_embedded:
            return 1
        if self.sessions is not None:
            return self.sessions
        rows = sum((request.rows_expected or {}).values())
        pays = (os.cpu_count() or 1) // 2
        return max(1, min(pays, rows // _ROWS_PER_SESSION))


DEFAULT_LOADING = Loading()


_DIGITS = 12
"""Of a digest, where two are shown side by side."""


class _Loaded(NamedTuple):
    label: str
    """Of the system."""
    language: str
    """Of its statements: the tables of a workload may depend on it, and with them what a source of
    rows says of the whole."""
    dataset: Dataset


class _Known(Struct):
    """Of what was loaded alike, the first that said each fact: the others agree with it, so that a
    further one is compared with these alone, however many there were."""

    rows: dict[str, _Loaded] = field(default_factory=dict)
    """By table, as the next one."""
    checksums: dict[str, _Loaded] = field(default_factory=dict)
    keys: dict[str, _Loaded] = field(default_factory=dict)
    """By the language of the statements."""

    def add(self, loaded: _Loaded) -> None:
        for table in loaded.dataset.rows:
            self.rows.setdefault(table, loaded)
        for table in loaded.dataset.checksums:
            self.checksums.setdefault(table, loaded)
        self.keys.setdefault(loaded.language, loaded)


class SameData(Struct):
    """What was loaded so far, by what was asked for."""

    _known: dict[str, _Known] = field(default_factory=dict)

    def difference(
        self, asked: Mapping[str, object], label: str, language: str, dataset: Dataset
    ) -> str | None:
        """How the data set differs from one that was loaded before; None: it is the same rows as
        far as that is known. ``asked``: the parameters, and whatever else decides the rows."""
        loaded = _Loaded(label, language, dataset)
        known = self._known.setdefault(
            json.dumps(dict(asked), sort_keys=True, default=str), _Known()
        )
        if (how := _difference(loaded, known)) is None:
            known.add(loaded)
        return how


def _difference(loaded: _Loaded, known: _Known) -> str | None:
    new = loaded.dataset
    for table, rows in new.rows.items():
        before = known.rows.get(table, loaded)
        if (rows_before := before.dataset.rows[table]) != rows:
            return _sentence(loaded, before, f"rows of {table}", rows, rows_before)
    for table, digest in new.checksums.items():
        before = known.checksums.get(table, loaded)
        if (other := before.dataset.checksums[table]) != digest:
            return _sentence(
                loaded, before, f"digest of the rows of {table}", digest[:_DIGITS], other[:_DIGITS]
            )
    before = known.keys.get(loaded.language, loaded)
    old = before.dataset
    if new is not old and new.request.key != old.request.key:
        what = "digest of the source of its rows"
        digests = [one.request.fingerprint for one in (new, old)]
        if digests[0] == digests[1]:
            what = "digest of all that decides its rows"
            digests = [one.request.key for one in (new, old)]
        return _sentence(loaded, before, what, *(digest[:_DIGITS] for digest in digests))
    return None


def _sentence(
    loaded: _Loaded, before: _Loaded, what: str, value: int | str, value_before: int | str
) -> str:
    return (
        f"{loaded.label} was loaded with other data than {before.label}: {what}: {value} on "
        f"{loaded.label}, {value_before} on {before.label}"
    )

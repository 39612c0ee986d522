"""What steps report that drive no clients: an update of the rows, the most sessions there can be, a
backup."""

from __future__ import annotations

from assay.contracts.observation.cache_state import CacheState
from assay.contracts.observation.shape import Shape


class UpdatedTable(Shape, frozen=True):
    """One table behind an update; ``fresh_rows``: behind a load of the same input."""

    rows: int
    digest: str
    fresh_rows: int


class UpdateReport(Shape, frozen=True, tag_field="kind", tag="update"):
    """Rows that followed changes of their input. Files and rows are those of all updates."""

    changed_files: int
    vanished_files: int
    deleted_rows: int
    inserted_rows: int
    elapsed_ns: int
    """Of one update, the median."""
    equals_fresh_load: bool
    tables: dict[str, UpdatedTable]
    updates: int = 1
    loaded_bytes: int | None = None
    """Of the files of the tables, before the first update; None: not reported by the system."""
    updated_bytes: int | None = None
    """After the last one."""
    growth_ratio: float | None = None
    """``updated_bytes`` to ``loaded_bytes``."""


class Refusal(Shape, frozen=True, rename={"class_": "class"}):
    """How a system refused a session."""

    class_: str
    code: str
    message: str


class SessionsFound(Shape, frozen=True):
    """How many sessions were accepted, and the limit if the system states one."""

    limit: int | None
    opened: int
    refused_at: int | None
    error: Refusal | None


class LimitReport(Shape, frozen=True, tag_field="kind", tag="limit"):
    """The most sessions, with the system's default limit and with it raised for ``upto``."""

    upto: int
    default: SessionsFound
    raised: SessionsFound


class Answered(Shape, frozen=True):
    """Transactions of one client, each sent again until it is answered."""

    transactions: int
    median_ns: int
    longest_ns: int
    """From the first try to the answer: the longest time that nothing was answered."""


class BackupReport(Shape, frozen=True, tag_field="kind", tag="backup"):
    """A backup, what clients noticed of it, and what came back from it."""

    way: str
    size_bytes: int
    """Of its files, holes left out."""
    shares_blocks: bool
    """Whether it takes no space of its own until the data change."""
    backup_ns: int
    """Until it was on the storage."""
    reads: Answered
    writes: Answered
    """Of a client that read, and of one that wrote, while the backup was made."""
    restore_ns: int
    """From a system without these data to the first answer of one with them."""
    equals_source: bool
    """Whether every table has the rows that it had before the backup."""
    lost_writes: int
    """Writes that were acknowledged before the backup began, and are not in it."""
    tables: dict[str, int]
    """Rows of each table, restored."""

    @property
    def elapsed_ns(self) -> int:
        return self.backup_ns


class SpaceReuseReport(Shape, frozen=True, tag_field="kind", tag="space_reuse"):
    """The size of the files of tables whose rows were deleted and inserted again."""

    cycles: int
    """How often."""
    loaded_bytes: int
    deleted_bytes: int
    """After the first deletion."""
    reinserted_bytes: int
    """After the first insertion of the same rows."""
    last_bytes: int
    """After the last one."""
    first_ratio: float
    """``reinserted_bytes`` to ``loaded_bytes``: 1 where the space is reused."""
    last_ratio: float
    equals_load: bool
    """Whether the tables hold the rows that were loaded."""


class NativeClientsReport(Shape, frozen=True, tag_field="kind", tag="native_clients"):
    """Processes of the system's own client program, one for each client."""

    program: str
    clients: int
    elapsed_ns: int
    """From the start of the first process to the end of the last."""
    fastest_ns: int
    median_ns: int
    """Of one process, from the start of the first."""
    rows: int
    """Lines that the first process wrote."""
    expected_rows: int | None
    """None: not known for these data."""
    failed: int
    """Processes whose exit status was not 0."""
    wrong: int
    """Others with another number of rows than expected."""
    outputs: int
    """How many different outputs there were: 1 where all clients were answered alike."""
    first_error: str
    threads: int | None
    """Of the process with the most, as the next two. None: all ended before they were sampled."""
    virtual_bytes: int | None
    resident_bytes: int | None
    cpu_ns: int
    """Of all processes together."""
    program_version: str = ""
    """As the program says it: of a library it need not be that of the library."""
    cache_state: CacheState | None = None
    """What was done to the caches before; None: nothing."""


OtherReport = UpdateReport | LimitReport | BackupReport | SpaceReuseReport | NativeClientsReport

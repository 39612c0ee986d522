"""A loaded data set: its rows, and the times of the load."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field, structs

from assay.load.row_sources.request import DataRequest


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

    def for_record(self) -> dict[str, Any]:
        """Plain data, as `record` keeps it."""
        own = {key: value for key, value in structs.asdict(self).items() if key != "request"}
        return {**own, **self.request.for_record()}

"""Takes a storage engine; returns the setting and the counters of the buffer in which it keeps
pages.

Of MyISAM only indexes have one: rows are read through the operating system's cache of files.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from msgspec import Struct

from assay.contracts.experiment import SystemChoice
from assay.provision.engine.engine_calls import Session
from assay.systems.answers import rows_of
from assay.systems.mysql_protocol.names import plain_name
from assay.systems.options import buffer_bytes, refuse_beyond_memory, rounded_up

_SIZE = re.compile(r"(\d+)([KMGT]?)")
_POWERS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


class Buffer(Struct, frozen=True):
    setting: str
    unit_bytes: int
    """The server rounds to it, or takes nothing else."""
    least_bytes: int
    """With pages of the usual size."""
    requests: str
    """Name of the status variable: pages that were asked for."""
    reads: str
    """Those of them that were not in the buffer."""
    default_bytes: int | None = None
    """As the server has it; None: products differ."""

    def settings(self, size_bytes: int) -> dict[str, str]:
        """That give it so many bytes, or a few more."""
        return {self.setting: str(rounded_up(size_bytes, self.unit_bytes, self.least_bytes))}


POOL = Buffer(
    "innodb_buffer_pool_size",
    1 << 20,
    6 << 20,
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_reads",
    128 << 20,
)
KEYS = Buffer("key_buffer_size", 4 << 10, 64 << 10, "Key_read_requests", "Key_reads")
"""Of MyISAM: its indexes."""


def settings(own: Buffer, options: Mapping[str, str], asked: Collection[str]) -> dict[str, str]:
    """The settings that the option ``buffer`` means; none where nothing is asked."""
    size = buffer_bytes(options, {plain_name(name) for name in asked}, own.setting)
    return {} if size is None else own.settings(size)


def check(own: Buffer, options: Mapping[str, str], choice: SystemChoice) -> None:
    """Raises `ArgumentError` for a buffer that is no size, that is asked for twice, or that does
    not fit into the memory of the server."""
    by_name = {plain_name(name): value for name, value in choice.settings.items()}
    asked = {**settings(own, options, choice.settings), **by_name}
    found = _SIZE.fullmatch(asked.get(own.setting, "").strip().upper())
    size = int(found[1]) << _POWERS[found[2]] if found else None
    refuse_beyond_memory(choice, size, None if own.setting in asked else own.default_bytes)


def size_bytes(own: Buffer | None, effective: Mapping[str, str]) -> int | None:
    """What the server has really given the buffer."""
    return None if own is None or own.setting not in effective else int(effective[own.setting])


_CHANGES = ("Handler_write", "Handler_update", "Handler_delete")


def counters(own: Buffer | None, opened: Session) -> dict[str, int]:
    """Pages found in the buffer and pages read into it, and rows changed by any storage engine,
    since the server was started."""
    names = [*_CHANGES, *([own.requests, own.reads] if own else [])]
    shown = ", ".join(f"'{name}'" for name in names)
    rows = rows_of(opened, f"SHOW GLOBAL STATUS WHERE Variable_name IN ({shown})", columns=2)
    counted = {str(name): int(value or 0) for name, value in rows or ()}
    found = {}
    if set(_CHANGES) <= counted.keys():
        found["rows_changed"] = sum(counted[name] for name in _CHANGES)
    if own is not None and {own.requests, own.reads} <= counted.keys():
        misses = counted[own.reads]
        hits = max(0, counted[own.requests] - misses)
        found |= {"buffer_hits": hits, "buffer_misses": misses}
    return found

"""What was done to the caches before a measurement, and what it left there."""

from __future__ import annotations

from assay.contracts.observation.parts.shape import Shape


class CacheState(Shape, frozen=True):
    """Of the operating system's page cache and the system's own buffer, before the measurement."""

    cache: str
    """What was asked for: ``cold``, ``cold-machine`` or ``warm``."""
    done: tuple[str, ...]
    """What was done: ``restarted``, ``its files dropped``, ``its files read`` …"""
    file_bytes: int | None = None
    """Of the files in the data directories; None: they cannot be seen."""
    cached_bytes: int | None = None
    """Of them, in the page cache after that."""

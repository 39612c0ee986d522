"""Takes the size that is asked of the buffer; returns the server's settings for it."""

from __future__ import annotations

from collections.abc import Mapping

from assay.systems.options import buffer_bytes, rounded_up

_LEAST_BYTES = 128 << 10


def settings(options: Mapping[str, str], asked: Mapping[str, str]) -> dict[str, str]:
    """Of the option ``buffer``; none where it is not asked for. Raises `ArgumentError`."""
    names = [name.lower() for name in asked]
    size = buffer_bytes(options, names, "shared_buffers")
    if size is None:
        return {}
    return {"shared_buffers": f"{rounded_up(size, 8 << 10, _LEAST_BYTES) >> 10}kB"}

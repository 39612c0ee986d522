"""Takes what is asked of a private cluster and its memory limit; returns the size of each node's
Java heap.

A heap that grows beyond the limit would have the kernel end the node in the middle of a run: Java
does not know what the server takes outside the heap.
"""

from __future__ import annotations

from assay.errors import ArgumentError
from assay.systems.options import size_bytes
from assay.text.mentions import Mention, phrase
from assay.text.sizes import size_word

LEAST_HEAP_BYTES = 256 << 20
"""The server does not start with less."""
_BESIDE_BYTES = 256 << 20
"""Of a node, outside its heap: Java itself with its code and threads, buffers, pages of files."""


def heap_bytes(
    asked: str | None, default: str, *, nodes: int, cache_bytes: int, limit_bytes: int | None
) -> int:
    """What is asked, or else as much of the default as fits. ``cache_bytes``: of the cache of pages
    of each node, outside the heap; ``limit_bytes``: of all nodes together.

    Raises `ArgumentError` for a heap with which a node does not start, and one that does not fit.
    """
    heap = size_bytes("heap", asked or default)
    if heap < LEAST_HEAP_BYTES:
        raise ArgumentError(
            f"heap={asked}: expected at least {size_word(LEAST_HEAP_BYTES)}, as the server does "
            "not start with less",
            hint="heap=512MB",
        )
    if limit_bytes is None:
        return heap
    beside = _BESIDE_BYTES + cache_bytes
    room = (limit_bytes // nodes - beside) >> 20 << 20
    if asked is None and room >= LEAST_HEAP_BYTES:
        return min(heap, room)
    if heap <= room:
        return heap
    least = heap if asked is not None else LEAST_HEAP_BYTES
    needed = nodes * (least + beside)
    of_nodes = "a node" if nodes == 1 else f"each of {nodes} nodes"
    raise ArgumentError(
        f"a memory limit of {size_word(limit_bytes)} is too little: {of_nodes} needs "
        f"{size_word(least + beside)}, of which {size_word(least)} are its heap",
        hint=phrase("{}", Mention("memory", size_word(needed)))
        + (" or a smaller heap" if least > LEAST_HEAP_BYTES else ""),
    )

"""What a probe found of a storage, as frozen values and as the document that the record keeps."""

from __future__ import annotations

from assay.observation.shape import Shape

PAGE_BYTES = 8192
"""Of a random read, and of a write that is flushed: the page size of most databases."""
DEPTHS = (1, 4, 16, 32)
"""How many random reads are under way at once."""
LEAST_FOR_P99 = 100
"""With fewer operations there is no 99th percentile."""


class Measured(Shape, frozen=True, kw_only=True):
    """Operations of one kind."""

    count: int
    per_s: float
    bytes_per_s: float
    mean_ns: int
    """Of one operation, from its start to its end."""
    p99_ns: int | None = None
    """None: too few operations. Of flushes: of the flush alone, without its write."""


class RandomReads(Measured, frozen=True, kw_only=True):
    depth: int
    """How many were under way at once."""


class Probe(Shape, frozen=True, kw_only=True):
    """A part is None where it was not measured."""

    storage: str
    """Its name in the experiment."""
    begun_unix_ns: int
    reason: str = ""
    """Why nothing was measured; empty: it was."""
    program: str = ""
    """With its version: ``fio-3.33``."""
    seconds: float = 0.0
    """How long it was to take."""
    file_bytes: int = 0
    """The file on which everything was measured."""
    is_direct: bool = True
    """Whether reads and writes (without a flush) went past the page cache."""
    random_reads: tuple[RandomReads, ...] = ()
    sequential_read: Measured | None = None
    sequential_write: Measured | None = None
    flushes: Measured | None = None
    """Each with the write of a page before it; one after the other."""

    def reads_at(self, clients: int) -> RandomReads | None:
        """The random reads at the depth that is nearest to a number of clients, of two the
        lower one."""
        near = sorted(self.random_reads, key=lambda one: (abs(one.depth - clients), one.depth))
        return near[0] if near else None

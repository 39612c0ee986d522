"""What a probe found of a storage, as frozen values and as the document that the record keeps."""

from __future__ import annotations

from assay.contracts.observation.parts.shape import Shape

PAGE_BYTES = 8192
"""Of a random read, and of a write that is flushed: the page size of most databases."""
DEPTHS = (1, 4, 16, 32)
"""How many random reads are under way at once."""
FLUSH_PARTS = 3
"""How often flushes are measured."""
UNEVEN = 1.5
"""From here on the fastest measurement of flushes is so many times the slowest that something else
took part (on a quiet machine they lay within a factor of 1.4). The same between two probes of a
storage."""
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


class Flushes(Measured, frozen=True, kw_only=True):
    """In several short measurements, apart from one another; all but the count is that of the
    one in the middle."""

    low_per_s: float | None = None
    high_per_s: float | None = None
    """The slowest and the fastest of them; None: an earlier Assay measured once."""

    @property
    def is_uneven(self) -> bool:
        """Whether one number does not stand for them."""
        if self.low_per_s is None or self.high_per_s is None:
            return False
        return self.high_per_s > UNEVEN * self.low_per_s


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
    flushes: Flushes | None = None
    """Each with the write of a page before it; one after the other."""
    device_flushes: int | None = None
    """Ended by the device under it meanwhile, for any program; None: not counted."""

    @property
    def passes_flushes_on(self) -> bool:
        """False where most flushes were answered without one of the device: the file system is
        mounted so (``nobarrier``), and a power cut loses what was flushed."""
        if self.flushes is None or self.device_flushes is None:
            return True
        return self.device_flushes >= self.flushes.count / 2

    def reads_at(self, clients: int) -> RandomReads | None:
        """The random reads at the depth that is nearest to a number of clients, of two the
        lower one."""
        near = sorted(
            self.random_reads, key=lambda reads: (abs(reads.depth - clients), reads.depth)
        )
        return near[0] if near else None

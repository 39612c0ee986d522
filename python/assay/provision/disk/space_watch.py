"""Takes the directory of a system; keeps how little free space its storage had lately.

What is refused a block often removes its files at once, and then the storage no longer looks full.
A system that waits on a full storage until space is freed is ended, so that its clients get an
error instead of waiting for ever.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from types import TracebackType
from typing import Self

from msgspec.structs import replace

from assay.contracts.systems.abilities import WaitsForSpace
from assay.contracts.systems.protocol import ServerDirectory, System
from assay.provision.disk.directory import identity_of
from assay.provision.disk.full_storage import Space, space_of
from assay.provision.machine import process_tags

_LOOK_EVERY_S = 0.05
_ASK_EVERY_S = 1.0
_LATELY_S = 30


class SpaceWatch:
    """Looks at the free space of the storage, and once a second at what the system logs where
    there is none."""

    def __init__(self, system: System, directory: ServerDirectory, label: str) -> None:
        self._system = system
        self._directory = directory
        self._label = label
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="space watch", daemon=True)
        self._least: deque[tuple[int, Space]] = deque(maxlen=_LATELY_S)
        """Of each second in which it was looked."""
        self.reason: str | None = None
        """What the system logged when it was ended; None: it never waited."""

    def least(self) -> Space | None:
        """The least there was in the last seconds; None where it is not known."""
        self._look()
        now_s = time.monotonic()
        lately = [space for second, space in list(self._least) if second > now_s - _LATELY_S]
        return min(lately, key=lambda space: space.free_share, default=None)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end.set()
        self._thread.join()

    def _watch(self) -> None:
        asked_s = time.monotonic()
        while not self._end.wait(_LOOK_EVERY_S):
            space = self._look()
            if time.monotonic() - asked_s < _ASK_EVERY_S:
                continue
            asked_s = time.monotonic()
            if space is None or not space.is_scarce or not isinstance(self._system, WaitsForSpace):
                continue
            said = self._system.why_waiting(self._directory)
            if said is not None:
                self.reason = f"{self._label} waits for free space: {said}"
                process_tags.kill(identity_of(self._directory))
                return

    def _look(self) -> Space | None:
        space, second = self._space(), int(time.monotonic())
        if space is None:
            return None
        if not self._least or self._least[-1][0] != second:
            self._least.append((second, space))
        elif space.free_share < self._least[-1][1].free_share or not space.has_free_files:
            self._least[-1] = (second, space)
        return space

    def _space(self) -> Space | None:
        """Of the storage of the data; of that of the log where a smaller share of it is free."""
        on = self._directory
        of_data = space_of(on.root)
        of_log = space_of(on.log) if on.log else None
        if of_log is None or (of_data is not None and of_data.free_share <= of_log.free_share):
            return of_data
        return replace(of_log, of_log=on.log_storage.name if on.log_storage else "")

"""Takes a system that waits on a full storage until somebody frees space; ends its processes when
it does, so that its clients get an error instead of waiting for ever."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Self

from assay.provision import process_tags
from assay.provision.directory import identity_of
from assay.provision.full_storage import has_no_room
from assay.systems.abilities import WaitsForSpace
from assay.systems.protocol import ServerDirectory

_LOOK_EVERY_S = 1.0


class SpaceWatch:
    """Looks once a second at the free space of the storage, and at what the system logs only where
    there is none."""

    def __init__(self, system: WaitsForSpace, directory: ServerDirectory, label: str) -> None:
        self._system = system
        self._directory = directory
        self._label = label
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="space watch", daemon=True)
        self.reason: str | None = None
        """What the system logged when it was ended; None: it never waited."""

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
        while not self._end.wait(_LOOK_EVERY_S):
            if not has_no_room(self._directory.root):
                continue
            said = self._system.why_waiting(self._directory)
            if said is not None:
                self.reason = f"{self._label} waits for free space: {said}"
                process_tags.kill(identity_of(self._directory))
                return

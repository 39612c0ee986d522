"""The base class of resources: each can be recorded, read back and removed."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self


class CannotUndo(Exception):
    """The reason why a resource could not be removed."""


@dataclass(frozen=True)
class Undone:
    """The result of removing one resource."""

    removed: str = ""
    """What was removed, as shown to the user; empty: it did not exist."""
    processes: int = 0
    """How many were ended."""


NOTHING = Undone()


@dataclass(frozen=True)
class Resource(ABC):
    """A resource, recorded before it is created. The ledger keeps its fields."""

    kind: ClassVar[str]

    @abstractmethod
    def undo(self, identity: str) -> Undone:
        """Removes it if it exists and carries the mark ``identity``; a missing resource is not an
        error. Bounded in time. Raises `CannotUndo`."""

    def document(self) -> object:
        """Its fields as JSON has them, with its ``kind``."""
        return {"kind": self.kind, **asdict(self)}

    @classmethod
    def of_document(cls, document: Any) -> Self:
        """What `document` gave, from a file. Raises `TypeError` where the fields are others."""
        return cls(**{name: value for name, value in document.items() if name != "kind"})

    @abstractmethod
    def __str__(self) -> str:
        """As it is named in a message."""


def retry(attempt: Callable[[], str | None], timeout_s: float) -> None:
    """Retries until ``attempt`` returns None; raises `CannotUndo` with its last reason after
    ``timeout_s``.

    Processes that are just being killed may still write, or keep a file system busy, for some
    100 ms.
    """
    deadline_s = time.monotonic() + timeout_s
    while (reason := attempt()) is not None:
        if time.monotonic() > deadline_s:
            raise CannotUndo(reason)
        time.sleep(0.05)

"""What every kind of resource can do: be written down, be read back, be undone."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self


class CannotUndo(Exception):
    """Why a resource is still there."""


@dataclass(frozen=True)
class Undone:
    """What one resource came to."""

    removed: str = ""
    """What was taken away, as a person knows it; empty: there was nothing."""
    processes: int = 0
    """How many were ended."""


NOTHING = Undone()


@dataclass(frozen=True)
class Resource(ABC):
    """Something that is noted before it is made. Its fields are what the ledger keeps."""

    kind: ClassVar[str]

    @abstractmethod
    def undo(self, identity: str) -> Undone:
        """Takes it away, if it is there and carries the mark ``identity``; what is not there is no
        error. Bounded in time. Raises `CannotUndo`."""

    def document(self) -> dict[str, Any]:
        return {"kind": self.kind, **asdict(self)}

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Self:
        """Raises `TypeError` where the fields are others."""
        return cls(**{name: value for name, value in document.items() if name != "kind"})

    @abstractmethod
    def __str__(self) -> str:
        """As it is named in a message."""


def retry(attempt: Callable[[], str | None], patience_s: float) -> None:
    """Tries until ``attempt`` gives None; its last reason becomes `CannotUndo`.

    Processes that are just being killed may still write, or keep a file system busy, for some
    100 ms.
    """
    deadline_s = time.monotonic() + patience_s
    while (reason := attempt()) is not None:
        if time.monotonic() > deadline_s:
            raise CannotUndo(reason)
        time.sleep(0.05)

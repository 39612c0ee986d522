"""What a fleet is: machines, and on each of them any number of programs that drive a part of the
clients, each behind a channel.

The processes among which the clients of a Python module are distributed are a fleet of one machine.
How a fleet is used, and what happens where a channel ends, is in `assay.drive.fleet`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from assay.contracts.engine.messages import EngineRequest, Message
from assay.errors import SystemDied

Receive = Callable[[Message | None], None]
"""Is called in another thread with each message; with None when the program has ended."""


class Channel(Protocol):
    """To one program (`assay.provision.engine.engine_process`). What passes through it, passwords
    too, is kept nowhere. It is used for one drive and never opened again: what a program that was
    given up says later is heard by no one."""

    def send(self, request: EngineRequest) -> None:
        """Never raises: a program that has ended is noticed by its silence."""

    def look_after(self) -> None:
        """Has the end of the program received, also where it could not say it."""

    def why_it_died(self, during: str, process: str = "") -> SystemDied:
        """``during``: what it did; ``process``: its name, where there are several."""

    def kill(self) -> None:
        """Ends the program and whatever it started, whatever it does, and waits for that."""


class Fleet(Protocol):
    def machines(self) -> Sequence[str]:
        """Their names, as reports show them."""

    def start(self, machine: int, receive: Receive) -> Channel:
        """Starts a program on the machine at this place of `machines`."""

    def stop(self) -> None:
        """Ends every program, and leaves nothing on the machines."""

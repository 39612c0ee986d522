"""Keeps the generators of one drive apart from all others: what is said to them, and what they
report, carries the run and an epoch, and what carries another one is refused.

A channel is opened for one drive, so that another's report would have come through a mistake or
through a network that delivers late. Its counts would be those of another load.
"""

from __future__ import annotations

from msgspec import Struct

from assay.contracts.engine.messages import EngineRequest, Message
from assay.contracts.fleet import Channel, Fleet, Receive
from assay.errors import SystemDied


class Fence(Struct, frozen=True):
    run: int
    """Its number in the record."""
    epoch: int
    """Greater than that of every drive before."""

    def on(self, request: EngineRequest) -> EngineRequest:
        return {**request, "run": self.run, "epoch": self.epoch}

    def admits(self, message: Message) -> bool:
        return (message.get("run"), message.get("epoch")) == (self.run, self.epoch)


class FencedChannel:
    """A `Channel` of the fleet to a program that is started on a machine."""

    def __init__(self, fleet: Fleet, machine: int, receive: Receive, fence: Fence) -> None:
        self._fence = fence

        def admitted(message: Message | None) -> None:
            # That a program has ended is known of the channel, not of the program.
            if message is None or fence.admits(message):
                receive(message)

        self._channel: Channel = fleet.start(machine, admitted)

    def send(self, request: EngineRequest) -> None:
        self._channel.send(self._fence.on(request))

    def look_after(self) -> None:
        self._channel.look_after()

    def why_it_died(self, during: str, process: str = "") -> SystemDied:
        return self._channel.why_it_died(during, process)

    def kill(self) -> None:
        self._channel.kill()

"""A fleet of the machines of a Ray cluster: an actor on each starts the ordinary program there, and
passes on what it says. Nothing is kept in Ray's object store, and nothing passes for a transaction.

Ray runs the code of anyone who reaches it, so that a cluster on other machines must have a token.
It is imported only where a fleet is asked for. An actor ends with its owner, and the program with
its actor, whose pipes close then.
"""

from __future__ import annotations

import os
import queue
import socket
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from assay.contracts.engine.messages import EngineRequest, Message
from assay.errors import ArgumentError, SystemDied, SystemMissing
from assay.provision.machine.ports import is_loopback
from assay.text.mentions import Mention, phrase

if TYPE_CHECKING:
    from assay.contracts.fleet import Receive

_SCHEME = "ray://"
_TOKEN = "RAY_AUTH_MODE"
_READ_S = 1.0
"""How long an actor waits for something to pass on."""
_ANSWER_S = 5.0
_GROUPS = {"requests": 1, "messages": 1, "end": 1}
"""Of calls of an actor: each in the order in which it was called."""


def why_not(address: str) -> str | None:
    """Why this cannot be a fleet; None: it can be asked."""
    if not address.startswith(_SCHEME):
        return f"a fleet is {_SCHEME}HOST:PORT; found {address!r}"
    if find_spec("ray") is None:
        return "a fleet needs Ray, which is not installed: pip install 'assay-db[fleet]'"
    return None


class RayProgram:
    """In an actor: the program, whose messages wait until they are read."""

    def __init__(self) -> None:
        self._said: queue.Queue[Message | None] = queue.Queue()
        from assay.provision.engine.child_process import ChildProcess

        self._process = ChildProcess(receive=self._said.put)

    def send(self, request: EngineRequest) -> None:
        self._process.send(request)

    def read(self) -> list[Message | None]:
        """Those that are there, after a moment; the last is None where it has ended."""
        found: list[Message | None] = []
        with suppress(queue.Empty):
            found.append(self._said.get(timeout=_READ_S))
            while found[-1] is not None:
                found.append(self._said.get_nowait())
        self._process.look_after()
        return found

    def why_it_died(self, during: str, process: str) -> tuple[str, str | None]:
        error = self._process.why_it_died(during, process)
        return error.message, error.hint

    def kill(self) -> None:
        self._process.kill()


class RayFleet:
    """``machines``: how many of the cluster's are used. Raises `SystemMissing` where it cannot be
    reached or has fewer, `ArgumentError` where it has no token and is not on loopback alone."""

    def __init__(self, address: str, machines: int) -> None:
        import ray

        self._ray: Final[Any] = ray
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            ray.init(
                address=address.removeprefix(_SCHEME), log_to_driver=False, logging_level="ERROR"
            )
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise SystemMissing(
                phrase("{}: {}", Mention("fleet", address), str(error).split("\n")[0]),
                hint="this machine must be one of the cluster: ray start --address=HOST:PORT",
            ) from error
        try:
            alive = [node for node in ray.nodes() if node["Alive"]]
            self._nodes = sorted(
                alive, key=lambda node: (node["NodeManagerAddress"], node["NodeID"])
            )
            self._refuse(address, machines)
        except BaseException:
            ray.shutdown()
            raise
        self._nodes = self._nodes[:machines]
        self._channels: list[_Channel] = []

    @property
    def is_this_machine(self) -> bool:
        """Whether each of its machines is this one."""
        return all(map(_is_here, self._addresses()))

    def machines(self) -> Sequence[str]:
        return self._addresses()

    def start(self, machine: int, receive: Receive) -> _Channel:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        there = NodeAffinitySchedulingStrategy(self._nodes[machine]["NodeID"], soft=False)
        options = {"num_cpus": 0, "max_restarts": 0, "concurrency_groups": _GROUPS}
        actor = self._ray.remote(**options)(RayProgram).options(scheduling_strategy=there).remote()
        self._channels.append(_Channel(self._ray, actor, receive))
        return self._channels[-1]

    def stop(self) -> None:
        while self._channels:
            self._channels.pop().kill()
        self._ray.shutdown()

    def _addresses(self) -> list[str]:
        return [str(node["NodeManagerAddress"]) for node in self._nodes]

    def _refuse(self, address: str, machines: int) -> None:
        others = [one for one in self._addresses() if not is_loopback(one)]
        if others and os.environ.get(_TOKEN, "").lower() != "token":
            raise ArgumentError(
                phrase(
                    "{}: the cluster has no token, and {} can be reached by others: all who "
                    "reach Ray run programs on its machines",
                    Mention("fleet", address),
                    others[0],
                ),
                hint=f"set {_TOKEN}=token and RAY_AUTH_TOKEN for every `ray start` and for assay",
            )
        if len(self._nodes) < machines:
            raise SystemMissing(
                phrase(
                    "{}: expected {} machines, found {}",
                    Mention("fleet", address),
                    machines,
                    len(self._nodes),
                ),
                hint="ray start --address=HOST:PORT on the others, or fewer generators",
            )


class _Channel:
    def __init__(self, ray: Any, actor: Any, receive: Receive) -> None:
        self._ray, self._actor, self._receive = ray, actor, receive
        self._is_killed = False
        threading.Thread(target=self._read, name="fleet", daemon=True).start()

    def send(self, request: EngineRequest) -> None:
        self._actor.send.options(concurrency_group="requests").remote(request)

    def look_after(self) -> None:
        """Its actor does that."""

    def why_it_died(self, during: str, process: str = "") -> SystemDied:
        call = self._actor.why_it_died.options(concurrency_group="end")
        try:
            message, hint = self._ray.get(call.remote(during, process), timeout=_ANSWER_S)
        except self._ray.exceptions.RayError:
            return SystemDied(
                f"{process} cannot be reached {during}", hint="see its machine, and the network"
            )
        return SystemDied(message, hint=hint)

    def kill(self) -> None:
        if self._is_killed:
            return
        self._is_killed = True
        end = self._actor.kill.options(concurrency_group="end")
        with suppress(self._ray.exceptions.RayError):
            self._ray.get(end.remote(), timeout=_ANSWER_S)
        with suppress(self._ray.exceptions.RayError):
            self._ray.kill(self._actor)

    def _read(self) -> None:
        read = self._actor.read.options(concurrency_group="messages")
        while not self._is_killed:
            try:
                messages = self._ray.get(read.remote())
            except Exception:  # of Ray, or since the fleet has been stopped
                messages = [None]
            for message in messages:
                self._receive(message)
                if message is None:
                    return


def _is_here(address: str) -> bool:
    """Only an address of this machine can be listened at."""
    try:
        socket.create_server((address, 0)).close()
    except OSError:
        return False
    return True

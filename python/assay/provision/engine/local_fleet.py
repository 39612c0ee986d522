"""A fleet of processes of this machine, each of which stands for a machine of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from assay.contracts.fleet import Receive
    from assay.provision.engine.child_process import ChildProcess


class LocalFleet:
    """``module``: that the programs call, where the driver calls Python; ``before``: for each
    machine the beginning of the command by which its programs are started (``unshare …``)."""

    def __init__(
        self, machines: int = 1, module: str = "", before: Sequence[Sequence[str]] = ()
    ) -> None:
        self._machines = machines
        self._module: Final = module
        self._before = before
        self._started: list[ChildProcess] = []

    def machines(self) -> Sequence[str]:
        return [f"process {number} of this machine" for number in range(1, self._machines + 1)]

    def start(self, machine: int, receive: Receive) -> ChildProcess:
        before = self._before[machine] if self._before else ()
        from assay.provision.engine.child_process import ChildProcess

        self._started.append(ChildProcess(self._module, receive, before))
        return self._started[-1]

    def stop(self) -> None:
        while self._started:
            self._started.pop().kill()

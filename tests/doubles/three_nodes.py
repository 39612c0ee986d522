"""A system of three nodes: three null servers that clients share, each with its own socket."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from assay.contracts.deployment import Deployment, Node
from assay.contracts.experiment import SystemChoice
from assay.provision import processes
from assay.systems import OptionSpec, ServerDirectory
from assay.systems.null import server
from assay.systems.null.system import NULL

NODES = 3


class ThreeNodes(processes.OfProcesses):
    name = "three-nodes"
    dialect = NULL.dialect
    driver = "postgresql"
    capabilities = NULL.capabilities
    option_specs: tuple[OptionSpec, ...] = (
        OptionSpec("sessions_each", "100", (), "Most sessions of a node at a time."),
    )

    def check(self, choice: SystemChoice) -> None:
        del choice

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        del connections
        options = {"refuse_after": choice.options.get("sessions_each", "100")}
        with contextlib.ExitStack() as stack:
            running = [
                stack.enter_context(
                    server.running(
                        "postgresql", options, "socket", directory, name=f"node-{number}"
                    )
                )
                for number in range(NODES)
            ]
            yield Deployment(
                system=self.name,
                label=choice.label,
                nodes=tuple(
                    Node(f"node-{number}", directory.storage, one.process.pid)
                    for number, one in enumerate(running)
                ),
                endpoints=tuple(one.address for one in running),
                version="three-nodes 1",
                options=dict(choice.options),
                settings_asked={},
                settings={},
            )


THREE_NODES = ThreeNodes()

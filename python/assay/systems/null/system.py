"""The null system behind the protocol of every system under test.

It keeps nothing but the number of rows of each table. It lives in this process, or as a server of a
protocol in one of its own (`server`). Its options are passed to the engine, which checks and
documents them (``crates/drivers/src/null``).
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace

from assay import __version__
from assay.contracts import server_url
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.dialects import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import FoundPrograms
from assay.contracts.systems.protocol import OptionSpec, ProcessSample, ServerDirectory
from assay.dialects.null import NULL as DIALECT
from assay.errors import ArgumentError, Bug, SystemRefused
from assay.provision import processes
from assay.provision.engine.engine_calls import session
from assay.provision.machine import sampling
from assay.systems.null import server
from assay.systems.null.server import ENGINE_OPTIONS, IN_PROCESS, OPTIONS, PROTOCOL, REACHED_BY
from assay.systems.options import values
from assay.text.phrases import Mention, phrase


class Null(processes.OfProcesses):
    name = "null"
    dialect: Dialect = DIALECT
    driver = "null"
    capabilities = frozenset({
        "sql", "tables", "transactions", "isolation levels", "prepared statements", "bulk load",
        "own processes",
    })  # fmt: skip
    option_specs: tuple[OptionSpec, ...] = OPTIONS
    url_schemes: tuple[str, ...] = ("null",)
    verified = "in the tests"

    def capabilities_with(self, choice: SystemChoice) -> frozenset[str]:
        """In this process, unless it is the server of a protocol."""
        if choice.options.get(PROTOCOL.name, IN_PROCESS) == IN_PROCESS:
            return self.capabilities - {"own processes"}
        return self.capabilities

    def refuse_reaching_settings(self, choice: SystemChoice) -> None:
        """It has no settings, and writes nothing."""

    def find(self) -> FoundPrograms:
        return FoundPrograms(__version__, "in this process")

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        """Writes nothing. ``refuse_after`` is its connection limit and stays as it was asked."""
        given = _for_engine(choice)
        protocol = choice.options.get(PROTOCOL.name, IN_PROCESS)
        if protocol == IN_PROCESS:
            yield _deployment(choice, _address(given), Node("null", directory.storage))
            return
        transport = choice.options.get(REACHED_BY.name, REACHED_BY.default)
        server.check_open_files(connections)
        with server.running(protocol, given, transport, directory) as running:
            node = Node("null", directory.storage, running.process.pid)
            deployment = _deployment(choice, running.address, node, is_embedded=False)
            yield replace(deployment, version=f"null {__version__}")

    def check_url(self, text: str) -> None:
        parts = server_url.parts(text)
        if parts.has_user or parts.host or parts.port:
            raise ArgumentError(
                "null takes no address: it lives in this process",
                hint=phrase(
                    "null:///, or {--on null}; a null server is measured by the URL of its "
                    "protocol, postgresql://… or mysql://…"
                ),
            )

    def is_in_process(self, choice: SystemChoice) -> bool:
        return choice.options.get(PROTOCOL.name, IN_PROCESS) == IN_PROCESS

    def check(self, choice: SystemChoice) -> None:
        _for_engine(choice)

    def refuse_address(self, choice: SystemChoice, address: str) -> None:
        if not self.is_in_process(choice):
            transport = choice.options.get(REACHED_BY.name, REACHED_BY.default)
            server.refuse_address(transport, address)

    @contextlib.contextmanager
    def attach(self, choice: SystemChoice) -> Iterator[Deployment]:
        """``null:///?delay=constant:1ms&rows=3``: options in the URL, and those of the choice."""
        if choice.url is None:
            raise Bug("attach() needs the URL of a server")
        in_url = server_url.parts(choice.url).parameters
        chosen = replace(choice, options={**in_url, **choice.options})
        if chosen.options.get(PROTOCOL.name, IN_PROCESS) != IN_PROCESS:
            raise ArgumentError(
                f"{choice.url_without_password}: a null server is started by us and not reached by "
                "this URL",
                hint=phrase(
                    "{}", Mention("on", f"'null[protocol={chosen.options[PROTOCOL.name]}]'")
                ),
            )
        node = Node("null", StorageFacts(name="none", kind="url", directory=""))
        deployment = _deployment(chosen, _address(_for_engine(chosen)), node)
        yield replace(deployment, is_private=False)

    def size_on_disk_bytes(self, deployment: Deployment) -> int:
        """Nothing is stored."""
        del deployment
        return 0

    def data_bytes(self, deployment: Deployment) -> int:
        """Nothing is stored."""
        del deployment
        return 0

    def sample(self, deployment: Deployment) -> ProcessSample | None:
        """Its own process, or this one, where the null system lives beside us."""
        if deployment.is_embedded:
            return sampling.sample(os.getpid(), with_descendants=False)
        return sampling.sample_nodes(deployment)


def _for_engine(choice: SystemChoice) -> dict[str, str]:
    """The options that are for the engine."""
    if choice.settings:
        raise ArgumentError(
            f"the null system has no settings, found {', '.join(choice.settings)}",
            hint=f"its options are {', '.join(spec.name for spec in OPTIONS)}",
        )
    ours = {spec.name for spec in OPTIONS} - {spec.name for spec in ENGINE_OPTIONS}
    return {
        name: value for name, value in choice.options.items() if value != "" and name not in ours
    }


def _address(given: Mapping[str, str]) -> Address:
    # The word distinguishes this deployment from others with the same options.
    return Address(driver=Null.driver, options={**given, "deployment": secrets.token_hex(8)})


def _deployment(
    choice: SystemChoice, address: Address, node: Node, *, is_embedded: bool = True
) -> Deployment:
    options = values(OPTIONS, choice)
    try:
        with session(address) as opened:
            version = opened.server_version
    except SystemRefused as error:  # only an option can be wrong here
        raise ArgumentError(error.message) from error
    return Deployment(
        system=Null.name,
        label=choice.label,
        nodes=(node,),
        endpoints=(address,),
        version=version,
        options=options,
        settings_asked={},
        settings={},
        connection_limit=int(options["refuse_after"]) if options["refuse_after"] else None,
        is_embedded=is_embedded,
    )


NULL = Null()

"""MongoDB behind the protocol of every system under test: a private server, or one by URL.

A private one is a single `mongod` without a replica set, so it has no transactions; a server by URL
has them where the URL names its replica set.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from assay.contracts import safeguards
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.dialects.protocol import Dialect
from assay.contracts.experiment import SystemChoice
from assay.contracts.safeguards import Safeguard
from assay.contracts.server_url import Resolved
from assay.contracts.systems.abilities import NOT_VERIFIED, FoundPrograms, Spelled
from assay.contracts.systems.protocol import OptionSpec, ProcessSample, ServerDirectory
from assay.dialects.mongodb import MONGODB as DIALECT
from assay.env_vars import EnvVar
from assay.errors import ArgumentError
from assay.provision.disk.size import allocated_bytes
from assay.provision.engine.session import brief_session, session
from assay.provision.machine import sampling
from assay.provision.processes import process
from assay.systems.mongodb import configuration, installation, server
from assay.systems.mongodb_protocol import by_url, url
from assay.systems.mongodb_protocol.answers import command, size_bytes
from assay.systems.options import (
    BUFFER,
    CHOSEN_VERSION,
    buffer_bytes,
    refuse_beyond_memory,
    refuse_buffer,
    values,
)
from assay.systems.program_version import version_of

DATABASE = "assay"

JOURNAL = OptionSpec(
    name="journal",
    default="true",
    levels=("true", "false"),
    help="Whether a write is answered only when it is in the journal, so that a crash cannot take "
    "it; MongoDB's clients leave it out by default. A URL says it by journal=…",
)


_OF_A_SINGLE_SERVER = (
    Safeguard(safeguards.BINARY_LOG, safeguards.NO_BINARY_LOG),
    Safeguard(safeguards.REPLICAS, safeguards.NO_REPLICAS),
)
"""Without a replica set there is no log of operations."""


class Mongodb:
    name = "mongodb"
    dialect: Dialect = DIALECT
    driver = "mongodb"
    capabilities = frozenset({
        "tables", "stored rows", "unique keys", "exact decimals", "documents", "gregorian dates",
        "prepared statements", "bulk load", "restart", "own processes",
    })  # fmt: skip
    option_specs: tuple[OptionSpec, ...] = (BUFFER, JOURNAL, CHOSEN_VERSION)
    url_schemes: tuple[str, ...] = ("mongodb",)
    default_port = url.DEFAULT_PORT
    chosen_by = installation.PROGRAMS_FOLDER
    url_variables: tuple[EnvVar, ...] = url.VARIABLES
    verified = NOT_VERIFIED

    def capabilities_with(self, choice: SystemChoice) -> frozenset[str]:
        is_member = choice.url is not None and url.replica_set(choice.url, self.name) is not None
        return self.capabilities | {"transactions"} if is_member else self.capabilities

    def find(self) -> FoundPrograms:
        program = installation.find_server()
        return FoundPrograms(version_of(program), str(program))

    def places(self) -> Sequence[str]:
        return installation.places()

    def find_at(self, place: str) -> FoundPrograms:
        return FoundPrograms(version_of(installation.find_server(place)), place)

    def spelled_settings(self, choice: SystemChoice) -> Sequence[Spelled]:
        return list(configuration.spelled(choice.settings))

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        """See `System.provision`. The server takes more sessions than a run has."""
        del connections
        self.check(choice)
        options = values(self.option_specs, choice)
        own = configuration.of_buffer(options, choice.settings)
        program = installation.find_server(choice.programs)
        with server.running(program, directory, {**own, **choice.settings}) as running:
            yield _deployment(choice, running, directory, options)

    def check(self, choice: SystemChoice) -> None:
        if choice.url is None:
            configuration.check(choice.settings)
            configuration.of_buffer(choice.options, choice.settings)
            asked_bytes = buffer_bytes(choice.options, (), configuration.CACHE)
            refuse_beyond_memory(choice, asked_bytes)
            return
        refuse_buffer(choice)
        if choice.settings or JOURNAL.name in choice.options:
            raise ArgumentError(
                f"{choice.label}: a MongoDB by URL takes no settings",
                hint="leave them out; its sessions are set by the URL: w=…&journal=…",
            )

    def check_url(self, text: str) -> None:
        url.address_of(text, self.name)

    def complete_url(self, text: str) -> Resolved:
        return url.complete(text, self.name)

    @contextlib.contextmanager
    def attach(self, choice: SystemChoice) -> Iterator[Deployment]:
        self.check(choice)
        yield by_url.deployment(choice, self.name)

    def size_on_disk_bytes(self, deployment: Deployment) -> int:
        """Of a private server the whole data directory, journal included (which is allocated in
        files of 100 MB); of one by URL what it says of the collections of its one database."""
        if deployment.data_directory is not None:
            return allocated_bytes(deployment.data_directory)
        return self.data_bytes(deployment)

    def data_bytes(self, deployment: Deployment) -> int:
        with brief_session(deployment.address) as opened:
            return size_bytes(opened)

    def buffer_bytes(self, deployment: Deployment) -> int | None:
        """WiredTiger's cache, where the option ``buffer`` or a setting says its size."""
        gigabytes = deployment.settings.get(configuration.CACHE)
        return None if gigabytes is None else int(float(gigabytes) * (1 << 30))

    def settings_of_the_data(self, deployment: Deployment) -> Mapping[str, str]:
        directory = "storage.directoryPerDB", "storage.wiredTiger.engineConfig.directoryForIndexes"
        return {
            name: deployment.settings[name] for name in directory if name in deployment.settings
        }

    def sample(self, deployment: Deployment) -> ProcessSample | None:
        """One process with a thread for each session."""
        return sampling.sample_nodes(deployment)

    def why_it_died(self, deployment: Deployment) -> str | None:
        return process.why_a_node_died(deployment)


def _deployment(
    choice: SystemChoice,
    running: server.RunningServer,
    directory: ServerDirectory,
    options: Mapping[str, str],
) -> Deployment:
    """Asks the server what it is and what it was really given."""
    address = Address(
        driver="mongodb",
        unix=str(running.socket),
        database=DATABASE,
        options={"journal": options[JOURNAL.name]},
    )
    with session(replace(address, database="admin")) as opened:
        version = opened.server_version
        started = json.loads(command(opened, {"getCmdLineOpts": 1}).get("parsed") or "{}")
        parameters = command(opened, {"getParameter": "*"})
    is_journaled = options[JOURNAL.name] == "true"
    return Deployment(
        system=MONGODB.name,
        label=choice.label,
        nodes=(Node(MONGODB.name, directory.storage, running.process.pid, directory.data),),
        endpoints=(address,),
        version=version,
        options=options,
        settings_asked=dict(choice.settings),
        settings=configuration.effective(started, parameters, choice.settings),
        settings_confirmed=tuple(choice.settings),
        durability_lowered_by=() if is_journaled else ("journal = false",),
        safeguards=_OF_A_SINGLE_SERVER,
    )


MONGODB = Mongodb()

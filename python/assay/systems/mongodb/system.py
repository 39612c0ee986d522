"""MongoDB behind the protocol of every system under test: a private server, or one by URL.

A private one is a single `mongod` without a replica set, so it has no transactions; a server by URL
has them where the URL names its replica set.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct, structs

from assay.contracts import durability
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.durability import Safeguard
from assay.contracts.experiment import SystemChoice
from assay.contracts.systems.abilities import NOT_VERIFIED, FoundPrograms, Spelled
from assay.contracts.systems.protocol import OptionSpec, ServerDirectory
from assay.env_vars import EnvVar
from assay.errors import ArgumentError, SystemDied, SystemMissing, SystemRefused
from assay.provision import processes
from assay.provision.copying import allocated_bytes
from assay.provision.engine.engine_calls import brief_session, session
from assay.provision.machine.program import Program
from assay.provision.processes import ServerProcess
from assay.systems.mongodb import url
from assay.systems.mongodb.url import answer_of_command, size_bytes
from assay.systems.options import (
    BUFFER,
    CHOSEN_VERSION,
    buffer_bytes,
    refuse_beyond_memory,
    refuse_buffer,
    values,
    version_of,
)
from assay.text.phrases import phrase

PROGRAMS_FOLDER = EnvVar(
    "ASSAY_MONGODB_BIN",
    "The folder of the `mongod` to use; without it the program is looked for in $PATH and in "
    "/opt/mongodb*/bin.",
)

_UNPACKED = "/opt/mongodb*/bin"
MONGOD = Program("mongod", None, (_UNPACKED,))


def find_server(programs: str = "") -> Path:
    """In the folder ``programs``; without it, in the one that the environment names, or where this
    machine has it. Raises `SystemMissing`."""
    chosen = programs or PROGRAMS_FOLDER.get()
    for place in [chosen] if chosen else places():
        found = shutil.which(MONGOD.name, path=place)
        if found is not None:
            return Path(found)
    raise SystemMissing(
        f"the program {MONGOD.name} is not in {chosen or f'$PATH or in {_UNPACKED}'}",
        hint=phrase(
            "no package client brings it: unpack MongoDB's own archive and name its folder "
            "in {}, or name a server: {--on mongodb://USER@HOST:PORT/DATABASE}",
            PROGRAMS_FOLDER.name,
        ),
    )


def places() -> list[str]:
    """Folders of this machine that may have it, those of $PATH first."""
    unpacked = sorted(map(str, Path("/").glob(_UNPACKED.lstrip("/"))), reverse=True)
    return [*os.get_exec_path(), *unpacked]


DATABASE = "assay"

JOURNAL = OptionSpec(
    name="journal",
    default="true",
    levels=("true", "false"),
    help="Whether a write is answered only when it is in the journal, so that a crash cannot take "
    "it; MongoDB's clients leave it out by default. A URL says it by journal=…",
)


_OF_A_SINGLE_SERVER = (
    Safeguard(durability.BINARY_LOG, durability.NO_BINARY_LOG),
    Safeguard(durability.REPLICAS, durability.NO_REPLICAS),
)
"""Without a replica set there is no log of operations."""


class Mongodb(url.DocumentSystem):
    name = "mongodb"
    option_specs: tuple[OptionSpec, ...] = (BUFFER, JOURNAL, CHOSEN_VERSION)
    url_schemes: tuple[str, ...] = ("mongodb",)
    chosen_by = PROGRAMS_FOLDER
    verified = NOT_VERIFIED

    def capabilities_with(self, choice: SystemChoice) -> frozenset[str]:
        is_member = choice.url is not None and url.replica_set(choice.url, self.name) is not None
        return self.capabilities | {"transactions"} if is_member else self.capabilities

    def find(self) -> FoundPrograms:
        program = find_server()
        return FoundPrograms(version_of(program), str(program))

    def places(self) -> Sequence[str]:
        return places()

    def find_at(self, place: str) -> FoundPrograms:
        return FoundPrograms(version_of(find_server(place)), place)

    def spelled_settings(self, choice: SystemChoice) -> Sequence[Spelled]:
        return list(spelled_settings(choice.settings))

    @contextlib.contextmanager
    def provision(
        self, choice: SystemChoice, directory: ServerDirectory, *, connections: int | None
    ) -> Iterator[Deployment]:
        """See `System.provision`. The server takes more sessions than a run has."""
        del connections
        self.check(choice)
        options = values(self.option_specs, choice)
        own = buffer_settings(options, choice.settings)
        program = find_server(choice.programs)
        with running_server(program, directory, {**own, **choice.settings}) as running:
            yield _deployment(choice, running, directory, options)

    def check(self, choice: SystemChoice) -> None:
        if choice.url is None:
            check_settings(choice.settings)
            buffer_settings(choice.options, choice.settings)
            asked_bytes = buffer_bytes(choice.options, (), CACHE)
            refuse_beyond_memory(choice, asked_bytes)
            return
        refuse_buffer(choice)
        if choice.settings or JOURNAL.name in choice.options:
            raise ArgumentError(
                f"{choice.label}: a MongoDB by URL takes no settings",
                hint="leave them out; its sessions are set by the URL: w=…&journal=…",
            )

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
        gigabytes = deployment.settings.get(CACHE)
        return None if gigabytes is None else int(float(gigabytes) * (1 << 30))

    def settings_of_the_data(self, deployment: Deployment) -> Mapping[str, str]:
        directory = "storage.directoryPerDB", "storage.wiredTiger.engineConfig.directoryForIndexes"
        return {
            name: deployment.settings[name] for name in directory if name in deployment.settings
        }


def _deployment(
    choice: SystemChoice,
    running: RunningServer,
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
    with session(structs.replace(address, database="admin")) as opened:
        version = opened.server_version
        started = json.loads(answer_of_command(opened, {"getCmdLineOpts": 1}).get("parsed") or "{}")
        parameters = answer_of_command(opened, {"getParameter": "*"})
    is_journaled = options[JOURNAL.name] == "true"
    return Deployment(
        system=MONGODB.name,
        label=choice.label,
        nodes=(Node(MONGODB.name, directory.storage, running.process.pid, directory.data),),
        endpoints=(address,),
        version=version,
        options=options,
        settings_asked=dict(choice.settings),
        settings=effective_settings(started, parameters, choice.settings),
        settings_confirmed=tuple(choice.settings),
        durability_lowered_by=() if is_journaled else ("journal = false",),
        safeguards=_OF_A_SINGLE_SERVER,
    )


MONGODB = Mongodb()


class RunningServer(Struct, frozen=True):
    process: ServerProcess
    socket: Path
    """It asks for no password: only the servers' user and we can enter its directory."""


@contextlib.contextmanager
def running_server(
    program: Path, directory: ServerDirectory, settings: Mapping[str, str]
) -> Iterator[RunningServer]:
    """Raises `SystemRefused` in the server's own words where it does not start, `SystemDied` where
    it hangs."""
    if not directory.data.exists():
        owner = directory.root.stat()
        directory.data.mkdir(mode=0o700)
        os.chown(directory.data, owner.st_uid, owner.st_gid)
    listens = directory.run / "mongod.sock"
    listens.unlink(missing_ok=True)
    file = directory.run / "mongod.conf"
    file.write_text(configuration_text(directory.data, listens, settings), encoding="utf-8")
    file.chmod(0o644)  # its directory is closed to all but the server's user and us
    with processes.start_server([program, "--config", file], directory) as server:
        try:
            server.wait_ready(functools.partial(_why_not_ready, listens))
        except SystemDied as error:
            if server.died() is None:
                raise
            raise SystemRefused(f"the server does not start: {error.message}") from error
        yield RunningServer(server, listens)


def _why_not_ready(listens: Path) -> str | None:
    """None when it accepts connections."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(listens))
        except OSError as error:
            return f"it does not accept connections: {error}"
    return None


CACHE = "storage.wiredTiger.engineConfig.cacheSizeGB"
_LEAST_CACHE_GB = 0.25
SET_BY_ASSAY = (
    "net.",
    "storage.dbPath",
    "systemLog.",
    "processManagement.",
    "security.",
    "replication.",
)
"""Beginnings of settings by which Assay reaches the server: not to be asked for."""

_DECISIVE = (
    "transactionLifetimeLimitSeconds",
    "wiredTigerConcurrentReadTransactions",
    "wiredTigerConcurrentWriteTransactions",
    "storageEngineConcurrentReadTransactions",
    "storageEngineConcurrentWriteTransactions",
    "ttlMonitorEnabled",
    "diagnosticDataCollectionEnabled",
)
"""Parameters that are recorded also where they are at their default, if a version has them."""


Section: TypeAlias = "dict[str, str | int | float | bool | list[object] | Section | None]"
"""Of the configuration: names of settings and of sections within."""


def check_settings(settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that Assay itself sets."""
    if set_here := [name for name in settings if name.startswith(SET_BY_ASSAY)]:
        raise ArgumentError(
            f"the setting {set_here[0]} of a private server is set by Assay",
            hint=phrase(
                "reach a server of your own by its URL: {--on mongodb://USER@HOST:PORT/DATABASE}"
            ),
        )


def buffer_settings(options: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """The setting of the option ``buffer``; none where it is not asked for."""
    size = buffer_bytes(options, settings, CACHE)
    if size is None:
        return {}
    return {CACHE: f"{max(_LEAST_CACHE_GB, size / (1 << 30)):.6g}"}


def configuration_text(data: Path, socket: Path, settings: Mapping[str, str]) -> str:
    """JSON, which is YAML too. The server listens at its socket alone."""
    document: Section = {
        "storage": {"dbPath": str(data)},
        "net": {"bindIp": str(socket), "unixDomainSocket": {"pathPrefix": str(socket.parent)}},
        "setParameter": {},
    }
    for name, value in settings.items():
        *path, last = name.split(".") if "." in name else ("setParameter", name)
        section = document
        for part in path:
            within = section.setdefault(part, {})
            assert isinstance(within, dict), "a section and a setting have one name"
            section = within
        section[last] = _scalar(value)
    return json.dumps(document, indent=2) + "\n"


def spelled_settings(settings: Mapping[str, str]) -> Iterator[Spelled]:
    """Each setting as JSON has it, as far as it is a number or a truth value."""
    for name, value in settings.items():
        scalar = _scalar(value.strip().lower())
        if isinstance(scalar, float) and scalar.is_integer():
            scalar = int(scalar)
        text = value.strip() if isinstance(scalar, str) else json.dumps(scalar)
        yield Spelled(name.strip(), text, is_default=False)


def effective_settings(
    options: Section, parameters: Mapping[str, str | None], asked: Mapping[str, str]
) -> dict[str, str]:
    """What the record keeps. ``options`` are those that the server was started with (``parsed`` of
    `getCmdLineOpts`), ``parameters`` all of `getParameter`.

    Raises `SystemRefused` for one that was asked and is not in effect.
    """
    found = {name: value for name, value in _flat(options) if not name.startswith(SET_BY_ASSAY)}
    found |= {name: parameters[name] or "" for name in _DECISIVE if name in parameters}
    for name, value in asked.items():
        here = found.get(name, parameters.get(name))
        if here is None:
            raise SystemRefused(f"the setting {name} was asked as {value!r}; the server has none")
        if not _are_equal(here, value):
            raise SystemRefused(f"the setting {name} was asked as {value!r} and is {here!r}")
        found[name] = here
    return found


def _flat(options: Section, prefix: str = "") -> list[tuple[str, str]]:
    flat = []
    for name, value in options.items():
        if isinstance(value, dict):
            within = "" if name == "setParameter" and not prefix else f"{prefix}{name}."
            flat += _flat(value, within)
        else:
            flat.append((f"{prefix}{name}", value if isinstance(value, str) else json.dumps(value)))
    return flat


def _scalar(value: str) -> Any:
    try:
        found = json.loads(value)
    except ValueError:
        return value
    return found if isinstance(found, int | float | bool) else value


def _are_equal(text: str, other: str) -> bool:
    return text == other or _scalar(text.lower()) == _scalar(other.lower())

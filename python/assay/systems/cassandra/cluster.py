"""Starts the nodes of a private cluster on their data directories, waits until all know the same
schema, and stops them at the end."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import signal
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct

from assay.contracts.deployment import Address, Deployment
from assay.contracts.stop import look
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import SystemDied, SystemRefused
from assay.provision import processes
from assay.provision.engine.engine_calls import session
from assay.provision.machine.ports import free_port
from assay.provision.processes import ServerProcess
from assay.systems.cassandra import settings as configuration
from assay.systems.cassandra.installation import Installation
from assay.systems.cassandra.settings import DECISIVE, NodeFacts
from assay.systems.sessions import rows_of

START_S = 300.0
"""For a node to become ready, on a machine that is busy with something else besides."""

_READY = b"Startup complete"
_PORT_TRIES = 3
_PORT_IS_TAKEN = re.compile(r"Address already in use|is in use by another process|Failed to bind")
_ERROR = re.compile(r"^ERROR \S+ \S+ \w+: (.*)$", re.MULTILINE)
_CAUSE = re.compile(r"^(?:Caused by: )?[\w.$]+(?:Exception|Error): (.*)$", re.MULTILINE)
_SAYS_NOTHING = "Exception encountered during startup"
STOP = ((signal.SIGTERM, 120.0),)
"""Memory is written to files, then the process ends."""
_STOPPED_STATUS = 128 + signal.SIGTERM
"""Java's own after a signal, once the server has stopped in order."""
_OPEN_FILES = 100_000
_STORAGE_PORT = "storage-port"
"""The file of the data directory that keeps it: nodes know one another by it."""


class RunningNode(Struct, frozen=True):
    process: ServerProcess
    facts: NodeFacts

    def address(self, options: Mapping[str, str], keyspace: str = "") -> Address:
        return Address(
            driver="cassandra",
            host=self.facts.host,
            port=self.facts.client_port,
            database=keyspace,
            options=options,
        )


@contextlib.contextmanager
def running(
    installation: Installation,
    directory: ServerDirectory,
    settings: Mapping[str, str],
    *,
    nodes: int,
    heap_bytes: int,
    cache_bytes: int,
) -> Iterator[list[RunningNode]]:
    """Starts the nodes side by side, at 127.0.0.1 and the addresses behind it, and waits until each
    knows all others.

    Raises `SystemRefused` in a node's own words where it does not start, `SystemDied` where it
    hangs.
    """
    hosts = [f"127.0.0.{number}" for number in range(1, nodes + 1)]
    with ExitStack() as stack:
        for tries_left in reversed(range(_PORT_TRIES)):
            attempt = stack.enter_context(ExitStack())
            started = [
                attempt.enter_context(
                    _node(installation, directory, facts, settings, heap_bytes, cache_bytes)
                )
                for facts in _facts(directory, hosts)
            ]
            try:
                for one in started:
                    one.process.wait_ready(functools.partial(_why_not_ready, one), usual_s=START_S)
                break
            except SystemDied as error:
                ended = [one for one in started if one.process.died() is not None]
                if not ended:
                    raise
                words = _last_words(ended[0].process.log)
                if tries_left == 0 or not _PORT_IS_TAKEN.search(words):
                    raise _refused(words, settings) from error
                attempt.close()
        wait_for_agreement_of_all([one.address({}) for one in started])
        stack.callback(_send_to_all, started)
        yield started


def _send_to_all(nodes: Sequence[RunningNode]) -> None:
    """They stop side by side: each is waited for afterwards."""
    for one in nodes:
        one.process.send(STOP[0][0])


@contextlib.contextmanager
def _node(
    installation: Installation,
    directory: ServerDirectory,
    facts: NodeFacts,
    settings: Mapping[str, str],
    heap_bytes: int,
    cache_bytes: int,
) -> Iterator[RunningNode]:
    files = facts.run / facts.name
    for folder in (facts.data, files):
        _make(folder, directory)
    (files / "cassandra.yaml").write_text(configuration.yaml(facts, settings), encoding="utf-8")
    (files / "logback.xml").write_text(configuration.LOGBACK, encoding="utf-8")
    arguments = configuration.java_arguments(
        facts,
        installation.agent,
        installation.class_path,
        heap_bytes=heap_bytes,
        cache_bytes=cache_bytes,
    )
    with processes.start_server(
        [installation.java, *arguments],
        directory,
        stop=STOP,
        log_name=_log_name(directory, facts),
        open_files=_OPEN_FILES,
        stopped_status=_STOPPED_STATUS,
    ) as started:
        yield RunningNode(started, facts)


def _make(folder: Path, directory: ServerDirectory) -> None:
    """A folder of the servers' user."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    owner = directory.root.stat()
    for path in reversed(missing):
        path.mkdir(mode=0o700)
        os.chown(path, owner.st_uid, owner.st_gid)


def _facts(directory: ServerDirectory, hosts: Sequence[str]) -> list[NodeFacts]:
    kept = directory.data / _STORAGE_PORT
    before = int(kept.read_text(encoding="ascii")) if kept.exists() else None
    is_free = before is not None and all(_is_free(host, before) for host in hosts)
    storage_port = before if before is not None and is_free else _port_free_at(hosts)
    client_port = _port_free_at(hosts)
    _make(directory.data, directory)
    kept.write_text(f"{storage_port}\n", encoding="ascii")
    return [
        NodeFacts(
            number=number,
            of=len(hosts),
            host=host,
            seeds=tuple(hosts),
            storage_port=storage_port,
            client_port=client_port,
            data=directory.data / f"node-{number}",
            run=directory.run,
        )
        for number, host in enumerate(hosts, 1)
    ]


def _port_free_at(hosts: Sequence[str]) -> int:
    while True:
        port = free_port(hosts[0])
        if all(_is_free(host, port) for host in hosts[1:]):
            return port


def _is_free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        # As the server does it: what a closed session has left is no hindrance.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                raise SystemRefused(
                    f"a node cannot listen at {host}: {error.strerror}",
                    hint="several nodes need the addresses 127.0.0.2 and 127.0.0.3 of this "
                    "machine; nodes=1 needs neither",
                ) from error
            return False
        return True


def _log_name(directory: ServerDirectory, facts: NodeFacts) -> str:
    """A new one for each start: that the node is ready is read from its log."""
    starts = len(list(directory.run.glob(f"{facts.name}-*.log")))
    return f"{facts.name}-{starts + 1}.log"


def _why_not_ready(node: RunningNode) -> str | None:
    # All of the log: a node that is ready goes on to write while another one is waited for.
    if _READY in node.process.log.read_bytes():
        return None
    return f"{node.facts.name} has not said that its startup is complete"


def _last_words(log: Path) -> str:
    """What a node says of its end: its lines of rank ERROR, and the innermost cause."""
    text = processes.last_lines(log, lines=200)
    errors = [words for words in _ERROR.findall(text) if words != _SAYS_NOTHING]
    said = dict.fromkeys([*errors, *_CAUSE.findall(text)[-1:]])
    return "; ".join(said) or processes.last_lines(log)


def _refused(words: str, settings: Mapping[str, str]) -> SystemRefused:
    unknown = re.search(r"Invalid yaml. Please remove properties \[([^\]]*)\]", words)
    near: list[str] = []
    if unknown:
        names = {*DECISIVE, *configuration.CHOSEN_BY_ASSAY}
        near = get_close_matches(unknown[1].split(",")[0].strip(), names)
    given = ", ".join(f"{name}={value}" for name, value in settings.items())
    hint = (
        f"did you mean {' or '.join(near)}?" if near else f"it was given {given}" if given else None
    )
    return SystemRefused(f"the server does not start: {words}", hint=hint)


KEYSPACE = "assay"
"""Of the clients of a private cluster."""

_TIMEOUT_S = 60.0
_PAUSE_S = 0.05


def make_keyspace(addresses: Sequence[Address], replication: int) -> None:
    """Makes the keyspace of the clients where there is none, on all nodes."""
    strategy = f"{{'class': 'SimpleStrategy', 'replication_factor': {replication}}}"
    with session(addresses[0]) as opened:
        opened.execute(f"CREATE KEYSPACE IF NOT EXISTS {KEYSPACE} WITH replication = {strategy}")
    wait_for_agreement_of_all(addresses)


def wait_for_agreement(deployment: Deployment) -> None:
    """Until all nodes agree; of a cluster by URL those that its one node knows, which may be down:
    they are waited for and not insisted on."""
    if deployment.is_private:
        wait_for_agreement_of_all(deployment.endpoints)
        return
    deadline = time.monotonic() + _TIMEOUT_S / 10
    while len(set(_schema_versions(deployment.address))) > 1 and time.monotonic() < deadline:
        look()
        time.sleep(_PAUSE_S)


def wait_for_agreement_of_all(addresses: Sequence[Address]) -> None:
    """Until every node knows all others, and all know the same schema. Raises `SystemDied` where
    that takes too long."""
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        views = [_schema_versions(address) for address in addresses]
        are_complete = all(len(view) == len(addresses) for view in views)
        versions = {version for view in views for version in view}
        if are_complete and len(versions) == 1:
            return
        if time.monotonic() > deadline:
            known = ", ".join(str(len(view)) for view in views)
            raise SystemDied(
                f"the {len(addresses)} nodes did not agree within {_TIMEOUT_S:g} s: they know "
                f"{known} nodes, and {len(versions)} versions of the schema"
            )
        look()
        time.sleep(_PAUSE_S)


def _schema_versions(address: Address) -> list[str]:
    """Of each node that this one knows, itself included."""
    found: list[str] = []
    with session(address) as opened:
        for table in ("local", "peers"):
            rows = rows_of(opened, f"SELECT schema_version FROM system.{table}", columns=1)
            found += [str(row[0]) for row in rows or ()]
    return found

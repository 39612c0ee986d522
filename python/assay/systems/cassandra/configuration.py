"""Takes a node and the settings asked for; returns its configuration file and the words of its
Java.

The jars hold no configuration. What stands here is what the project's own configuration file says
wherever that differs from the server's built-in defaults, and the few that Assay sets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from assay.errors import ArgumentError
from assay.text.mentions import phrase

_SET_BY_ASSAY = """
    authenticator authorizer auto_bootstrap broadcast_address broadcast_rpc_address
    cdc_raw_directory cluster_name commitlog_directory data_file_directories endpoint_snitch
    hints_directory initial_token listen_address listen_interface
    local_system_data_file_directory native_transport_port native_transport_port_ssl num_tokens
    partitioner rpc_address rpc_interface saved_caches_directory seed_provider ssl_storage_port
    start_native_transport storage_port
"""
SET_BY_ASSAY = frozenset(_SET_BY_ASSAY.split())
"""Settings by which we make and reach the nodes: not to be asked for."""

_REACHING = re.compile(
    r".*(director|logging|archiv|_command|class|user_defined|udf|udfs|keystore|truststore|encryption"
    r"|seed|jmx|snitch|authenti|authoriz|role_manager|secure)"
)
"""By a part of their names: settings that are paths, programs or classes."""

CHOSEN_BY_ASSAY: Mapping[str, str] = {
    # As the project's configuration file has them.
    "commitlog_sync": "periodic",
    "concurrent_reads": "32",
    "concurrent_writes": "32",
    "memtable_allocation_type": "heap_buffers",
    # A table that is dropped is gone: no copy of its files takes room on the storage under test.
    "auto_snapshot": "false",
    # A node that cannot write ends, and its log says why; the default keeps a process that answers
    # nothing.
    "disk_failure_policy": "die",
    "commit_failure_policy": "die",
    # A request takes as long as it takes, as on other systems. By default a write is given up after
    # 2 seconds, which leaves open whether it happened and ends a load, and a page of a count of
    # all rows after 5, the whole count after 12.
    "write_request_timeout": "20s",
    "counter_write_request_timeout": "20s",
    "read_request_timeout": "60s",
    "range_request_timeout": "60s",
    "native_transport_timeout": "600s",
}
"""Where we do not leave a setting at the server's built-in default; what is asked for comes
before."""

_OF_SYNC: Mapping[str, Mapping[str, str]] = {
    "periodic": {"commitlog_sync_period": "10000ms"},
    "group": {"commitlog_sync_group_window": "10ms"},
    "batch": {},
}
"""What each way to flush the commit log needs beside it; the server refuses that of another."""

_NAME = re.compile(r"[a-z][a-z0-9_.]*")
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_.+/-]+(?: [A-Za-z0-9_.+/-]+)*|[\[{].*[\]}]")

_EXPORTS = """
    java.base/jdk.internal.misc java.base/java.lang.ref
    java.management.rmi/com.sun.jmx.remote.internal.rmi java.rmi/sun.rmi.registry
    java.rmi/sun.rmi.server java.sql/java.sql jdk.unsupported/sun.misc
"""
_OPENS = """
    java.base/java.lang.module java.base/jdk.internal.loader java.base/jdk.internal.ref
    java.base/jdk.internal.reflect java.base/jdk.internal.math java.base/jdk.internal.module
    java.base/jdk.internal.util.jar java.base/sun.nio.ch java.base/java.io java.base/java.lang
    java.base/java.lang.reflect java.base/java.util java.base/java.nio
    java.base/java.util.concurrent java.base/java.util.concurrent.atomic
    jdk.management/com.sun.management.internal
"""
_DIRECT_MIB = 256
"""For buffers of the network and of compression."""
_LARGE_HEAP_BYTES = 2 << 30
"""From here on a collector that works beside the server pays, as Java itself decides."""

_LOGBACK = """<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %d{ISO8601} %logger{0}: %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="STDOUT"/></root>
</configuration>
"""


class NodeFacts(Struct, frozen=True):
    """One node: where it listens and writes, and its part of the ring."""

    number: int
    """From 1."""
    of: int
    host: str
    seeds: tuple[str, ...]
    """All nodes: so none needs another one to be up before it."""
    storage_port: int
    client_port: int
    data: Path
    run: Path

    @property
    def name(self) -> str:
        return f"node-{self.number}"

    @property
    def token(self) -> int:
        """The ring is divided evenly."""
        return -(1 << 63) + (self.number - 1) * (1 << 64) // self.of


def refuse_reaching(settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that is a path, a program or a class, or that has such
    parts."""
    for name, value in settings.items():
        if _REACHING.match(name) or "/" in value or value.strip()[:1] in ("{", "["):
            raise ArgumentError(
                f"a capsule sets {name} = {value!r} of Cassandra, which can be a program, a class "
                "or a path"
            )


def check(settings: Mapping[str, str]) -> None:
    """Raises `ArgumentError` for a setting that Assay chooses, or none."""
    for name, value in settings.items():
        if name in SET_BY_ASSAY:
            raise ArgumentError(
                f"the setting {name} of a private server is set by Assay",
                hint=phrase(
                    "reach a server of your own by its URL: {--on cassandra://HOST:PORT/KEYSPACE}"
                ),
            )
        if not _NAME.fullmatch(name):
            raise ArgumentError(
                f"expected the name of a setting of cassandra.yaml, found {name!r}",
                hint="commitlog_sync=batch",
            )
        if "\n" in value:
            raise ArgumentError(f"the setting {name}: expected one line, found {value!r}")


def chosen_by_assay(settings: Mapping[str, str]) -> dict[str, str]:
    """What the nodes have beside these settings, and what they would have in their place."""
    sync = {**CHOSEN_BY_ASSAY, **settings}["commitlog_sync"].lower()
    return {**_OF_SYNC.get(sync, {}), **CHOSEN_BY_ASSAY}


def yaml(node: NodeFacts, settings: Mapping[str, str]) -> str:
    """The text of ``cassandra.yaml``."""
    lines = {**chosen_by_assay(settings), **settings}
    seeds = json.dumps(",".join(f"{host}:{node.storage_port}" for host in node.seeds))
    simple = "org.apache.cassandra.locator.SimpleSeedProvider"
    ours = {
        "cluster_name": "assay",
        "num_tokens": "1",
        "initial_token": f'"{node.token}"',
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "endpoint_snitch": "SimpleSnitch",
        "seed_provider": f"[{{class_name: {simple}, parameters: [{{seeds: {seeds}}}]}}]",
        "auto_bootstrap": "false",
        "listen_address": node.host,
        "rpc_address": node.host,
        "storage_port": str(node.storage_port),
        "native_transport_port": str(node.client_port),
        "data_file_directories": f"[{_text(node.data / 'data')}]",
        "commitlog_directory": _text(node.data / "commitlog"),
        "saved_caches_directory": _text(node.data / "saved_caches"),
        "hints_directory": _text(node.data / "hints"),
        "cdc_raw_directory": _text(node.data / "cdc_raw"),
    }
    asked = {name: _value(value) for name, value in lines.items()}
    return "".join(f"{name}: {value}\n" for name, value in {**asked, **ours}.items())


def logback() -> str:
    """The text of ``logback.xml``: all that the server says goes to its standard output."""
    return _LOGBACK


def java_arguments(
    node: NodeFacts, agent: Path, class_path: str, *, heap_bytes: int, cache_bytes: int
) -> list[str]:
    """Behind the program java; ``cache_bytes`` are those of the cache of pages, which is outside
    the heap."""
    heap = f"{heap_bytes >> 20}m"
    collector = "-XX:+UseG1GC" if heap_bytes >= _LARGE_HEAP_BYTES else "-XX:+UseSerialGC"
    files = node.run / node.name
    properties = {
        "jdk.attach.allowAttachSelf": "true",
        "cassandra.config": f"file://{files}/cassandra.yaml",
        "logback.configurationFile": f"file://{files}/logback.xml",
        "cassandra.storagedir": str(node.data),
        "cassandra.logdir": f"{files}/log",
        "cassandra-foreground": "yes",
        # The nodes are all there from the beginning, with parts of the ring that we gave them.
        "cassandra.skip_wait_for_gossip_to_settle": "0",
        "cassandra.ring_delay_ms": "5000" if node.of > 1 else "1",
        "cassandra.superuser_setup_delay_ms": "0",
        "java.net.preferIPv4Stack": "true",
        "java.io.tmpdir": str(files),
        "jna.tmpdir": str(files),
        "user.home": str(files),
    }
    return [
        *(f"--add-exports={name}=ALL-UNNAMED" for name in _EXPORTS.split()),
        *(f"--add-opens={name}=ALL-UNNAMED" for name in _OPENS.split()),
        f"-javaagent:{agent}",
        f"-Xms{heap}",
        f"-Xmx{heap}",
        f"-XX:MaxDirectMemorySize={(cache_bytes >> 20) + _DIRECT_MIB}m",
        collector,
        "-Xss512k",
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:+PerfDisableSharedMem",  # else a file in /tmp for each process
        f"-XX:ErrorFile={files}/hs_err.log",
        *(f"-D{name}={value}" for name, value in properties.items()),
        "-cp",
        class_path,
        "org.apache.cassandra.service.CassandraDaemon",
    ]


def _text(path: Path) -> str:
    return json.dumps(str(path))


def _value(value: str) -> str:
    """As it stands where YAML takes it for what it is; else as a text."""
    return value if _PLAIN_VALUE.fullmatch(value) else json.dumps(value)

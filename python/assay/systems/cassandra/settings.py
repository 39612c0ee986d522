"""Takes the settings asked for; returns the configuration of a node and its Java, reads back what
it is really set to, and says what that makes it write, flush and check."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct

from assay.contracts import durability
from assay.contracts.durability import Safeguard, safeguard
from assay.contracts.systems.abilities import Spelled
from assay.errors import ArgumentError, SystemRefused
from assay.provision.engine.engine_calls import Session
from assay.systems.options import size_bytes
from assay.systems.sessions import rows_of
from assay.text.phrases import Mention, phrase
from assay.text.units import in_largest_unit, size_word

_DECISIVE = """
    commitlog_sync commitlog_sync_period commitlog_sync_group_window commitlog_segment_size
    commitlog_total_space commitlog_disk_access_mode commit_failure_policy disk_failure_policy
    periodic_commitlog_sync_lag_block trickle_fsync
    memtable_heap_space memtable_offheap_space memtable_allocation_type memtable_flush_writers
    memtable_cleanup_threshold
    file_cache_enabled file_cache_size key_cache_size row_cache_size counter_cache_size
    column_index_size disk_access_mode disk_optimization_strategy
    compaction_throughput concurrent_compactors concurrent_reads concurrent_writes
    concurrent_counter_writes flush_compression
    read_request_timeout write_request_timeout range_request_timeout counter_write_request_timeout
    cas_contention_timeout native_transport_timeout native_transport_max_threads
    hinted_handoff_enabled dynamic_snitch internode_compression cross_node_timeout
    paxos_variant storage_compatibility_mode auto_snapshot incremental_backups
    num_tokens partitioner endpoint_snitch sstable.selected_format
"""
DECISIVE = frozenset(_DECISIVE.split())
"""Settings that decide speed or durability; recorded also where they are at their default. Names
that a version does not have are left out of its record."""

UNKNOWN = "it does not answer a query of system_views.settings"

_EVERYWHERE = "cluster_name"
"""A setting of every node; an answer without it was made up."""
_QUERY = "SELECT name, value FROM system_views.settings"

_TRUTH = {"yes": "true", "on": "true", "no": "false", "off": "false"}
_NOTHING = ("none", "null", "~", "")
_QUANTITY = re.compile(r"([-+]?\d+(?:\.\d+)?)\s*([a-z/]*)")
_FACTORS = {
    "": 1,
    **{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86_400},
    **{"b": 1, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30},
    **{"b/s": 1, "kib/s": 1 << 10, "mib/s": 1 << 20},
}
_UNITS = (
    (("ns", 1), ("us", 10**3), ("ms", 10**6), ("s", 10**9), ("m", 60 * 10**9),
     ("h", 3600 * 10**9), ("d", 86_400 * 10**9)),
    (("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)),
    (("B/s", 1), ("KiB/s", 1 << 10), ("MiB/s", 1 << 20)),
)  # fmt: skip
"""Of times, sizes and rates, as the server writes them."""


def read(session: Session) -> dict[str, str] | None:
    """Every setting of the node; None where it does not tell them."""
    found = {str(name): value or "" for name, value in rows_of(session, _QUERY, columns=2) or ()}
    return found if _EVERYWHERE in found else None


def insist(effective: Mapping[str, str], asked: Mapping[str, str]) -> None:
    """Raises `SystemRefused` for the first setting that was asked and is not in effect."""
    for name, value in asked.items():
        if name not in effective:
            near = get_close_matches(name, effective)
            raise SystemRefused(
                f"the setting {name} was asked as {value!r}, and the server has no such setting",
                hint=f"did you mean {' or '.join(near)}?" if near else None,
            )
        if not is_in_effect(value, effective[name]):
            raise SystemRefused(
                f"the setting {name} was asked as {value!r} and is {effective[name]!r}",
                hint="leave it out, or ask for what the server can do",
            )


def is_in_effect(asked: str, effective: str) -> bool:
    """Whether both texts mean the same: ``1024KiB`` and ``1MiB``."""
    left, right = (_meaning(text) for text in (asked, effective))
    return left == right


def spelled(asked: Mapping[str, str]) -> Iterator[Spelled]:
    """Each setting in one spelling, and whether it is what Assay's nodes have. What the server has
    by itself is known to a running node alone."""
    ours = chosen_by_assay(asked)
    for name, value in asked.items():
        is_default = name in ours and is_in_effect(value, ours[name])
        yield Spelled(name, _in_one_spelling(value), is_default)


def _in_one_spelling(text: str) -> str:
    word = " ".join(text.strip().strip("\"'").split())
    lower = word.lower()
    if lower in _NOTHING:
        return "none"
    quantity = _QUANTITY.fullmatch(lower)
    if quantity is None or not quantity[1].isdecimal():
        return _TRUTH.get(lower, word)
    for units in _UNITS:
        size = next((size for unit, size in units if unit.lower() == quantity[2]), None)
        if size is not None:
            return in_largest_unit(int(quantity[1]) * size, units)
    return word


def effective(reported: Mapping[str, str], asked: Mapping[str, str]) -> dict[str, str]:
    """What the record keeps: what decides speed and durability, and what was asked."""
    return {
        name: value
        for name, value in sorted(reported.items())
        if (name in DECISIVE and value) or (name in asked and name not in SET_BY_ASSAY)
    }


def durability_lowered_by(settings: Mapping[str, str], consistency: str) -> dict[str, str]:
    """The effective settings with which an acknowledged write can be lost when a machine stops, and
    what to set instead."""
    found = {}
    if settings.get("commitlog_sync", "").lower() == "periodic":
        found["commitlog_sync = periodic"] = "commitlog_sync = batch or group"
    if consistency == "any":
        found["consistency = any"] = "consistency = one or more"
    return found


def _meaning(text: str) -> str | float:
    word = " ".join(text.strip().lower().strip("\"'").split())
    if word in _NOTHING:
        return "none"
    quantity = _QUANTITY.fullmatch(word)
    if quantity is not None and quantity[2] in _FACTORS:
        return round(float(quantity[1]) * _FACTORS[quantity[2]], 9)
    return _TRUTH.get(word, word)


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

LOGBACK = """<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%-5level %d{ISO8601} %logger{0}: %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="STDOUT"/></root>
</configuration>
"""
"""The text of ``logback.xml``: all that the server says goes to its standard output."""


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


def check_settings(settings: Mapping[str, str]) -> None:
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


LEAST_HEAP_BYTES = 256 << 20
"""The server does not start with less."""
_BESIDE_BYTES = 256 << 20
"""Of a node, outside its heap: Java itself with its code and threads, buffers, pages of files."""


def heap_bytes(
    asked: str | None, default: str, *, nodes: int, cache_bytes: int, limit_bytes: int | None
) -> int:
    """What is asked, or else as much of the default as fits. ``cache_bytes``: of the cache of pages
    of each node, outside the heap; ``limit_bytes``: of all nodes together.

    Raises `ArgumentError` for a heap with which a node does not start, and one that does not fit.
    """
    heap = size_bytes("heap", asked or default)
    if heap < LEAST_HEAP_BYTES:
        raise ArgumentError(
            f"heap={asked}: expected at least {size_word(LEAST_HEAP_BYTES)}, as the server does "
            "not start with less",
            hint="heap=512MB",
        )
    if limit_bytes is None:
        return heap
    beside = _BESIDE_BYTES + cache_bytes
    room = (limit_bytes // nodes - beside) >> 20 << 20
    if asked is None and room >= LEAST_HEAP_BYTES:
        return min(heap, room)
    if heap <= room:
        return heap
    least = heap if asked is not None else LEAST_HEAP_BYTES
    needed = nodes * (least + beside)
    of_nodes = "a node" if nodes == 1 else f"each of {nodes} nodes"
    raise ArgumentError(
        f"a memory limit of {size_word(limit_bytes)} is too little: {of_nodes} needs "
        f"{size_word(least + beside)}, of which {size_word(least)} are its heap",
        hint=phrase("{}", Mention("memory", size_word(needed)))
        + (" or a smaller heap" if least > LEAST_HEAP_BYTES else ""),
    )


_OF_ONE = ("any", "one", "local_one")
"""Levels of consistency at which one replica answers for all."""


def safeguards_of_settings(
    settings: Mapping[str, str], consistency: str, replicas: int | None
) -> Iterator[Safeguard]:
    """``replicas``: of each row; None: not known, as of a server by URL. None of a node that does
    not tell its settings."""
    if not settings:
        return
    yield Safeguard(durability.BINARY_LOG, durability.NO_BINARY_LOG)
    has_copies = settings.get("incremental_backups", "").lower() == "true"
    yield Safeguard(
        durability.ARCHIVE,
        "links every data file for backups" if has_copies else durability.NO_ARCHIVE,
        safeguard(settings, "incremental_backups"),
    )
    if replicas is not None:
        is_waiting = replicas > 1 and consistency not in _OF_ONE
        yield Safeguard(
            durability.REPLICAS,
            durability.WAITS_FOR_REPLICAS if is_waiting else durability.NO_REPLICAS,
            (f"consistency = {consistency}", f"replication = {replicas}"),
        )

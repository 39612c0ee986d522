"""Takes a deployment and a round-trip time; returns the deployment as clients at that distance find
it: a proxy stands before each of its endpoints.

The proxy is a process of its own, ``assay delay-proxy``, so that its cost is not taken for the
client's. It listens at 127.0.0.1, also before a Unix socket.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import msgspec

from assay.contracts.deployment import Address, Delay, Deployment, host_and_port
from assay.contracts.engine.document import read_answer
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.protocol import ServerDirectory
from assay.errors import ArgumentError, SystemUnderTestError
from assay.provision.disk.directory import server_directory
from assay.text.mentions import phrase

_THIS_MACHINE = "127.0.0.1"


class Delaying(msgspec.Struct, frozen=True):
    """What a proxy says of itself once it listens."""

    host: str
    port: int
    measured_rtt_ns: int
    direct_rtt_ns: int
    round_trip_cpu_ns: int


@contextlib.contextmanager
def delayed(deployment: Deployment, rtt_s: float) -> Iterator[Deployment]:
    """Raises `ArgumentError` where an endpoint is neither a socket nor a port."""
    for endpoint in deployment.endpoints:
        if endpoint.unix is None and (endpoint.host is None or endpoint.port is None):
            raise ArgumentError(
                f"{deployment.label}: expected a server at a socket or a port, whose connections "
                "can be delayed",
                hint=phrase("leave {--rtt} out"),
            )
    nowhere = StorageFacts(name="none", kind="proxy", directory=tempfile.gettempdir())
    with ExitStack() as stack:
        directory = stack.enter_context(server_directory(nowhere))
        found = [
            stack.enter_context(_proxy(endpoint, rtt_s, directory, number))
            for number, endpoint in enumerate(deployment.endpoints, start=1)
        ]
        slowest = max((said for _, said in found), key=lambda said: said.measured_rtt_ns)
        delay = Delay(
            rtt_s,
            measured_rtt_s=slowest.measured_rtt_ns / 1e9,
            direct_rtt_s=slowest.direct_rtt_ns / 1e9,
            round_trip_cpu_s=slowest.round_trip_cpu_ns / 1e9,
        )
        yield replace(deployment, endpoints=tuple(address for address, _ in found), delay=delay)


@contextlib.contextmanager
def _proxy(
    endpoint: Address, rtt_s: float, directory: ServerDirectory, number: int
) -> Iterator[tuple[Address, Delaying]]:
    """The endpoint's address behind a proxy, and what the proxy said of itself."""
    server = endpoint.unix or host_and_port(
        endpoint.host_address or endpoint.host or "", endpoint.port
    )
    words = ["--to", server, "--rtt", repr(rtt_s), "--format", "json"]
    from assay.provision.processes.own_program import own_program

    proxy = own_program(
        ["delay-proxy", *words], directory, f"delay-proxy-{number}.log", SystemUnderTestError
    )
    with proxy as (_, said):
        delaying = read_answer(said, Delaying)
        address = replace(
            endpoint,
            unix=None,
            # A certificate is still checked for the server's own name.
            host=endpoint.host or _THIS_MACHINE,
            host_address=delaying.host,
            port=delaying.port,
            tls="off" if endpoint.unix else endpoint.tls,
        )
        yield address, delaying

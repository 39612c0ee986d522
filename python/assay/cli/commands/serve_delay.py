"""``assay serve delay``: runs a proxy that adds a round-trip time before a server."""

from __future__ import annotations

import json
from pathlib import Path

import click

from assay import _engine
from assay.cli.options.shared_options import NumberType, format_option
from assay.cli.process import say
from assay.contracts.documents import read_answer
from assay.errors import ArgumentError
from assay.provision.running_system import Delaying
from assay.text import quantities
from assay.text.units import counted, short_duration

_TO = "--to 127.0.0.1:5432, or --to ./server.sock"


@click.command("delay")
@click.option(
    "--to",
    required=True,
    metavar="HOST:PORT|SOCKET",
    help="The server: its name or IP address with its port, or the path of its Unix socket.",
)
@click.option(
    "--rtt",
    "rtt_s",
    type=NumberType(quantities.RTT_S),
    required=True,
    metavar="D",
    help="Round-trip time to add (1ms): every byte is delayed by half of it, in both directions.",
)
@click.option(
    "--port",
    type=NumberType(quantities.PORT_OR_ANY),
    metavar="N",
    default=0,
    help="Listen on this port of 127.0.0.1; 0: any free port.",
)
@format_option(("text", "json"), "text")
def command(to: str, rtt_s: float, port: int, form: str) -> None:
    """Run a proxy that adds a round-trip time between clients and a server.

    Bandwidth is not limited, and packets in transit overlap. The proxy measures
    the delay that it actually adds, with an echo server behind it, prints one line
    with its address, and runs until it is interrupted. `assay run --rtt` starts it
    automatically.

    \b
    Example:
      assay serve delay --to 127.0.0.1:5432 --rtt 1ms --port 6000
      assay serve delay --to ./server.sock --rtt 20ms
    """
    document = {**_server(to), "rtt_s": rtt_s, "listen_port": port}

    def ready(text: str) -> None:
        click.echo(text if form == "json" else _sentence(read_answer(text, Delaying)))

    try:
        delayed = json.loads(_engine.delay(json.dumps(document), ready))
    except _engine.EngineError as error:
        raise ArgumentError(error.message) from error
    say(
        f"{counted(delayed['connections'], 'connection')}, "
        f"{short_duration(delayed['processor_ns'] / 1e9)} of CPU"
    )


def _server(to: str) -> dict[str, str | int]:
    """``HOST:PORT``, ``[::1]:PORT`` or a path."""
    if "/" in to:
        return {"unix": str(Path(to).absolute())}
    host, _, port = to.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host:
        raise ArgumentError(f"--to: expected HOST:PORT or a socket's path, found {to!r}", hint=_TO)
    try:
        return {"host": host, "port": quantities.PORT.of_word(port)}
    except ValueError as error:
        raise ArgumentError(f"--to: the port: {error}", hint=_TO) from None


def _sentence(said: Delaying) -> str:
    return (
        f"{said.host}:{said.port}, round trip "
        f"{short_duration(said.measured_rtt_ns / 1e9)} (without the proxy "
        f"{short_duration(said.direct_rtt_ns / 1e9)}), "
        f"{short_duration(said.round_trip_cpu_ns / 1e9)} of CPU for each"
    )

"""``assay null-server``: a server of a protocol that does nothing, as slowly and as badly as it is
told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from assay import _engine, quantities
from assay.cli.numbers import Number
from assay.cli.options import is_typed
from assay.cli.outcome import say
from assay.errors import ArgumentError
from assay.report.units import counted
from assay.systems.null.options import TOLD

_DEFAULTS = {"rows": "1"}
"""What a client expects of a server that it asks for something."""


def _told_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """An option for each thing that can be told to the null system."""
    for spec in reversed(TOLD):
        function = click.option(
            f"--{spec.name.replace('_', '-')}",
            spec.name,
            metavar="WHAT",
            default=_DEFAULTS.get(spec.name),
            help=spec.help,
        )(function)
    return function


@click.command("null-server")
@click.option(
    "--protocol",
    type=click.Choice(_engine.null_protocols()),
    required=True,
    help="The protocol that it speaks.",
)
@click.option(
    "--unix", type=click.Path(path_type=Path), metavar="PATH", help="Listen at this Unix socket."
)
@click.option(
    "--port",
    type=Number(quantities.PORT_OR_ANY),
    metavar="N",
    help="Listen at this port; 0: one that is free.",
)
@click.option("--host", metavar="NAME", default="127.0.0.1", help="The port's address.")
@click.option(
    "--threads",
    type=Number(quantities.THREADS),
    metavar="N",
    default=0,
    help="Threads that serve; 0: one per processor, at most 4.",
)
@_told_options
def command(
    protocol: str, unix: Path | None, port: int | None, host: str, threads: int, **told: str | None
) -> None:
    """Play a server that does nothing, to measure what measures.

    It lets everybody in, accepts any statement and keeps nothing but the number
    of rows loaded into each table. Prints one line with its address when it
    listens, and serves until it is interrupted. Real clients of the protocol can
    use it; those that find a socket by its name want that name in --unix.

    \b
    Example:
      assay null-server --protocol postgresql --port 5433
      assay null-server --protocol mysql --unix ./null.sock --delay constant:1ms
      assay null-server --protocol postgresql --port 0 --stall 1.4s@5s
    """
    if (unix is None) == (port is None):
        raise ArgumentError("expected one of --unix and --port", hint="--port 0 finds a free port")
    if unix is not None and is_typed("host"):
        raise ArgumentError("--host means nothing to --unix", hint="leave --host out")
    for spec in TOLD:
        if (value := told.get(spec.name)) is not None:
            spec.check(value)
    document = {
        "protocol": protocol,
        "unix": None if unix is None else str(unix.absolute()),
        "host": None if port is None else host,
        "port": port,
        "threads": threads,
        "options": {name: value for name, value in told.items() if value is not None},
    }
    try:
        served = json.loads(_engine.serve(json.dumps(document), _listening))
    except _engine.EngineError as error:
        raise ArgumentError(error.message) from error
    say(
        f"served {counted(served['sessions'], 'session')}, "
        f"{counted(served['statements'], 'statement')}"
        + (f"; refused {counted(served['refused'], 'session')}" if served["refused"] else "")
    )


def _listening(text: str) -> None:
    """Says where it listens, for people and for programs."""
    place = json.loads(text)
    click.echo(place["unix"] or f"{place['host']}:{place['port']}")

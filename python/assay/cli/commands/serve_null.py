"""``assay serve null``: runs a server that does no work, with chosen delays and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from assay import _engine
from assay.cli.options.shared_options import NumberType, is_typed
from assay.cli.process import say
from assay.errors import ArgumentError
from assay.systems.null.server import ENGINE_OPTIONS
from assay.text import quantities
from assay.text.units import counted

_DEFAULTS = {"rows": "1"}
"""Answers that clients expect: a query returns one row."""


def _engine_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """An option for each engine option of the null system."""
    for spec in reversed(ENGINE_OPTIONS):
        function = click.option(
            f"--{spec.name.replace('_', '-')}",
            spec.name,
            metavar="WHAT",
            default=_DEFAULTS.get(spec.name),
            help=spec.help,
        )(function)
    return function


@click.command("null")
@click.option(
    "--protocol",
    type=click.Choice(_engine.null_protocols()),
    required=True,
    help="Protocol of the server.",
)
@click.option(
    "--unix", type=click.Path(path_type=Path), metavar="PATH", help="Listen on this Unix socket."
)
@click.option(
    "--port",
    type=NumberType(quantities.PORT_OR_ANY),
    metavar="N",
    help="Listen on this port; 0: any free port.",
)
@click.option(
    "--host", metavar="NAME", default="127.0.0.1", help="Address to listen on, with --port."
)
@click.option(
    "--threads",
    type=NumberType(quantities.THREADS),
    metavar="N",
    default=0,
    help="Server threads; 0: one per processor, at most 4.",
)
@_engine_options
def command(
    protocol: str, unix: Path | None, port: int | None, host: str, threads: int, **given: str | None
) -> None:
    """Run a server that does no work, to measure the client.

    It accepts every login and every statement, and keeps only the number of rows
    loaded into each table. It prints one line with its address when it is ready,
    and runs until it is interrupted. Other clients of the protocol can use it too;
    if they expect a socket of a certain name, give that name in --unix. It knows no
    passwords: if a login method requires that the server knows the password
    (SCRAM), log in without a user or with another method (PLAIN).

    \b
    Example:
      assay serve null --protocol postgresql --port 5433
      assay serve null --protocol mysql --unix ./null.sock --delay constant:1ms
      assay serve null --protocol postgresql --port 0 --stall 1.4s@5s
    """
    if (unix is None) == (port is None):
        raise ArgumentError("expected one of --unix and --port", hint="--port 0 finds a free port")
    if unix is not None and is_typed("host"):
        raise ArgumentError("--host does not apply to --unix", hint="leave --host out")
    for spec in ENGINE_OPTIONS:
        if (value := given.get(spec.name)) is not None:
            spec.check(value)
    document = {
        "protocol": protocol,
        "unix": None if unix is None else str(unix.absolute()),
        "host": None if port is None else host,
        "port": port,
        "threads": threads,
        "options": {name: value for name, value in given.items() if value is not None},
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
    """Prints the address: its socket, or host and port."""
    place = json.loads(text)
    click.echo(place["unix"] or f"{place['host']}:{place['port']}")

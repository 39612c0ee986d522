"""``assay watch``: shows an experiment under way as a page in a browser of this machine."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import click

from assay.cli.options.shared_options import NumberType, records_option
from assay.cli.process import say
from assay.errors import SystemMissing, SystemUnderTestError
from assay.text import quantities

_NEEDED = ("starlette", "uvicorn")


@click.command("watch")
@click.option(
    "--port",
    type=NumberType(quantities.PORT_OR_ANY),
    metavar="N",
    help="Port of 127.0.0.1; 0: any. [default: that of the last time, or any]",
)
@records_option
def command(port: int | None, records: Path) -> None:
    """Follow a running experiment in the browser of this machine.

    It prints the address of the page, which holds a token, and serves it until it is
    interrupted. The page follows the last experiment of the record file while
    `assay run` writes it, in this or another terminal: how far the plan is and how
    long it still takes, each second of the run under way, and the cells that have
    ended with their verdicts. It is read from the record by a process of its own, for
    which no run waits. The address stays the same from one start to the next, and a
    page that is open goes on where it was.

    \b
    Example:
      assay watch
      assay watch --port 8000 --records shop.sqlite
    """
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise SystemMissing(
            f"the live page needs the Python module {missing[0]}, which is not installed",
            hint="pip install 'assay-db[live]'",
        )
    from assay.cli.watching.address import address_of
    from assay.cli.watching.serving import serve
    from assay.record.reader import Reader
    from assay.text import paths

    if paths.exists(records):
        with suppress(SystemUnderTestError):  # another process holds it now
            Reader(records).close()
    else:
        say(
            f"there are no records at {records} yet: the page begins when `assay run` makes them; "
            "or name another file with --records"
        )
    address = address_of(records, port)
    click.echo(address.url)
    say("open it in a browser of this machine; Ctrl-C ends it")
    serve(address, records)

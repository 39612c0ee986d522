"""``assay get``: brings a data set from outside."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.outcome import say


@click.group("get")
def command() -> None:
    """Bring a data set that workloads can be run on.

    \b
    Example:
      assay get beebe
    """


@command.command("beebe")
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Where to put the files. [default: the user's data folder]",
)
@click.option("--force", is_flag=True, help="Bring files anew that are there, and replace them.")
def beebe_command(to: Path | None, force: bool) -> None:
    """Bring 13 public-domain bibliographies on TeX and typesetting (9 MB).

    They are taken from a TeX tree on this machine, else out of the Debian package
    that holds them, which is downloaded and not installed. Files that are there
    stay as they are. The last line of standard output is the folder.

    \b
    Example:
      assay get beebe --to bibliographies
    """
    from assay.input import beebe

    click.echo(beebe.get(to, tell=say, force=force))

"""``assay get``: brings a data set from outside."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.outcome import say


@click.group("get")
def command() -> None:
    """Download a data set for workloads.

    \b
    Example:
      assay get beebe
    """


@command.command("beebe")
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Folder for the files. [default: the user's data folder]",
)
@click.option(
    "--force", is_flag=True, help="Download files again that already exist, and replace them."
)
def beebe_command(to: Path | None, force: bool) -> None:
    """Get 13 public-domain bibliographies on TeX and typesetting (9 MB).

    They are copied from a TeX tree on this machine, or else extracted from the
    Debian package that holds them, which is downloaded but not installed. Files
    that already exist are kept. The last line of standard output is the folder.

    \b
    Example:
      assay get beebe --to bibliographies
    """
    from assay.bibsql import beebe

    click.echo(beebe.get(to, tell=say, force=force))

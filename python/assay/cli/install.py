"""``assay install``: brings the programs of a system into the user's cache folder."""

from __future__ import annotations

import click

from assay import registry
from assay.cli.outcome import say
from assay.install import stage
from assay.provision.leftovers import clear_leftovers
from assay.systems.abilities import Findable


@click.command("install")
@click.argument("system", metavar="SYSTEM[@VERSION]")
def command(system: str) -> None:
    """Download a system's programs, through this machine's package clients.

    Nothing outside the cache folder ($ASSAY_CACHE) is changed, and no root is
    needed. `assay list systems` shows what can be installed. Prints the folder
    of the installation.

    \b
    Example:
      assay install mysql
      assay uninstall mysql
    """
    name, version = system_and_version(system)
    for cleared in clear_leftovers():
        say(cleared.sentence())
    one = registry.system(name)
    folder = stage.install(one, version, say)
    if isinstance(one, Findable):
        say(f"{name} {one.find().version} is ready: `assay run WORKLOAD --on {name}`")
    say(f"to remove it: `assay uninstall {name}@{folder.name}`")
    click.echo(folder)


def system_and_version(text: str) -> tuple[str, str | None]:
    """``NAME@VERSION``, or a name by itself. Raises `UsageError`."""
    name, at, version = text.partition("@")
    if at and not version:
        raise click.UsageError(f"expected SYSTEM@VERSION, found {text!r}")
    return name, version or None

"""``assay uninstall``: removes what ``assay install`` brought."""

from __future__ import annotations

import click

from assay import registry
from assay.cli.install import system_and_version
from assay.cli.outcome import say
from assay.install import stage


@click.command("uninstall")
@click.argument("system", metavar="SYSTEM[@VERSION]")
def command(system: str) -> None:
    """Remove a system that `assay install` brought.

    Without a version all installed versions of the system are removed. Programs
    that Assay did not install stay.

    \b
    Example:
      assay uninstall mysql
    """
    name, version = system_and_version(system)
    registry.system(name)  # an unknown name is refused with the nearest one
    for folder in stage.uninstall(name, version, say):
        say(f"removed {folder}")

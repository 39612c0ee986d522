"""``assay uninstall``: removes what ``assay install`` has installed."""

from __future__ import annotations

import click

from assay.cli.commands.install import system_and_version, system_named
from assay.cli.options import completers
from assay.cli.process import say
from assay.contracts.systems.abilities import Findable
from assay.contracts.systems.protocol import System
from assay.errors import ArgumentError, SystemUnderTestError
from assay.provision.install import cache, install


@click.command("uninstall")
@click.argument("system", metavar="SYSTEM[@VERSION]", shell_complete=completers.system)
def command(system: str) -> None:
    """Remove a system that `assay install` has installed.

    Without a version all installed versions of the system are removed. Programs
    that Assay did not install stay.

    \b
    Example:
      assay uninstall mysql
    """
    name, version = system_and_version(system)
    system_ = system_named(name)
    if not cache.installations(name):
        raise ArgumentError(
            f"{name} was not installed by Assay in {cache.cache_folder()}{_elsewhere(system_)}"
        )
    for folder in install.uninstall(name, version, say):
        say(f"removed {folder}")


def _elsewhere(system: System) -> str:
    """Where a run finds it."""
    if not isinstance(system, Findable):
        return ""
    try:
        return f" (found: {system.find().place})"
    except SystemUnderTestError:
        return ""

"""``assay install``: brings the programs of a system into the user's cache folder."""

from __future__ import annotations

from pathlib import Path

import click

from assay import registry
from assay.cli.options import completers
from assay.cli.process import say
from assay.contracts.server_url import is_url
from assay.contracts.systems.abilities import Findable, Installable, SeveralVersions
from assay.contracts.systems.protocol import System
from assay.errors import ArgumentError, SystemUnderTestError
from assay.provision.install import install
from assay.provision.undo.ledger import clear_leftovers
from assay.text.phrases import nearest
from assay.text.versions import version_numbers


@click.command("install")
@click.argument("system", metavar="SYSTEM[@VERSION]", shell_complete=completers.system)
def command(system: str) -> None:
    """Download a system's programs, through this machine's package clients.

    Nothing outside the cache folder ($ASSAY_CACHE) is changed, and root is not
    needed. `assay list systems` shows what can be installed. Several versions of
    a system can be installed side by side: `--on SYSTEM@VERSION` chooses one.
    Prints the folder of the installation.

    \b
    Example:
      assay install mysql
      assay install postgresql@17
      assay uninstall mysql
    """
    name, version = system_and_version(system)
    for cleared in clear_leftovers():
        say(cleared.sentence())
    one = system_named(name)
    if not isinstance(one, Installable):
        raise ArgumentError(f"{name} cannot be installed by Assay", hint=_instead(one))
    ready = install.install(one, version, say)
    say(f"{name} {ready.programs.version} is ready: {_how_to_use(one, ready)}")
    say(f"to remove it: `assay uninstall {name}@{ready.folder.name}`")
    click.echo(ready.folder)


def _instead(system: System) -> str:
    """How a system is had that cannot be installed: it is there, or by the packages that its
    search names."""
    if not isinstance(system, Findable):
        return _installable()
    try:
        system.find()
    except SystemUnderTestError as error:
        return f"{error.hint}; {_installable()}" if error.hint else _installable()
    return f"it is on this machine: `assay run WORKLOAD --on {system.name}`"


def _how_to_use(system: System, ready: install.Ready) -> str:
    """What a person types; where a run would use other programs, how these are chosen."""
    run = f"`assay run WORKLOAD --on {system.name}`"
    if not (isinstance(system, Findable) and isinstance(system, SeveralVersions)):
        return run
    choose = f"`assay run WORKLOAD --on {system.name}@{version_numbers(ready.programs.version)}`"
    try:
        used = system.find()
    except SystemUnderTestError as error:
        return f"{choose} (without a version: {error.message})"
    if Path(used.place).resolve().is_relative_to(ready.folder.resolve()):
        return run
    return f"{choose}; without a version {used.version} in {used.place} is used"


def system_and_version(text: str) -> tuple[str, str | None]:
    """``NAME@VERSION``, or a name by itself. Raises `UsageError`."""
    if is_url(text):
        raise click.UsageError("expected SYSTEM@VERSION, found a URL")
    name, at, version = text.partition("@")
    if at and not version:
        raise click.UsageError(f"expected SYSTEM@VERSION, found {text!r}")
    return name, version or None


def system_named(name: str) -> System:
    """Raises `ArgumentError` for an unknown one, with those that can be installed."""
    try:
        return registry.system(name)
    except ArgumentError as error:
        raise ArgumentError(error.message, hint=_installable(name)) from error


def _installable(word: str = "") -> str:
    """Those that can be installed, after the one that the word most likely means."""
    names = [name for name, one in registry.usable_systems() if isinstance(one, Installable)]
    guess = nearest(word, names)
    can_be = f"these can be installed: {', '.join(names)}"
    return f"did you mean {guess!r}? {can_be}" if guess else can_be

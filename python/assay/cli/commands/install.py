"""``assay install``: brings the programs of a system, or a data set, into the user's folders, and
removes them again."""

from __future__ import annotations

from pathlib import Path

import click

from assay import registry
from assay.cli.options import completers
from assay.cli.options.shared_options import is_typed
from assay.cli.options.usage_errors import DestroyingOption
from assay.cli.output.progress import repeated
from assay.cli.process import say
from assay.contracts.server_url import is_url
from assay.contracts.systems.abilities import Findable, Installable, SeveralVersions
from assay.contracts.systems.protocol import System
from assay.errors import ArgumentError, SystemUnderTestError
from assay.provision.install import cache, install
from assay.provision.undo.ledger import clear_leftovers
from assay.text.phrases import nearest
from assay.text.versions import version_numbers

_HELP = """Download the programs of a system or a data set, or remove them again.

Programs come through this machine's package clients. Nothing outside the cache
folder ($ASSAY_CACHE) is changed, and root is not needed. `assay list systems`
shows what can be installed. Several versions of a system can be installed side
by side: `--on SYSTEM@VERSION` chooses one. --remove leaves programs that Assay
did not install. Prints the folder of the installation.

Workloads that need a data set find it in its folder; with --to FOLDER, give it
to them with `assay run --input FOLDER`.

{data_sets}

\b
Example:
  assay install mysql
  assay install postgresql@17
  assay install mysql --remove
  assay install beebe --to folder
  assay install beebe --remove
"""


def _data_sets() -> str:
    known = completers.data_sets().items()
    return "\n\n".join(f"Data set {name}: {one.help}" for name, one in known)


@click.command("install", help=_HELP.format(data_sets=_data_sets()))
@click.argument("name", metavar="SYSTEM[@VERSION]|DATASET", shell_complete=completers.installable)
@click.option(
    "--remove",
    is_flag=True,
    help="Remove what was installed: of a system this version, or all; of a data set its files.",
)
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Folder for the files of a data set. [default: the user's data folder]",
)
@click.option(
    "--force",
    cls=DestroyingOption,
    is_flag=True,
    help="Download files of a data set again that already exist, and replace them.",
)
def command(name: str, remove: bool, to: Path | None, force: bool) -> None:
    name, version = _name_and_version(name)
    download = completers.data_sets().get(name)
    if download is not None:
        if version is not None:
            raise ArgumentError(f"{name} is a data set, which has no versions", hint="leave @ out")
        if remove:
            _refuse_typed("force", "--remove", "leave --force out")
            say(download.remove(to))
        else:
            with repeated(say) as report:
                found = download.get(to, report, force)
            click.echo(found)
        return
    for option in ("to", "force"):
        _refuse_typed(option, f"{name}: it is no data set", f"leave --{option} out")
    for cleared in clear_leftovers():
        say(cleared.sentence())
    if remove:
        _remove(name, version)
    else:
        _install(name, version)


def _refuse_typed(option: str, what: str, hint: str) -> None:
    if is_typed(option):
        raise ArgumentError(f"--{option} does not apply to {what}", hint=hint)


def _install(name: str, version: str | None) -> None:
    one = _system_named(name)
    if not isinstance(one, Installable):
        raise ArgumentError(f"{name} cannot be installed by Assay", hint=_instead(one))
    with repeated(say) as report:
        ready = install.install(one, version, report)
    say(f"{name} {ready.programs.version} is ready: {_how_to_use(one, ready)}")
    say(f"to remove it: `assay install --remove {name}@{ready.folder.name}`")
    click.echo(ready.folder)


def _remove(name: str, version: str | None) -> None:
    """Also programs that a workload has brought, which are no system."""
    if not cache.installations(name):
        where = _elsewhere(_system_named(name))
        raise ArgumentError(f"{name} was not installed by Assay in {cache.cache_folder()}{where}")
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


def _name_and_version(text: str) -> tuple[str, str | None]:
    """``NAME@VERSION``, or a name by itself. Raises `UsageError`."""
    if is_url(text):
        raise click.UsageError("expected SYSTEM@VERSION, found a URL")
    name, at, version = text.partition("@")
    if at and not version:
        raise click.UsageError(f"expected SYSTEM@VERSION, found {text!r}")
    return name, version or None


def _system_named(name: str) -> System:
    """Raises `ArgumentError` for an unknown one, with those that can be installed."""
    try:
        return registry.system(name)
    except ArgumentError as error:
        raise ArgumentError(error.message, hint=_installable(name)) from error


def _installable(word: str = "") -> str:
    """Those that can be installed, after the one that the word most likely means."""
    names = [name for name, one in registry.usable_systems() if isinstance(one, Installable)]
    names += completers.data_sets()
    guess = nearest(word, names)
    can_be = f"these can be installed: {', '.join(names)}"
    return f"did you mean {guess!r}? {can_be}" if guess else can_be

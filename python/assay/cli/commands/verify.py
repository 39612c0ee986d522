"""``assay verify``: tries on a system what every system with its capabilities must do."""

from __future__ import annotations

import sys
from collections import Counter

import click

from assay.cli.options import completers
from assay.cli.options.shared_options import erase_option, format_option, refuse_unused_erase
from assay.cli.output import rows
from assay.cli.process import say, status_at_least
from assay.contracts.experiment import StorageChoice
from assay.errors import ArgumentError, RunFailed, SystemUnderTestError
from assay.experiment.choices import checked_choices, storage_words
from assay.lab.conformance.requirement import Finding
from assay.lab.conformance.verify import verify
from assay.lab.preflight import availability_of, one_line
from assay.provision.install.cache import in_use
from assay.provision.undo.ledger import clear_leftovers

COLUMNS = ("system", "requirement", "result", "reason")


@click.command("verify")
@click.argument(
    "systems", metavar="SYSTEM…", nargs=-1, required=True, shell_complete=completers.system
)
@click.option(
    "--storage",
    "storages",
    metavar="STORAGE",
    shell_complete=completers.storage,
    multiple=True,
    help="Storage for the data of private servers.  [default: here]",
)
@erase_option
@format_option(tuple(rows.FORMS))
def command(systems: tuple[str, ...], storages: tuple[str, ...], erase: bool, form: str) -> int:
    """Test a system against the requirements of its capabilities.

    For the authors of systems. SYSTEM is a name or a URL, as for --on. Types and
    their limits, texts, errors, transactions, loads, sessions, settings, a stop
    and a crash are tested on a server that is started for it; a server by URL is
    neither stopped nor killed, and tables named verify_… are created and dropped
    there. A requirement whose capability the system lacks is not applicable, with
    the reason. Exit status 1 if a requirement is not met, otherwise 3 if a system
    could not be tested.

    \b
    Example:
      assay verify sqlite
      assay verify postgresql mariadb --format markdown
      assay verify mysql://me@db/scratch
    """
    choices = checked_choices.system_choices(systems)
    storage, *others = _storages(storages, erase)
    if others:
        raise ArgumentError(
            f"expected one storage, found {1 + len(others)}",
            hint="`assay verify` once for each storage",
        )
    storage_words.check_choices(choices, [storage])
    storage_words.refuse_absent([storage])
    for choice in choices:
        storage_words.check_pair(choice, storage)
    available = availability_of(choices)
    available.refuse_missing()
    for cleared in clear_leftovers():
        say(f"warning: {cleared.sentence()}")
    found: list[rows.Row] = []
    status = 0
    with in_use(available.places):
        for choice in choices:
            counted: Counter[str] = Counter()
            try:
                for finding in verify(choice, storage):
                    counted[finding.result] += 1
                    found.append(_row(choice.label, finding))
                    if finding.result == "not met":
                        name = finding.requirement.name
                        say(f"{choice.label}: not met: {name}: {finding.reason}")
            except SystemUnderTestError as error:
                if len(choices) == 1:
                    raise
                say(f"{choice.label}: not verified: {one_line(error)}")
                status = error.exit_code
            counts = ", ".join(f"{count} {result}" for result, count in counted.items())
            if counts:
                say(f"{choice.label}: {counts}")
    if any(row["result"] == "not met" for row in found):
        status = RunFailed.exit_code
    with status_at_least(status):
        rows.write(found, COLUMNS, form, sys.stdout)
    return status


def _storages(words: tuple[str, ...], erase: bool) -> tuple[StorageChoice, ...]:
    choices = storage_words.storage_choices(words, may_erase=erase) or (StorageChoice(),)
    refuse_unused_erase(choices, erase)
    return choices


def _row(label: str, finding: Finding) -> rows.Row:
    return {
        "system": label,
        "requirement": finding.requirement.name,
        "result": finding.result,
        "reason": finding.reason,
    }

"""``assay measure durability``: measures whether commits are flushed before they are answered."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable

import click
from msgspec import structs

from assay import registry
from assay.cli.options import completers
from assay.cli.options.shared_options import erase_option, format_option, refuse_unused_erase
from assay.cli.output import rows
from assay.cli.process import say, status_at_least
from assay.contracts.durability import Durability
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.contracts.storages.abilities import Inspectable, OwnDevice
from assay.errors import ArgumentError, SystemUnderTestError
from assay.experiment.choices import checked_choices, storage_words
from assay.lab.preflight import availability_of, one_line
from assay.probe.durability import measure_durability
from assay.provision.install.cache import in_use
from assay.provision.running_system import running_system
from assay.provision.undo.ledger import clear_leftovers

COLUMNS = (
    "system", "storage", "class", "meaning", "commits", "flushed_before_answer",
    "longest_delay_s", "write_amplification",
)  # fmt: skip
TABLE = tuple(name for name in COLUMNS if name != "longest_delay_s")
"""Columns in the table format, in which the meaning says the delay."""


@click.command("durability")
@click.option(
    "--on",
    "systems",
    metavar="SYSTEM",
    shell_complete=completers.in_a_list(completers.system),
    multiple=True,
    required=True,
    help="System under test: NAME or NAME[setting=value,…]; several separated by commas.",
)
@click.option(
    "--storage",
    "storages",
    metavar="STORAGE",
    shell_complete=completers.in_a_list(completers.storage),
    multiple=True,
    required=True,
    help="Storage with a block device of its own.",
)
@erase_option
@format_option(tuple(rows.FORMS))
def command(systems: tuple[str, ...], storages: tuple[str, ...], erase: bool, form: str) -> int:
    """Measure whether commits are flushed to the device before they are answered.

    One client commits 50 small transactions with pauses between them; the flush
    counter of the storage's device is read before and after each. D3: a flush
    ended before every answer. D2: a flush ended within 10 s after the answer; the
    longest delay is shown. D1: written to the operating system, not flushed. D0:
    nothing left the process. write_amplification: bytes written to the device per
    byte that the commits had to write. The storage needs a device that nothing
    else uses. Takes about 2 s for D3, three times the longest delay for D2, and
    15 s for D1 and D0.

    \b
    Example:
      assay measure durability --on postgresql,sqlite --storage loop
      assay measure durability --on 'sqlite[synchronous=off]' --storage loop
    """
    choices = checked_choices.system_choices(systems)
    places = storage_words.storage_choices(storages, may_erase=erase)
    refuse_unused_erase(places, erase)
    storage_words.check_choices(choices, places)
    storage_words.refuse_absent(places)
    for choice, place in itertools.product(choices, places):
        storage_words.check_pair(choice, place)
    _refuse_what_cannot_be_measured(choices, places)
    available = availability_of(choices)
    available.refuse_missing()
    for cleared in clear_leftovers():
        say(f"warning: {cleared.sentence()}")
    found: list[rows.Row] = []
    status = 0
    with in_use(available.places):
        for place in places:
            for choice in choices:
                try:
                    found.append(_row(choice, place, _measured(choice, place)))
                except SystemUnderTestError as error:
                    if len(choices) * len(places) == 1:
                        raise
                    say(f"{choice.label} on {place.name}: {one_line(error)}")
                    status = error.exit_code
    with status_at_least(status):
        rows.write(found, TABLE if form == "table" else COLUMNS, form, sys.stdout)
    return status


def _refuse_what_cannot_be_measured(
    choices: Iterable[SystemChoice], places: Iterable[StorageChoice]
) -> None:
    """Before anything is started."""
    for choice in choices:
        if choice.url is not None:
            raise ArgumentError(
                f"{choice.label}: durability is measured on systems that Assay starts",
                hint=f"--on {choice.name}",
            )
    for place in places:
        if not isinstance(registry.storage(place.kind), OwnDevice):
            raise ArgumentError(
                f"storage {place.name!r}: durability is measured on a device that nothing else "
                f"uses, found the kind {place.kind!r}",
                hint=_measurable(),
            )


def _measurable() -> str:
    """The storages on which it can be measured here, or why there are none."""
    if kinds := storage_words.kinds_to_choose(OwnDevice):
        return f"--storage {' or '.join(kinds)}"
    kinds_with_device = [registry.storage(name) for name in registry.storages()]
    reasons = [
        kind.why_unavailable()
        for kind in kinds_with_device
        if isinstance(kind, OwnDevice) and isinstance(kind, Inspectable)
    ]
    return f"none can be made here: {next(filter(None, reasons), 'no kind has one')}"


def _measured(choice: SystemChoice, storage: StorageChoice) -> Durability:
    say(f"measure {choice.label} on {storage.name}")
    with running_system(choice, storage, connections=None) as running:
        return measure_durability(running.deployment, running.system, warn=say)


def _row(choice: SystemChoice, storage: StorageChoice, durability: Durability) -> rows.Row:
    delay_ns = durability.longest_delay_ns
    return {
        **structs.asdict(durability),
        "system": choice.label,
        "storage": storage.name,
        "class": durability.durability_class,
        "meaning": durability.meaning if durability.durability_class else durability.described,
        "commits": durability.commits or None,
        "flushed_before_answer": durability.flushed_before_answer if durability.commits else None,
        "longest_delay_s": None if delay_ns is None else delay_ns / 1e9,
        "write_amplification": round(durability.written_bytes / durability.payload_bytes, 2)
        if durability.payload_bytes
        else None,
    }

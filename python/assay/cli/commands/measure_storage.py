"""``assay measure storage``: measures the reads, writes and flushes of storages."""

from __future__ import annotations

import sys

import click

from assay import registry
from assay.cli.options import completers
from assay.cli.options.shared_options import (
    NumberType,
    erase_option,
    format_option,
    refuse_unused_erase,
)
from assay.cli.output import rows
from assay.cli.process import say, status_at_least
from assay.contracts.experiment import StorageChoice
from assay.contracts.storage_facts import StorageFacts
from assay.errors import SystemMissing, SystemUnderTestError
from assay.experiment.choices.storage_words import storage_choices
from assay.probe import measure
from assay.probe.measure import HOW_TO_INSTALL, NOT_INSTALLED, Probe, probe
from assay.provision.running_system import directory_on
from assay.provision.undo.ledger import clear_leftovers
from assay.record.metrics import resources
from assay.report.columns import row
from assay.report.sections.probes import MEASURED
from assay.report.values import number_in
from assay.text.quantities import PROBE_DEFAULT_S, PROBE_S
from assay.text.units import digits

COLUMNS = (
    "storage", "file_system", "device", "reads_depth_1_per_s", "reads_depth_4_per_s",
    "reads_depth_16_per_s", "reads_depth_32_per_s", "sequential_read_mb_per_s",
    "sequential_write_mb_per_s", "flushes_per_s",
)  # fmt: skip


@click.command("storage")
@click.argument("words", metavar="[STORAGE]...", nargs=-1, shell_complete=completers.storage)
@click.option(
    "--probe-seconds",
    type=NumberType(PROBE_S),
    metavar="S",
    default=PROBE_DEFAULT_S,
    show_default=True,
    help="About how long to measure each storage.",
)
@erase_option
@format_option(tuple(rows.FORMS))
def command(words: tuple[str, ...], probe_seconds: float, erase: bool, form: str) -> None:
    """Measure how many reads, writes and flushes storages do per second.

    Makes each STORAGE (written as after `assay run --storage`; default: here),
    measures it with fio in the way databases use it, and removes it again: random
    reads of 8 KiB, 1 to 32 at once; sequential reads and writes; and flushes,
    each a write of 8 KiB followed by fdatasync. `assay run` does the same before
    the first use of each storage where it compares storages (or with
    --probe-seconds), and keeps it in the record.

    \b
    Example:
      assay measure storage
      assay measure storage here:/data tmpfs --probe-seconds 10
      assay measure storage --format json
    """
    choices = storage_choices(words, may_erase=erase) or (StorageChoice(),)
    refuse_unused_erase(choices, erase)
    for choice in choices:
        registry.storage(choice.kind).check(choice)
    if not measure.is_installed():
        raise SystemMissing(NOT_INSTALLED, hint=HOW_TO_INSTALL)
    for cleared in clear_leftovers():
        say(f"warning: {cleared.sentence()}")
    found = []
    for choice in choices:
        say(f"probe {choice.name}")
        kind = registry.storage(choice.kind)
        with kind.prepare(choice) as prepared, directory_on(kind, prepared) as directory:
            found.append((prepared.facts, probe(directory, probe_seconds, warn=say)))
    for _, probed in found:
        if said := resources.uneven_flushes(probed.flushes):
            say(f"warning: {probed.storage}: {said}")
    failed = [probed for _, probed in found if probed.reason]
    with status_at_least(SystemUnderTestError.exit_code if failed else 0):
        rows.write([_row(*one) for one in found], COLUMNS, form, sys.stdout)
    if failed:
        reasons = "; ".join(f"{one.storage}: {one.reason}" for one in failed)
        raise SystemUnderTestError(f"not probed: {reasons}")


def _row(facts: StorageFacts, probe: Probe) -> rows.Row:
    """What was measured, rounded as far as the columns go, and the facts of the storage."""
    values = {
        name: _rounded(value) if isinstance(value, float) else value
        for name, value in row(MEASURED, probe).items()
    }
    for name in ("sequential_read", "sequential_write"):
        bytes_per_s = number_in(values, f"{name}_bytes_per_s")
        in_mb = None if bytes_per_s is None else _rounded(bytes_per_s / 1e6)
        values[f"{name}_mb_per_s"] = in_mb
    return {
        **values,
        "kind": facts.kind,
        "directory": facts.directory,
        "file_system": facts.file_system,
        "device": facts.device,
        "mount_options": facts.mount_options,
        "size_bytes": facts.size_bytes,
        "free_bytes": facts.free_bytes,
        **facts.facts,
    }


def _rounded(value: float) -> int | float:
    text = digits(value)
    return float(text) if "." in text else int(text)

"""``assay measure client``: measures the highest rate that the client reaches on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assay.cli.options.shared_options import NumberType, format_option, records_option
from assay.cli.output import rows
from assay.cli.process import say, status_at_least
from assay.errors import ArgumentError
from assay.experiment import setting_values
from assay.experiment.choices.checked_choices import split
from assay.lab import calibration
from assay.provision.undo.ledger import clear_leftovers
from assay.record import CalibrationRecord, Store
from assay.record.machines import build, machine
from assay.text import quantities, units
from assay.text.phrases import did_you_mean

COLUMNS = (
    "driver", "clients", "threads", "statements_per_s", "client_us_per_statement", "p50_us",
    "p99_us",
)  # fmt: skip


@click.command("client")
@click.option(
    "--protocol",
    "words",
    metavar="P,…",
    default=",".join(calibration.protocols()),
    help="Protocols to measure; none: the null system in the client's own process, whose driver is "
    "called null.",
)
@click.option(
    "--clients", metavar="N,…", default="1,8,32", help="Numbers of concurrent clients to measure."
)
@click.option(
    "--threads",
    type=NumberType(quantities.THREADS),
    metavar="N",
    default=0,
    help="Client threads, at most one per client; 0: one per processor.",
)
@click.option(
    "--duration",
    type=NumberType(quantities.DURATION_S),
    metavar="S",
    default=3,
    help="Seconds of each measurement.",
)
@format_option(tuple(rows.FORMS))
@records_option
def command(
    words: str, clients: str, threads: int, duration: float, form: str, records: Path
) -> None:
    """Measure the highest rate that the client reaches on this machine.

    Clients read one row by its key from a null server of each protocol, which
    answers immediately. The rate they reach is the ceiling of every run with that
    driver and about as many clients; the latency is the client's own overhead.
    Both are kept in the record file, and runs above 70 % of the ceiling get a
    warning. Calibrate while the machine is otherwise idle.

    \b
    Example:
      assay measure client
      assay measure client --clients 1,8,32,1000 --duration 10
      assay measure client --format markdown
    """
    chosen = split(words)
    for word in chosen:
        if word not in calibration.protocols():
            raise ArgumentError(
                f"unknown protocol {word!r}", hint=did_you_mean(word, calibration.protocols())
            )
    numbers = setting_values.client_counts(clients)
    for cleared in clear_leftovers():
        say(f"warning: {cleared.sentence()}")
    facts = machine()
    found = []
    with Store(records, waiting=say, warning=say) as store:
        for protocol in chosen:
            for number in numbers:
                measured = calibration.calibrate(
                    protocol, number, threads=threads, duration_s=duration
                )
                store.calibrated(measured, facts, build())
                found.append(measured)
                rate = units.digits(measured.statements_per_s)
                say(f"{measured.driver}, {units.counted(number, 'client')}: {rate} statements/s")
    with status_at_least(0):
        rows.write([_row(record) for record in found], COLUMNS, form, sys.stdout)
    say(f"kept in {records}")


def _row(record: CalibrationRecord) -> rows.Row:
    return {
        "driver": record.driver,
        "clients": record.clients,
        "threads": record.threads,
        "statements_per_s": round(record.statements_per_s),
        "client_us_per_statement": round(record.client_ns_per_statement / 1e3, 2),
        "p50_us": _microseconds(record.p50_ns),
        "p99_us": _microseconds(record.p99_ns),
    }


def _microseconds(percentile_ns: int) -> float:
    """In microseconds, rounded to the significant digits of the histogram."""
    return float(f"{percentile_ns / 1e3:.{units.PERCENTILE_DIGITS}g}")

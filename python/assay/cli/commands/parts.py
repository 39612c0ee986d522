"""``assay parts``: what load generators kept where Assay itself was lost."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from assay.cli.options.shared_options import format_option
from assay.cli.output import rows
from assay.cli.process import say
from assay.contracts.observation import Observation
from assay.contracts.observation.transactions import OUTCOMES
from assay.drive import generators
from assay.drive.generators import KeptPart, MergedParts
from assay.errors import InputError
from assay.judge.statistics import samples
from assay.lab.measurement import folder_of_parts
from assay.text import units

_LISTED = ("file", "run", "generator", "began", *OUTCOMES)
_MERGED = (
    "generator", "machine", "clients", "elapsed_s", *OUTCOMES, "throughput_per_s",
    *(f"latency_{name}_ms" for name in samples.BY_NAME),
)  # fmt: skip
_OPTIONAL = ("skipped", "aborted", "latency_p90_ms", "latency_p95_ms", "latency_p99_9_ms")
TOGETHER = "together"


@click.command("parts")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(path_type=Path))
@format_option(tuple(rows.FORMS))
def command(files: tuple[Path, ...], form: str) -> None:
    """Show what load generators kept where Assay was lost.

    If Assay itself is killed or cannot be reached, each load generator of
    `assay run --generators` ends in order and keeps what it measured in a file of
    its own machine, for 30 days; the run is not in the record. Without FILE, lists
    those of this machine. With FILEs, also ones copied from other machines,
    prints what each of one run measured, and all of them together: counts, TPS and
    percentiles of latency, merged without a loss. What is missing is said.

    \b
    Example:
      assay parts
      assay parts run-12-*-generator-*.json
    """
    if files:
        _show(generators.merged_parts([generators.read_kept_part(file) for file in files]), form)
    else:
        _list(form)


def _list(form: str) -> None:
    folder = folder_of_parts()
    listed: list[rows.Row] = []
    for file in sorted(folder.glob("*.json")):
        try:
            part = generators.read_kept_part(file)
        except InputError as error:
            say(f"warning: {error.message}")
        else:
            listed.append(_row_of_list(part))
    rows.write(listed, _LISTED, form, sys.stdout)
    if not listed:
        say(f"no load generator kept anything in {folder}")


def _row_of_list(part: KeptPart) -> rows.Row:
    return {
        "file": str(part.file),
        "run": part.run,
        "drive_unix_ns": part.epoch,
        "generator": part.place,
        "machine": part.machine,
        "began": rows.local_time(part.observation.started_unix_ns),
        **_outcomes(part.observation),
    }


def _show(merged: MergedParts, form: str) -> None:
    own = [_row_of_part(one.place, one.machine, one.observation) for one in merged.parts]
    shown = [*own, _row_of_part(TOGETHER, "", merged.observation)]
    if form == "json":
        document = {
            "run": merged.parts[0].run,
            "in_record": False,
            "missing_generators": merged.missing,
            "parts": own,
            TOGETHER: shown[-1],
        }
        rows.write_json(document, sys.stdout)
    else:
        rows.write(shown, _MERGED, form, sys.stdout, optional=_OPTIONAL)
    say(_said(merged))


def _said(merged: MergedParts) -> str:
    """What these numbers are not."""
    first = merged.parts[0]
    began = min(one.observation.started_unix_ns for one in merged.parts)
    words = (
        f"run {first.run}, begun {rows.local_time(began)}, was cut short and is not in the record"
    )
    if not (missing := merged.missing):
        return f"{words}; all {units.counted(first.of, 'generator')} are here"
    numbers = ", ".join(map(str, missing))
    named = f"generator{'s' if len(missing) > 1 else ''} {numbers} of {first.of}"
    return (
        f"{words}; what {named} did is in none of these numbers: give the part that was kept on "
        "that load machine too"
    )


def _row_of_part(place: str, machine: str, observation: Observation) -> rows.Row:
    latency, elapsed_s = observation.all_ok.latency, observation.elapsed_ns / 1e9
    times = {name: samples.known_ns(latency, name) for name in samples.BY_NAME}
    rate = observation.throughput_per_s
    return {
        "generator": place,
        "machine": machine,
        "clients": observation.clients,
        "elapsed_s": round(elapsed_s, 3),
        **_outcomes(observation),
        "throughput_per_s": None if rate is None else round(rate, 1),
        **{
            f"latency_{name}_ms": None if value is None else round(value / 1e6, 3)
            for name, value in times.items()
        },
    }


def _outcomes(observation: Observation) -> dict[str, int]:
    return {name: getattr(observation.outcomes, name) for name in OUTCOMES}

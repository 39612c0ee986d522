"""``assay merge``: adds the experiments of another record file to the record, and with ``--parts``
merges what load generators kept where Assay itself was lost."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import click

from assay.cli.options.shared_options import format_option, is_typed, records_option
from assay.cli.output import rows
from assay.cli.process import say
from assay.contracts.observation import Observation
from assay.contracts.observation.transactions import OUTCOMES
from assay.drive import generators
from assay.drive.generators import KeptPart, MergedParts
from assay.errors import ArgumentError, InputError
from assay.judge.statistics import samples
from assay.lab.measurement import folder_of_parts
from assay.text import units

_EVERY_S = 3.0
"""Between two lines that say how far it is."""
_LISTED = ("file", "run", "generator", "began", *OUTCOMES)
_MERGED = (
    "generator", "machine", "clients", "elapsed_s", *OUTCOMES, "throughput_per_s",
    *(f"latency_{name}_ms" for name in samples.BY_NAME),
)  # fmt: skip
_OPTIONAL = ("skipped", "aborted", "latency_p90_ms", "latency_p95_ms", "latency_p99_9_ms")
TOGETHER = "together"


@click.command("merge")
@click.argument("files", metavar="FILE...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--parts",
    is_flag=True,
    help="List or merge partial results that load generators kept when Assay was lost.",
)
@format_option(tuple(rows.FORMS))
@records_option
def command(files: tuple[Path, ...], parts: bool, form: str, records: Path) -> None:
    """Add the experiments of another record file to the record.

    FILE is a record from another machine, or the rescue file of a run that found
    the record locked, moved or deleted. Runs that the record holds only in part are
    completed. FILE is not changed, and merging it again changes nothing.
    `assay report 3 5` reports what two machines measured together.

    If Assay itself is killed or cannot be reached, each load generator of
    `assay run --generators` ends in order and keeps what it measured in a file of
    its own machine, for 30 days; the run is not in the record. With --parts and no
    FILE, lists those of this machine. With FILEs, also ones copied from other
    machines, prints what each of one run measured, and all of them together:
    counts, TPS and percentiles of latency, merged without a loss. What is missing
    is said. --parts adds nothing to the record.

    \b
    Example:
      assay merge other-machine.sqlite
      assay merge assay-records.sqlite.rescue-4711-1
      assay merge --parts
      assay merge --parts run-12-*-generator-*.json
    """
    if not parts:
        _refuse_typed("form", "--format does not apply without --parts", "leave --format out")
        _merge(_one_record(files), records)
        return
    _refuse_typed("records", "--records does not apply to --parts", "leave --records out")
    if files:
        _show(generators.merged_parts([generators.read_kept_part(file) for file in files]), form)
    else:
        _list(form)


def _refuse_typed(name: str, why: str, hint: str) -> None:
    if is_typed(name):
        raise ArgumentError(why, hint=hint)


def _one_record(files: tuple[Path, ...]) -> Path:
    if not files:
        raise click.UsageError("expected FILE, found nothing")
    if len(files) > 1:
        further = " ".join(map(str, files[1:]))
        raise click.UsageError(f"Got unexpected extra arguments ({further})")
    if files[0].is_dir():
        raise click.BadParameter(f"File '{files[0]}' is a directory.")
    return files[0]


def _merge(file: Path, records: Path) -> None:
    from assay.record.merging import merge

    merged = merge(file, records, waiting=say, progress=_now_and_then())
    if not merged.runs:
        say(f"{records} has everything that {file} holds")
        return
    numbers = _numbers(merged.experiments)
    runs = "1 run" if merged.runs == 1 else f"{merged.runs} runs"
    say(f"added {runs} to {records}, {numbers}; {file} can be removed")


def _now_and_then() -> Callable[[str, int, int], None]:
    """Says how far a long merge is."""
    said_s = time.monotonic()

    def progress(doing: str, number: int, of: int) -> None:
        nonlocal said_s
        if time.monotonic() - said_s >= _EVERY_S:
            said_s = time.monotonic()
            say(f"{doing} experiment {number} of {of}")

    return progress


def _numbers(experiments: list[int]) -> str:
    """``experiment 3``, ``experiments 1 to 32``, ``experiments 1, 3, 4``."""
    first, last = experiments[0], experiments[-1]
    if len(experiments) == 1:
        return f"experiment {first}"
    if experiments == list(range(first, last + 1)):
        return f"experiments {first} to {last}"
    return f"experiments {', '.join(map(str, experiments))}"


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

"""``assay show``: prints what is recorded about one run: a summary, or everything."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec.structs import replace

from assay.cli.options.shared_options import format_option, of_records, records_option
from assay.cli.output import rows
from assay.errors import ArgumentError
from assay.text import units
from assay.text.secrets import without_secrets

if TYPE_CHECKING:
    from assay.record import ExperimentRecord, Run
    from assay.record.runs.reading import KeptDocuments

_RUN = re.compile(r"(?:run[ :]?)?(\d{1,30})", re.IGNORECASE)
_LATEST = re.compile(r"latest(?:-(\d{1,9}))?", re.IGNORECASE)
_OF_A_STEP = ("dataset", "drive", "scripts", "observation", "samples", "checks")
_OF_PLAN: Mapping[str, tuple[str, ...]] = {
    "experiment_id": ("position",),
    "workload": ("test",),
    "is_ad_hoc": ("system",),
    "storage": ("clients", "parameters", "repetition", "seed"),
    "verdict_reason": ("scripts_given", "driving", "server_machine", "group_clients", "levels"),
    "exit_status": ("in_place_of",),
}
"""Field of a run → what is shown behind it of the planned run."""
LONG = 100
"""Longest value in a table, in characters."""


@click.command("show")
@click.argument("run", metavar="RUN")
@format_option(tuple(rows.FORMS))
@click.option(
    "--detail",
    is_flag=True,
    help="Everything recorded, with long texts and histograms shortened in a table.",
)
@records_option
def command(run: str, form: str, detail: bool, records: Path) -> None:
    """Show what is recorded about one run.

    RUN is a number from `assay list runs` (17 or run:17), `latest`, or `latest-1`
    for the run begun before it. Prints a summary; with --detail a line for each
    recorded value. The other formats always have all values, --format json in
    full.

    \b
    Example:
      assay show latest
      assay show 17 --detail
      assay show 17 --format json
    """
    from assay.record import Store

    with Store(records, must_exist=True) as store:
        number = _number(run, store)
        if form == "table" and not detail:
            kept = store.find(f"run {number}")
            _summarize(kept, records)
            return
        record = _everything(store.run(number), store.documents(number))
        record = _without_passwords(_without_copies(record))
    if form == "json":
        rows.write_json(_with_exact_seeds(record), sys.stdout)
        return
    found = [{"what": name, "value": value} for name, value in _flat(record)]
    if form == "table":
        found = [{**row, "value": _cut(row["value"])} for row in found]
    rows.write(found, ("what", "value"), form, sys.stdout)


def _summarize(experiment: ExperimentRecord, records: Path) -> None:
    """The first look at the only run that was read, with its own verdict."""
    from assay.judge import CellVerdict
    from assay.report.build import build
    from assay.report.summaries import first_look

    (run,) = experiment.runs
    of_its_own = CellVerdict(run.judged, (), 1, int(run.observation is not None))
    experiment = replace(experiment, cells={run.cell_key: of_its_own})
    began = f", began {rows.local_time(run.begun_unix_ns)}" if run.begun_unix_ns else ""
    took = ""
    if run.begun_unix_ns and run.ended_unix_ns:
        took = f", took {units.duration((run.ended_unix_ns - run.begun_unix_ns) / 1e9)}"
    sys.stdout.write(
        f"run {run.id} of experiment {experiment.id}, repetition {run.repetition}: "
        f"{run.state}{began}{took}\n"
    )
    more = f"assay show {run.id} --detail{of_records(records)}"
    first_look.render(experiment, build(experiment), sys.stdout, more, first_look.MOST_LINES - 1)


def _number(run: str, store: Any) -> int:
    if (latest := _LATEST.fullmatch(run.strip())) is not None:
        before = int(latest[1] or 0)
        begun = [one for one in store.runs() if one.begun_unix_ns is not None]
        if not begun:
            raise ArgumentError("no run has begun yet", hint="start one with `assay run`")
        if before >= len(begun):
            raise ArgumentError(
                f"there is no {run.strip()}: {units.counted(len(begun), 'run')} began",
                hint="`assay list runs` shows the numbers",
            )
        return int(sorted(begun, key=lambda experiment: experiment.begun_unix_ns)[-1 - before].id)
    if (named := _RUN.fullmatch(run.strip())) is None:
        raise ArgumentError(
            f"expected a run, found {run!r}",
            hint="17, run:17, latest or latest-1; `assay list runs` shows the numbers",
        )
    return int(named[1])


def _everything(run: Run, kept: KeptDocuments) -> dict[str, Any]:
    """What is recorded, by its names; documents are shown as they are on record."""
    found: dict[str, Any] = {}
    for name in run.__struct_fields__:
        match name:
            case "planned" | "data":
                continue
            case "deployment":
                found["cell"] = kept.cell
                continue
            case "drive":
                found["deployment_document"] = kept.deployment
                found["dataset"] = [None, *kept.datasets.values()][-1]
        for shown in (name, *_OF_PLAN.get(name, ())):
            found[shown] = msgspec.to_builtins(getattr(run, shown), enc_hook=str)
    for step in found["steps"]:
        step["dataset"] = kept.datasets.get(step["position"])
    return found


def _without_copies(record: dict[str, Any]) -> dict[str, Any]:
    """The record without those values of its steps that equal the run's own."""
    steps = [
        {
            name: value
            for name, value in step.items()
            if name not in _OF_A_STEP or value != record[name]
        }
        for step in record["steps"]
    ]
    # An older Assay knew fewer settings.
    kept = record["cell"].get("driving") or {}
    driving = {name: one for name, one in record["driving"].items() if name in kept}
    return {**record, "driving": driving, "steps": steps}


def _without_passwords(value: Any) -> Any:
    """URLs without those that an earlier Assay has recorded."""
    if isinstance(value, Mapping):
        return {key: _without_passwords(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_passwords(item) for item in value]
    return without_secrets(value) if isinstance(value, str) and "://" in value else value


def _with_exact_seeds(value: Any) -> Any:
    """Seeds as texts, as in a report: a reader of JSON may round a number of 64 bits."""
    if isinstance(value, Mapping):
        return {
            key: str(item) if key == "seed" and item is not None else _with_exact_seeds(item)
            for key, item in value.items()
        }
    return [*map(_with_exact_seeds, value)] if isinstance(value, list | tuple) else value


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf with its dotted name; a list of plain values is one leaf."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _flat(item, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple) and any(isinstance(item, dict | list) for item in value):
        for number, item in enumerate(value):
            yield from _flat(item, f"{name}[{number}]")
    else:
        yield name, value


def _cut(value: Any) -> Any:
    text = str(value)
    return f"{text[:LONG]}…" if len(text) > LONG else value

"""``assay list``: lists systems, workloads, experiments, storages, recorded runs and kept data
sets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click

from assay import env_vars, registry
from assay.cli.options.shared_options import (
    NumberType,
    datasets_option,
    format_option,
    is_typed,
    records_option,
)
from assay.cli.output import rows
from assay.cli.output.inventory import storage_option_rows, storage_rows, system_rows
from assay.cli.process import raise_all, say
from assay.contracts.experiment import shown_build
from assay.errors import ArgumentError, AssayError, YouError
from assay.experiment import AS_IS
from assay.text import quantities
from assay.text.paths import is_folder
from assay.workload.values import Test, Workload

WHAT = ("systems", "workloads", "experiments", "storages", "runs", "datasets")
SYSTEM_COLUMNS = ("system", "available", "version", "driver", "urls", "verified")
SYSTEM_DETAIL = (
    *SYSTEM_COLUMNS, "place", "why_not_found", "dialect", "capabilities", "options", "profiles",
    "versions",
    "installed",
    "install",
)  # fmt: skip
WORKLOAD_COLUMNS = ("test", "clients", "title", "reproduces")
EXPERIMENT_COLUMNS = ("experiment", "title", "reproduces")
STORAGE_COLUMNS = ("storage", "available", "what")
WHY_NOT = "why_not_available"
"""A column of storages, where one of them is not available."""
WIDTH_OF_DETAIL = 140
"""Of sentences that are to be read, also in a file."""
STORAGE_DETAIL = ("storage", "option", "default", "values", "what")
RUN_COLUMNS = (
    "run", "experiment", "test", "system", "storage", "clients", "repetition", "began", "state",
    "verdict",
)  # fmt: skip
RUN_TABLE = ("run", "exp.", "test", "system", "storage", "clients", "rep.", "began", "result")
"""Columns in the table format, which has less room."""
OPTIONAL = ("driver", "rep.", "began")
"""Columns that a table may do without on a narrow terminal, in this order."""
LONGEST_RESULT = 40
"""Longest verdict, or state with its reason, in a table, in characters."""
DATASET_COLUMNS = ("dataset", "system", "version", "rows", "bytes", "made", "folder")


class Kind(click.Choice[str]):
    """``system`` means ``systems``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(f"{value}s" if f"{value}s" in WHAT else value, param, ctx)


@click.command("list")
@click.argument("what", type=Kind(WHAT), required=False)
@format_option(tuple(rows.FORMS))
@records_option
@datasets_option
@click.option(
    "--detail",
    is_flag=True,
    help="Systems: also capabilities, options and how to get them; storages: also their options.",
)
@click.option(
    "--last",
    metavar="N",
    type=NumberType(quantities.EXPERIMENTS),
    help="Runs: only those of the last N experiments.",
)
def command(
    what: str | None,
    form: str,
    records: Path,
    datasets: Path | None,
    detail: bool,
    last: int | None,
) -> None:
    """List systems, workloads, experiments, storages, runs or copies of loaded data.

    Experiments are the files that come with Assay: `assay run NAME.toml`.
    Workloads are those that come with it, and those of installed packages.

    A system is `found` on this machine, or `installable` by `assay install`, or
    reached `by URL`. Runs are listed by experiment, the newest last, and within an
    experiment in the order of its plan. The result shown here is that of the single
    run; the verdict of its cell, in summaries and reports, also considers the
    number of repetitions.

    To remove a copy of loaded data (`assay run --datasets FOLDER`), delete its
    folder.

    \b
    Example:
      assay list systems
      assay list storages --detail
      assay list runs --last 10
      assay list runs --format json
      assay list datasets --datasets /data/loaded
    """
    if what is None:
        click.echo("\n".join(f"assay list {one}" for one in WHAT))
        return
    kinds = (
        ("records", ("runs",)),
        ("last", ("runs",)),
        ("datasets", ("datasets",)),
        ("detail", ("systems", "storages")),
    )
    for name, applies_to in kinds:
        if what not in applies_to and is_typed(name):
            raise ArgumentError(
                f"--{name} does not apply to `assay list {what}`",
                hint=f"`assay list {applies_to[0]}`, or leave --{name} out",
            )
    damage: list[YouError] = []
    found_by: dict[str, Callable[[], tuple[tuple[str, ...], list[rows.Row]]]] = {
        "systems": lambda: (
            SYSTEM_DETAIL if detail else SYSTEM_COLUMNS,
            system_rows(with_versions=detail),
        ),
        "workloads": lambda: (WORKLOAD_COLUMNS, _workloads()),
        "experiments": lambda: (EXPERIMENT_COLUMNS, _experiments()),
        "storages": lambda: (
            (STORAGE_DETAIL, storage_option_rows()) if detail else (STORAGE_COLUMNS, storage_rows())
        ),
        "runs": lambda: (RUN_COLUMNS, _runs(records, last, damage)),
        "datasets": lambda: (DATASET_COLUMNS, _datasets(datasets)),
    }
    columns, found = found_by[what]()
    if form == "table" and what == "runs":
        columns, found = RUN_TABLE, [*map(_brief, found)]
    if what == "storages" and any(row.get(WHY_NOT) for row in found):
        columns = (*columns, WHY_NOT)
        found = found if form == "json" else [*map(_without_its_fix, found)]
    if what == "workloads" and any(row["package"] for row in found):
        columns = (*columns, "package")
    if what == "runs" and any("build" in row for row in found):
        columns = (*columns, "build")
    width = WIDTH_OF_DETAIL if detail and what == "storages" else None
    rows.write(found, columns, form, sys.stdout, width=width, optional=OPTIONAL)
    if what == "systems":
        for error in registry.broken_systems():
            say(f"warning: {error.message}")
    raise_all(damage)


def _brief(run: rows.Row) -> rows.Row:
    """The verdict of a run that is done, otherwise its state and reason, shortened; `assay show`
    prints all of it."""
    text = str(run["verdict"] if run["state"] == "done" else run["state"])
    return {
        **run,
        "exp.": run["experiment"],
        "rep.": run["repetition"],
        "result": f"{text[: LONGEST_RESULT - 1]}…" if len(text) > LONGEST_RESULT else text,
    }


def _without_its_fix(storage: rows.Row) -> rows.Row:
    """Why it is not available in few words; `--detail` and JSON have the rest."""
    return {**storage, WHY_NOT: str(storage[WHY_NOT]).partition(": ")[0]}


def _workloads() -> list[rows.Row]:
    from assay.workload import reader

    found: list[rows.Row] = []
    for one in reader.usable():
        if isinstance(one, AssayError):
            say(f"warning: {one.message}")
            continue
        package = registry.package_of_workload(one.folder)
        found += [{**row, "package": package} for row in (*_tests(one), *_series(one))]
    return found


def _experiments() -> list[rows.Row]:
    """The built-in experiment files, each under the name with which it is run."""
    from assay.experiment import from_file

    read = {
        f"{name}.toml": from_file.read(registry.experiment_file(f"{name}.toml"))[0]
        for name in registry.experiments()
    }
    return [
        {
            "experiment": name,
            "title": experiment.title,
            "reproduces": experiment.reproduces,
            "workload": experiment.workload,
            "tests": list(experiment.tests),
            "systems": [system.label for system in experiment.systems],
            "storages": [storage.name for storage in experiment.storages],
        }
        for name, experiment in read.items()
    ]


def _tests(workload: Workload) -> Iterator[rows.Row]:
    for test in workload.tests.values():
        yield {
            "test": f"{workload.name}.{test.name}",
            "clients": test.clients,
            "title": test.title,
            "reproduces": test.reproduces,
            "help": test.help,
            "is_default": test.name == workload.default_test,
            "parameters": {
                parameter.name: parameter.default for parameter in workload.parameters_of(test)
            },
            "driving": {**test.driving.not_default, **_caches(test)},
        }


def _caches(test: Test) -> dict[str, list[str]]:
    return {} if test.caches == (AS_IS,) else {"cache": list(test.caches)}


def _series(workload: Workload) -> Iterator[rows.Row]:
    """A row for each series: several tests whose results are joined in one table."""
    for name, declared in workload.series.items():
        tests = workload.tests_of(name)
        yield {
            "test": f"{workload.name}.{name}",
            "clients": tuple(
                dict.fromkeys(count for test in tests for count in workload.test(test).clients)
            ),
            "title": declared["title"],
            "reproduces": declared.get("reproduces", ""),
            "help": f"The tests {', '.join(tests)} in one table",
            "is_default": False,
            "parameters": {},
        }


def _runs(records: Path, last: int | None, damage: list[YouError]) -> list[rows.Row]:
    from assay.record import Store

    with Store(records, must_exist=True) as store:
        return [
            {
                "run": run.id,
                "experiment": run.experiment_id,
                "test": run.full_test_name,
                "system": run.system_label,
                "storage": run.storage,
                "clients": run.clients,
                "repetition": run.repetition,
                "began": rows.local_time(run.begun_unix_ns),
                "state": run.state_shown,
                "verdict": run.verdict,
                "parameters": dict(run.parameters),
                **({"build": build} if (build := shown_build(run.cell.system.build)) else {}),
            }
            for run in store.runs(last, damage)
        ]


def _datasets(folder: Path | None) -> list[rows.Row]:
    from assay.load.copies import Copies

    if folder is None:
        raise ArgumentError(
            "data sets are kept only in a folder that is named, and none was",
            hint=f"name it with --datasets FOLDER, or in {env_vars.DATASETS.name}",
        )
    if not is_folder(folder):
        raise ArgumentError(
            f"{folder}: expected a folder of data sets, found none",
            hint="`assay run --datasets FOLDER` makes one",
        )
    return [
        {
            "dataset": copy.description,
            "system": copy.facts["system"],
            "version": copy.facts["version"],
            "rows": sum(copy.load["rows"].values()),
            "bytes": copy.bytes,
            "made": rows.local_time(copy.made_unix_s * 10**9),
            "folder": str(copy.folder),
            "settings": copy.facts["settings"],
        }
        for copy in Copies(folder, is_kept=True)
    ]

"""``assay list``: lists systems, workloads, experiments, storages, recorded runs, kept data sets,
and what tables of each dialect can be."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from assay import env_vars, registry
from assay.cli.options import completers
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
from assay.errors import ArgumentError, AssayError, RunFailed, YouError
from assay.experiment import AS_IS
from assay.text import quantities
from assay.text.paths import is_folder
from assay.workload.values import Test, Workload

if TYPE_CHECKING:
    from assay.dialects.limits import Beyond, Limited

WHAT = ("systems", "workloads", "experiments", "storages", "runs", "datasets", "limits")
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
LIMIT_COLUMNS = (
    "dialect", "identifier_length", "columns", "varchar_length", "row_bytes", "searches_text",
    "indexes_text", "source",
)  # fmt: skip
BEYOND_TABLE = ("dialect", "table", "cannot_be_made", "cannot_be_searched")
_NAMES_SHOWN = 3
BEYOND_COLUMNS = ("dialect", "table", "column", "what", "needed", "limit", "can_be_made")
DATASET_COLUMNS = ("dataset", "system", "version", "rows", "bytes", "made", "folder")


class Kind(click.Choice[str]):
    """``system`` means ``systems``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(f"{value}s" if f"{value}s" in WHAT else value, param, ctx)


@click.command("list")
@click.argument("what", type=Kind(WHAT), required=False)
@click.argument("workload", required=False, shell_complete=completers.workload)
@format_option(tuple(rows.FORMS))
@records_option
@datasets_option
@click.option(
    "--detail",
    is_flag=True,
    help="Systems: also capabilities, options and how to get them; storages: also their options; "
    "limits of a workload: each column with what it needs and the limit.",
)
@click.option(
    "--last",
    metavar="N",
    type=NumberType(quantities.EXPERIMENTS),
    help="Runs: only those of the last N experiments.",
)
@click.option(
    "--dialect",
    metavar="NAME",
    shell_complete=completers.limited_dialect,
    help="Limits: only those of this dialect. [default: all]",
)
def command(
    what: str | None,
    workload: str | None,
    form: str,
    records: Path,
    datasets: Path | None,
    detail: bool,
    last: int | None,
    dialect: str | None,
) -> int:
    """List systems, workloads, experiments, storages, runs, limits or loaded data.

    Experiments are the files that come with Assay: `assay run NAME.toml`.
    Workloads are those that come with it, and those of installed packages.

    A system is `found` on this machine, or `installable` by `assay install`, or
    reached `by URL`. Runs are listed by experiment, the newest last, and within an
    experiment in the order of its plan. The result shown here is that of the single
    run; the verdict of its cell, in summaries and reports, also considers the
    number of repetitions.

    To remove a copy of loaded data (`assay run --datasets FOLDER`), delete its
    folder.

    Limits are what tables each dialect can hold and search (columns, length of
    names, size of keys), and where they are documented. With a WORKLOAD, they are
    its tables that exceed them: what cannot be made, and which columns can be made,
    but not searched or indexed. With --dialect, exit status 1 means that some do.
    No system is started.

    \b
    Example:
      assay list systems
      assay list storages --detail
      assay list runs --last 10
      assay list runs --format json
      assay list datasets --datasets /data/loaded
      assay list limits bibsql --dialect db2 --detail
    """
    if what is None:
        click.echo("\n".join(f"assay list {one}" for one in WHAT))
        return 0
    kinds = (
        ("records", ("runs",)),
        ("last", ("runs",)),
        ("datasets", ("datasets",)),
        ("detail", ("systems", "storages", "limits")),
        ("dialect", ("limits",)),
    )
    for name, applies_to in kinds:
        if what not in applies_to and is_typed(name):
            raise ArgumentError(
                f"--{name} does not apply to `assay list {what}`",
                hint=f"`assay list {applies_to[0]}`, or leave --{name} out",
            )
    if what == "limits":
        return _write_limits(workload, dialect, form, detail=detail)
    if workload is not None:
        raise click.UsageError(f"Got unexpected extra argument ({workload})")
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
    return 0


def _brief(run: rows.Row) -> rows.Row:
    """The verdict of a run that is done, otherwise its state and reason, shortened; `assay
    report run:N` prints all of it."""
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


def _write_limits(workload: str | None, dialect: str | None, form: str, *, detail: bool) -> int:
    """Returns the exit status."""
    from assay.dialects.limits import beyond
    from assay.workload import reader

    chosen = _chosen(dialect)
    if workload is None:
        rows.write([_limits(*one) for one in chosen.items()], LIMIT_COLUMNS, form, sys.stdout)
        return 0
    if workload in completers.limited_dialects() and workload not in registry.workloads():
        raise ArgumentError(
            f"{workload} is a dialect, and no workload", hint=f"its limits: --dialect {workload}"
        )
    found = reader.read(workload)
    places = {name: beyond(found.tables_for({}, one.language), one) for name, one in chosen.items()}
    listed = [
        {"dialect": name, **structs.asdict(one)} for name, some in places.items() for one in some
    ]
    if form == "table" and not detail:
        rows.write(_first_look(places), BEYOND_TABLE, form, sys.stdout)
    else:
        rows.write(listed, BEYOND_COLUMNS, form, sys.stdout)
    if not listed:
        say(f"no table of {workload} goes beyond the limits of {', '.join(chosen)}")
    return RunFailed.exit_code if dialect is not None and listed else 0


def _first_look(places: Mapping[str, Sequence[Beyond]]) -> list[rows.Row]:
    """A row for each table of each dialect."""
    listed: list[rows.Row] = []
    for name, some in places.items():
        for table in dict.fromkeys(one.table for one in some):
            of_table = [one for one in some if one.table == table]
            made = [one.sentence() for one in of_table if not one.can_be_made]
            unsearched = dict.fromkeys(one.column for one in of_table if one.can_be_made)
            listed.append(
                {
                    "dialect": name,
                    "table": table,
                    "cannot_be_made": _shortened(made, "; "),
                    "cannot_be_searched": _shortened([*unsearched], ", "),
                }
            )
    return listed


def _shortened(words: Sequence[str], between: str) -> str:
    more = len(words) - _NAMES_SHOWN
    return between.join(words[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _chosen(name: str | None) -> Mapping[str, Limited]:
    known = completers.limited_dialects()
    if name is None:
        return known
    if name not in known:
        raise ArgumentError(
            f"no limits are declared for the dialect {name!r}",
            hint=f"those with limits: {', '.join(known)}",
        )
    return {name: known[name]}


def _limits(name: str, dialect: Limited) -> rows.Row:
    return {"dialect": name, **structs.asdict(dialect.limits)}

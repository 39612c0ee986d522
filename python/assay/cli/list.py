"""``assay list``: what there is to choose from, and what has been run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from inspect import getdoc, getmodule
from pathlib import Path

import click

from assay import registry
from assay.cli import rows
from assay.cli.options import format_option, records_option

WHAT = ("systems", "workloads", "storages", "runs")
SYSTEM_COLUMNS = ("system", "dialect", "driver", "options", "urls")
WORKLOAD_COLUMNS = ("test", "clients", "title", "reproduces")
STORAGE_COLUMNS = ("storage", "what")
RUN_COLUMNS = (
    "run", "experiment", "test", "system", "storage", "clients", "repetition", "began", "state",
    "verdict",
)  # fmt: skip


@click.command("list")
@click.argument("what", type=click.Choice(WHAT))
@format_option(tuple(rows.FORMS))
@records_option
def command(what: str, form: str, records: Path) -> None:
    """List systems, workloads, storages or the runs of the record.

    \b
    Example:
      assay list systems
      assay list runs --format json
    """
    found_by: dict[str, Callable[[], tuple[tuple[str, ...], list[rows.Row]]]] = {
        "systems": lambda: (SYSTEM_COLUMNS, _systems()),
        "workloads": lambda: (WORKLOAD_COLUMNS, _workloads()),
        "storages": lambda: (STORAGE_COLUMNS, _storages()),
        "runs": lambda: (RUN_COLUMNS, _runs(records)),
    }
    columns, found = found_by[what]()
    rows.write(found, columns, form, sys.stdout)


def _systems() -> list[rows.Row]:
    found: list[rows.Row] = []
    for name in registry.systems():
        system = registry.system(name)
        found.append(
            {
                "system": name,
                "dialect": system.dialect.name,
                "driver": system.driver,
                "options": [
                    f"{one.name}={'|'.join(one.levels) or one.default or '…'}"
                    for one in system.option_specs
                ],
                "urls": [f"{scheme}://" for scheme in system.url_schemes],
            }
        )
    return found


def _workloads() -> list[rows.Row]:
    from assay.workloads import reader

    return [
        {
            "test": f"{workload.name}.{test.name}",
            "clients": test.clients,
            "title": test.title,
            "reproduces": test.reproduces,
            "help": test.help,
            "is_default": test.name == workload.default_test,
            "parameters": {one.name: one.default for one in workload.parameters_of(test)},
        }
        for workload in map(reader.read, registry.workloads())
        for test in workload.tests.values()
    ]


def _storages() -> list[rows.Row]:
    return [
        {"storage": name, "what": _what(registry.storage(name))} for name in registry.storages()
    ]


def _what(storage: object) -> str:
    """The first sentence its module opens with, after the name."""
    text = getdoc(getmodule(type(storage))) or ""
    return text.partition("\n")[0].rpartition("`: ")[2]


def _runs(records: Path) -> list[rows.Row]:
    from assay.record import Store

    with Store(records, must_exist=True) as store:
        return [
            {
                "run": run.id,
                "experiment": run.experiment_id,
                "test": f"{run.workload}.{run.test}",
                "system": run.system_label,
                "storage": run.storage,
                "clients": run.clients,
                "repetition": run.repetition,
                "began": _time(run.begun_unix_ns),
                "state": run.state_shown,
                "verdict": run.verdict,
                "parameters": dict(run.parameters),
            }
            for run in store.runs()
        ]


def _time(unix_ns: int | None) -> str:
    if unix_ns is None:
        return ""
    return datetime.fromtimestamp(unix_ns / 1e9).astimezone().strftime("%Y-%m-%d %H:%M:%S")

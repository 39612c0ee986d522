"""Takes a step of a planned run; returns the engine's drive document, which describes what clients
do.

The same document is used to drive, to explain, and to compile before anything is started. Values at
the engine's default are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from assay import _engine, registry
from assay.contracts.dialects.protocol import Dialect
from assay.experiment import Driving, Scalar, SystemChoice
from assay.plan.drives import PlannedDrive, PlannedGroup
from assay.text import rates
from assay.workload import statement_file
from assay.workload.values import Script, Workload


class ScriptText(TypedDict):
    """One transaction type: its name, its path, and its text in this dialect."""

    name: str
    path: str
    text: str
    weight: int
    is_plain: bool


def scripts_of(workload: Workload, drive: PlannedDrive, dialect: Dialect) -> tuple[Script, ...]:
    """The scripts that the clients run: those of the step, or the statements of its ``feed``
    file."""
    feed = drive.run.cell.feed
    if feed is not None:
        return statement_file.read(Path(feed), dialect.literal_style)
    return workload.scripts_for(drive, dialect)


def document_of(
    workload: Workload,
    drive: PlannedDrive,
    dialect: Dialect,
    scripts: Sequence[Script],
    expected: Mapping[str, int | None] | None = None,
) -> dict[str, Any]:
    """The document of one step of a run, without its deployment.

    ``expected``: rows that each script must find, which its `\\expect` knows by the script's name.
    """
    cell = drive.run.cell
    known = {name: count for name, count in (expected or {}).items() if name in workload.scripts}
    variables: dict[str, Scalar | None] = {
        **({} if workload.is_ad_hoc else dict.fromkeys(workload.scripts)),
        **({"scale": 1} if cell.scripts else {}),
        **workload.constants_for(cell.parameters),
        **cell.parameters,
        **known,
    }
    test = workload.test(cell.test)
    return {
        "site": None,
        "scripts": script_texts(scripts),
        "variables": variables,
        **_clients(drive),
        "threads": cell.threads,
        "protocol": cell.protocol,
        # Values may be inserted as text into ad hoc script files, as pgbench does.
        "requires_bound_values": not cell.scripts,
        "warm_up_s": float(cell.driving.warm_up_s),
        "drain_s": float(cell.driving.drain_s),
        "seed": drive.run.seed,
        "digest": not workload.is_ad_hoc,
        "has_transactions": _may_begin(cell.system),
        "statement_timeout_s": None,
        **_of_the_whole(cell.driving),
        **_filled(
            sum_answers=test.compare_results,
            compare_answers=workload.is_ad_hoc,
            identifiers=written(workload.identifiers_for(cell.parameters), dialect),
            unknown_statements=dict(dialect.unknown_statements),
            **lexing_of(dialect),
            begins=begins(dialect) if any("\\begin" in script.text for script in scripts) else None,
        ),
    }


def lexing_of(dialect: Dialect) -> dict[str, str]:
    """How the text of a script is cut into statements."""
    return {"lexer": dialect.language, "literal_style": dialect.literal_style}


def written(identifiers: Mapping[str, Sequence[str]], dialect: Dialect) -> dict[str, list[str]]:
    """What ``:{name}`` chooses among, as the dialect writes names."""
    return {
        word: [dialect.identifier(name) for name in names] for word, names in identifiers.items()
    }


def _may_begin(choice: SystemChoice) -> bool:
    """Whether scripts may begin transactions. A server by URL may have those that a private one of
    its system has not (a replica set)."""
    system = registry.system(choice.name)
    is_open = choice.url is not None and system.driver in _engine.drivers_with_transactions()
    return is_open or "transactions" in system.capabilities


def _clients(drive: PlannedDrive) -> dict[str, Any]:
    """The clients with their pace and limits, alike or in groups. The duration applies to all
    groups, counts to each."""
    cell = drive.run.cell
    stop = cell.driving.stop
    if drive.groups:
        duration = {name: value for name, value in stop.items() if name == "duration_s"}
        return {"groups": [_group(value) for value in drive.groups], "stop": duration}
    counted = {"order": drive.order, "clients": cell.clients, "stop": stop}
    return {**counted, **_pace(cell.driving)}


def _group(group: PlannedGroup) -> dict[str, Any]:
    counts = {key: value for key, value in group.driving.stop.items() if key != "duration_s"}
    return {
        "name": group.name,
        "scripts": list(group.scripts),
        "order": group.order,
        "clients": group.clients,
        **_pace(group.driving),
        **_filled(weights=dict(group.mix), stop=counts),
    }


def script_texts(scripts: Iterable[Script]) -> list[ScriptText]:
    """The scripts as the engine takes them."""
    return [
        ScriptText(
            name=script.name,
            path=script.path,
            text=script.text,
            weight=script.weight,
            is_plain=script.is_plain,
        )
        for script in scripts
    ]


def _pace(driving: Driving) -> dict[str, Any]:
    """When clients start transactions, and how often they retry."""
    rate = driving.offered_rate_per_s
    offered = None if rate is None else rates.for_engine(rate)
    arrival = {"kind": driving.arrival, "offered_rate_per_s": offered}
    retries = {"most": driving.retries, "classes": list(driving.retry_classes)}
    return _filled(
        arrival=arrival if driving.is_open else None,
        think_time=driving.think_time,
        keying_time=driving.keying_time,
        latency_limit_s=driving.latency_limit_s,
        retries=retries if driving.retries else None,
    )


def _of_the_whole(driving: Driving) -> dict[str, Any]:
    """The settings that all clients of a step share."""
    reconnect = {"after_loss": True, "timeout_s": driving.reconnect_timeout_s}
    return _filled(
        ramp_up_s=float(driving.ramp_up_s),
        reconnect=reconnect if driving.reconnect_timeout_s is not None else None,
        connect_each_transaction=driving.connection == "per transaction",
        per_statement=driving.per_statement,
        allow_shell=driving.allow_shell,
    )


def begins(dialect: Dialect) -> dict[str, list[str]]:
    """Isolation level → the statements that begin a transaction."""
    return {level: dialect.begin_at(level) for level in dialect.isolation_levels}


def _filled(**entries: Any) -> dict[str, Any]:
    return {name: entry for name, entry in entries.items() if entry}

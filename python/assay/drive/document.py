"""Takes a step of a planned run; returns the engine's drive document, which describes what clients
do.

The same document is used to drive, to explain, and to compile before anything is started. Values at
the engine's default are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType, structs

from assay import _engine, registry
from assay.contracts.dialects import Dialect
from assay.contracts.documents import ScriptDocument, TextStyle
from assay.contracts.driving import DEFERRED, OF_ENGINE, READ_PRIMARY, reads_of_scripts
from assay.contracts.engine import (
    ArrivalDocument,
    DriveDocument,
    GroupDocument,
    RateStep,
    ReconnectDocument,
    RetriesDocument,
    StopDocument,
)
from assay.contracts.factors import OF_LEVELS
from assay.drive import substitutes
from assay.drive.substitutes import begins_transaction
from assay.errors import InputError, ScriptError
from assay.experiment import Driving, Scalar, SystemChoice
from assay.plan.drives import PlannedDrive, PlannedGroup
from assay.text import paths, rates
from assay.workload.steps import Deferred, Group
from assay.workload.values import Script, Workload

Number = TypeVar("Number", int, float)

_OF_ENGINE = [name for name in OF_LEVELS if name in DriveDocument.__struct_fields__]
"""Levels of a cell that the engine is given under the names of their factors."""


def scripts_of(workload: Workload, drive: PlannedDrive, dialect: Dialect) -> tuple[Script, ...]:
    """The scripts that the clients run: those of the step, or the statements of its ``feed``
    file."""
    feed = drive.run.cell.feed
    if feed is not None:
        return statements_of(Path(feed), dialect.text_style)
    return workload.scripts_for(drive, dialect)


def statements_of(file: Path, text_style: TextStyle) -> tuple[Script, ...]:
    """The statements of a plain file, named by the lines they begin at, each a transaction type of
    its own that is sent unchanged: as an interactive client does with its standard input.

    ``text_style`` is the dialect's. Raises `InputError` where the file cannot be read or holds no
    statement, `ScriptError` where a literal or a comment does not end.
    """
    text = paths.read_text(file, InputError)
    try:
        found = _engine.split_statements(text, str(file), text_style)
    except _engine.EngineError as error:
        raise ScriptError(
            error.message, file=error.file, line=error.line, column=error.column, hint=error.hint
        ) from error
    if not found:
        raise InputError("expected statements, found none", file=file)
    return tuple(
        Script(_name_at(line, column), f"{file}:{line}", statement, is_plain=True)
        for statement, line, column in found
    )


def _name_at(line: int, column: int) -> str:
    return f"line {line}" if column == 1 else f"line {line} column {column}"


GIVEN_SCRIPT_VARIABLES: Mapping[str, Scalar] = MappingProxyType({"scale": 1})
"""Of scripts that are given by hand, as pgbench sets them; what is asked for wins over them."""


def document_of(
    workload: Workload,
    drive: PlannedDrive,
    dialect: Dialect,
    scripts: Sequence[Script],
    expected: Mapping[str, int | None] | None = None,
) -> DriveDocument:
    """The document of one step of a run, without its deployment.

    ``expected``: rows that each script must find, which its `\\expect` knows by the script's name.
    """
    cell = drive.run.cell
    known = {name: count for name, count in (expected or {}).items() if name in workload.scripts}
    variables: dict[str, Scalar | None] = {
        **({} if workload.is_ad_hoc else dict.fromkeys(workload.scripts)),
        **(GIVEN_SCRIPT_VARIABLES if cell.scripts else {}),
        **substitutes.capability_variables(workload.test(cell.test), cell.system),
        **workload.constants_for(cell.parameters),
        **cell.parameters,
        **known,
    }
    test, driving = workload.test(cell.test), cell.driving
    has_begin = any("\\begin" in script.text for script in scripts)
    document = DriveDocument(
        scripts=script_documents(scripts),
        variables=variables,
        **{name: cell.level(OF_LEVELS[name]) for name in _OF_ENGINE},
        # Values may be inserted as text into ad hoc script files, as pgbench does.
        requires_bound_values=not cell.scripts,
        warm_up_s=float(driving.warm_up_s),
        drain_s=float(driving.drain_s),
        statement_limit_s=_planned(limit_s) if (limit_s := driving.statement_limit_s) else UNSET,
        seed=drive.run.seed,
        digest=not workload.is_ad_hoc,
        has_transactions=_may_begin(cell.system),
        ramp_up_s=float(driving.ramp_up_s) or UNSET,
        reconnect=_reconnect(driving),
        connect_each_transaction=driving.connection == "per transaction" or UNSET,
        per_statement=driving.per_statement or UNSET,
        allow_shell=driving.allow_shell or UNSET,
        sum_answers=test.compare_results or UNSET,
        compare_answers=workload.is_ad_hoc or UNSET,
        identifiers=written(workload.identifiers_for(cell.parameters), dialect) or UNSET,
        unknown_statements=dict(dialect.unknown_statements) or UNSET,
        lexer=dialect.language or UNSET,
        text_style=dialect.text_style,
        begins=begins_transaction(dialect) or UNSET if has_begin else UNSET,
    )
    document = _with_clients(document, drive)
    if substitutes.TRANSACTIONS in substitutes.lacking_capabilities(test, cell.system):
        return _without_retries(document)
    return document


def _without_retries(document: DriveDocument) -> DriveDocument:
    """What a failed statement leaves is not undone, so that another attempt would do it twice."""
    if isinstance(document.groups, UnsetType):
        return structs.replace(document, retries=UNSET)
    groups = (structs.replace(group, retries=UNSET) for group in document.groups)
    return structs.replace(document, retries=UNSET, groups=tuple(groups))


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


def _with_clients(document: DriveDocument, drive: PlannedDrive) -> DriveDocument:
    """With the clients, their pace and limits, alike or in groups. The duration applies to all
    groups, counts to each."""
    cell = drive.run.cell
    stop = _stop(cell.driving)
    if drive.groups:
        duration = StopDocument(duration_s=stop.duration_s)
        return structs.replace(document, groups=tuple(map(_group, drive.groups)), stop=duration)
    if drive.deferred:
        duration = StopDocument(duration_s=stop.duration_s)
        groups = _with_deferred(document, drive, drive.deferred)
        return structs.replace(document, groups=groups, stop=duration)
    pace = _pace(cell.driving)
    return structs.replace(document, order=drive.order, clients=cell.clients, stop=stop, **pace)


def _with_deferred(
    document: DriveDocument, drive: PlannedDrive, deferred: Deferred
) -> tuple[GroupDocument, ...]:
    """The clients of the run, and those that run what they queue."""
    cell, names = drive.run.cell, [script.name for script in document.scripts]
    run_by_clients = tuple(name for name in names if name not in deferred.scripts)
    group = Group(name="clients", scripts=run_by_clients, order=drive.order)
    clients = PlannedGroup(group, drive.mix, cell.clients, cell.driving)
    workers = GroupDocument(
        name=DEFERRED,
        scripts=tuple(name for name in names if name in deferred.scripts),
        order="sequence",
        clients=deferred.clients,
        arrival=ArrivalDocument(kind=DEFERRED),
        retries=_retries(cell.driving),
        read=_read(cell.driving),
    )
    late = {"latency_limit_s": deferred.latency_limit_s or UNSET}
    return _group(clients), structs.replace(workers, **late)


def _group(group: PlannedGroup) -> GroupDocument:
    counts = structs.replace(_stop(group.driving), duration_s=UNSET)
    return GroupDocument(
        name=group.name,
        scripts=tuple(group.scripts),
        order=group.order,
        clients=group.clients,
        weights=dict(group.mix) or UNSET,
        ends_with=group.group.ends_with or UNSET,
        stop=UNSET if counts == StopDocument() else counts,
        **_pace(group.driving),
    )


def script_documents(scripts: Iterable[Script]) -> tuple[ScriptDocument, ...]:
    """The scripts as the engine takes them."""
    names = ScriptDocument.__struct_fields__
    return tuple(
        ScriptDocument(**{name: getattr(script, name) for name in names}) for script in scripts
    )


def _pace(driving: Driving) -> dict[str, Any]:
    """When clients start transactions, where, and how often they retry."""
    arrival = ArrivalDocument(kind=driving.arrival, offered_rate_per_s=_offered_rate(driving))
    return {
        "arrival": arrival if driving.is_open else UNSET,
        **{name: getattr(driving, name) or UNSET for name in OF_ENGINE},
        "retries": _retries(driving),
        "read": _read(driving),
    }


def _retries(driving: Driving) -> RetriesDocument | UnsetType:
    most = _planned(driving.retries)
    return RetriesDocument(most=most, classes=driving.retry_classes) if most else UNSET


def _offered_rate(driving: Driving) -> float | tuple[RateStep, ...] | None:
    rate = driving.offered_rate_per_s
    if rate is None:
        return None
    if not rates.is_profile(rate):
        return _planned(rate)
    return tuple(
        RateStep(
            from_s=step.from_s,
            per_s=step.per_s,
            to_per_s=UNSET if step.per_s == step.to_per_s else step.to_per_s,
        )
        for step in rates.steps(rate)
    )


def _planned(value: Number | str) -> Number:
    assert not isinstance(value, str), "a plan has the value of the parameter in its place"
    return value


def _stop(driving: Driving) -> StopDocument:
    return structs.replace(StopDocument(), **driving.stop)


def _read(driving: Driving) -> str | dict[str, str] | UnsetType:
    return reads_of_scripts(driving.read) or (
        UNSET if driving.read == READ_PRIMARY else driving.read
    )


def _reconnect(driving: Driving) -> ReconnectDocument | UnsetType:
    timeout_s = driving.reconnect_timeout_s
    if timeout_s is None:
        return UNSET
    return ReconnectDocument(after_loss=True, timeout_s=timeout_s)

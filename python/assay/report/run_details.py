"""Takes a run's record; returns what a page says of it, apart from its raw rows: how it ended, its
effective settings and its scripts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct, field

from assay.contracts.factors import PROTOCOL
from assay.record import RunRecord
from assay.text import units


class RunDetail(Struct, frozen=True):
    id: int
    name: str
    """Test, and the name of its cell."""
    cell: int
    """The number of the first run of its cell."""
    repetition: int
    verdict: str
    facts: Mapping[str, str]
    settings: Mapping[str, str] = field(default_factory=dict)
    """In effect."""
    scripts: tuple[tuple[str, str], ...] = ()
    """(name, text) of each transaction type, as it was sent."""


def of_run(run: RunRecord, cell: int, name: str) -> RunDetail:
    """``cell``: the number of the first run of its cell, which is called ``name``."""
    deployment = run.deployment
    from assay.text.secrets_in_files import without_file_passwords

    return RunDetail(
        run.id,
        f"{run.full_test_name}: {name}",
        cell,
        run.repetition,
        run.verdict or run.state,
        {key: value for key, value in _facts(run).items() if value},
        {key: str(value) for key, value in sorted(deployment.settings.items())}
        if deployment
        else {},
        tuple(
            (script.path or script.name, without_file_passwords(script.text))
            for script in run.scripts
        ),
    )


def _facts(run: RunRecord) -> dict[str, str]:
    deployment = run.deployment
    parameters = ", ".join(f"{name} = {value}" for name, value in run.parameters.items())
    driving = run.driving.described() if run.driving else {}
    asked = deployment.settings_asked if deployment else {}
    return {
        "state": run.state_shown,
        "verdict": ": ".join(filter(None, (run.verdict, run.verdict_reason))),
        "begun": _instant(run.begun_unix_ns),
        "took": _took(run),
        "system": f"{run.system_on_machine}, version {deployment.version}"
        if deployment
        else run.system_on_machine,
        "storage": run.storage,
        "clients": f"{run.clients}, protocol {run.levels[PROTOCOL.name]}",
        "parameters": parameters,
        "driven": ", ".join(f"{name} {value}" for name, value in driving.items()),
        "settings asked": ", ".join(f"{name} = {value}" for name, value in asked.items()),
        "seed": str(run.seed),
        "cell": run.cell_fingerprint[:12],
        "warnings": "; ".join(
            f"{name} ({detail})" if detail else name for name, detail in run.warnings
        ),
    }


def _instant(unix_ns: int | None) -> str:
    if unix_ns is None:
        return ""
    return f"{datetime.fromtimestamp(unix_ns / 1e9, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _took(run: RunRecord) -> str:
    if run.begun_unix_ns is None or run.ended_unix_ns is None:
        return ""
    return units.duration((run.ended_unix_ns - run.begun_unix_ns) / 1e9)

"""Takes a run; returns what a page says of it, apart from its raw rows: how it ended, its effective
settings and its scripts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import NamedTuple

from assay.contracts.factors import PROTOCOL
from assay.record import Run
from assay.text import units


class RunOfCell(NamedTuple):
    run: Run
    cell: int
    """The number of the first run of its cell."""
    cell_name: str

    @property
    def name(self) -> str:
        """Test, and the name of its cell."""
        return f"{self.run.full_test_name}: {self.cell_name}"


def settings(run: Run) -> dict[str, str]:
    """In effect."""
    found = run.deployment.settings if run.deployment else {}
    return {key: str(value) for key, value in sorted(found.items())}


def scripts(run: Run) -> list[tuple[str, str]]:
    """(name, text) of each transaction type, as it was sent."""
    from assay.text.secrets_in_files import without_file_passwords

    return [
        (script.path or script.name, without_file_passwords(script.text)) for script in run.scripts
    ]


def facts(run: Run) -> dict[str, str]:
    """What is known of it, by its name."""
    deployment = run.deployment
    parameters = ", ".join(f"{name} = {value}" for name, value in run.parameters.items())
    asked = deployment.settings_asked if deployment else {}
    found = {
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
        "driven": ", ".join(f"{name} {value}" for name, value in run.driving.described().items()),
        "settings asked": ", ".join(f"{name} = {value}" for name, value in asked.items()),
        "seed": str(run.seed),
        "cell": run.cell_fingerprint[:12],
        "warnings": "; ".join(
            f"{name} ({detail})" if detail else name for name, detail in run.warnings
        ),
    }
    return {name: text for name, text in found.items() if text}


def _instant(unix_ns: int | None) -> str:
    if unix_ns is None:
        return ""
    return f"{datetime.fromtimestamp(unix_ns / 1e9, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _took(run: Run) -> str:
    if run.begun_unix_ns is None or run.ended_unix_ns is None:
        return ""
    return units.duration((run.ended_unix_ns - run.begun_unix_ns) / 1e9)

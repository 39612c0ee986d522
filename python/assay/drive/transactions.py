"""Takes a loaded site and the scripts of a test; has the engine drive them; gives its
observation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypedDict

from assay import _engine
from assay.experiment import Scalar
from assay.plan import PlannedRun
from assay.provision.session import raise_as_ours
from assay.provision.site import Site
from assay.workloads.values import Script

Observation = dict[str, Any]
"""The engine's `Observation` as plain data (its fields: `crates/engine/src/observation.rs`)."""


class ScriptText(TypedDict):
    """One transaction type: its name, where its text is from, the text in this dialect."""

    name: str
    path: str
    text: str
    weight: int
    is_plain: bool


def script_texts(scripts: Iterable[Script]) -> list[ScriptText]:
    """The scripts as the engine takes them."""
    return [
        ScriptText(
            name=one.name, path=one.path, text=one.text, weight=one.weight, is_plain=one.is_plain
        )
        for one in scripts
    ]


def drive_document(
    site: Mapping[str, Any] | None,
    scripts: Iterable[Script],
    variables: Mapping[str, Scalar | None],
    run: PlannedRun,
    stop: Mapping[str, int | float],
    order: str,
) -> dict[str, Any]:
    """The document the engine takes for one run."""
    return {
        "site": site,
        "scripts": script_texts(scripts),
        "variables": dict(variables),
        "order": order,
        "clients": run.cell.clients,
        "threads": run.cell.threads,
        "protocol": run.cell.protocol,
        "stop": dict(stop),
        "warm_up_s": 0.0,
        "seed": run.seed,
        "digest": True,
        "statement_timeout_s": None,
    }


def observe(
    site: Site,
    document: Mapping[str, Any],
    progress: Callable[[dict[str, Any]], None] | None = None,
) -> Observation:
    """Drives the document against ``site``. Errors of transactions are in the observation; raises
    only where nothing could be driven at all."""

    def told(text: str) -> None:
        if progress is not None:
            progress(json.loads(text))

    document = {**document, "site": site.address.for_engine()}
    try:
        return dict(json.loads(_engine.drive(json.dumps(document), told)))
    except _engine.EngineError as error:
        raise_as_ours(error)

"""Runs the consistency checks of a test: queries that must return no row; says why those of them
were not run that the system cannot express."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from assay.contracts.observation import Observation
from assay.experiment import Scalar
from assay.judge.check.answers import Check, not_run
from assay.judge.check.consistency import check_consistency, chosen
from assay.lab.run_context.context import RunState
from assay.workload.values import Workload

_NO_LETTER = re.compile(r"\W")
_OF_COUNTS = re.compile(r":(?:ok|unknown)_\w")
"""Of a lost generator it is not known how many transactions of each type it did."""


def broken_rules(state: RunState, parameters: Mapping[str, Scalar]) -> list[Check]:
    """The result of each consistency check, run now, with the counts of the run so far."""
    workload, pooled = state.workload, state.up()
    observations = [one for one in state.reports.values() if isinstance(one, Observation)]
    known = chosen(workload.checks_for(pooled.system.dialect), state.test.checks)
    lost = [name for one in observations for name in one.lost_generators]
    not_counted = [one for one in known if lost and _OF_COUNTS.search(one.text)]
    found = check_consistency(
        pooled.deployment,
        [one for one in known if one not in not_counted],
        counts(workload, state.planned.cell.clients, observations)
        | workload.with_defaults(parameters),
        workload.identifiers_for(parameters),
        pooled.system.dialect,
        workload.folder,
    )
    why = f"it counts transactions of each type, and {', '.join(lost)}"
    found += [not_run(Path(one.path).stem, one.title, why) for one in not_counted]
    for check in found:
        check["title"] = workload.checks[check["id"]].title
    return found


def counts(
    workload: Workload, clients: int, observations: Iterable[Observation]
) -> dict[str, Scalar]:
    """Name → value of what a check may use beside the parameters: ``:clients``, and for each script
    ``:ok_SCRIPT`` and ``:unknown_SCRIPT``, how many of its transactions ended so since the data
    were loaded, the warm-up included. A ``-`` or other sign of its name is a ``_``."""
    ok: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for observation in observations:
        for measured in observation.outcomes_by_transaction:
            ok[measured.name] += measured.ok
            unknown[measured.name] += measured.unknown
        for warm in observation.warm_up:
            ok[warm.name] += warm.ok
            unknown[warm.name] += warm.unknown
    counted: dict[str, Scalar] = {"clients": clients}
    for name in workload.scripts:
        word = _NO_LETTER.sub("_", name)
        counted |= {f"ok_{word}": ok[name], f"unknown_{word}": unknown[name]}
    return counted


def not_expressible(state: RunState) -> list[Check]:
    """The checks of the test that have no text in the system's language, each with the reason."""
    workload, dialect = state.workload, state.up().system.dialect
    return [
        not_run(
            check.name,
            check.title,
            workload.why_not_expressible(check.name, dialect)
            or f"it has no text in {dialect.language}",
        )
        for check in chosen(workload.checks.values(), state.test.checks)
        if not workload.is_spoken(check.name, dialect)
    ]

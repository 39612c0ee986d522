"""Takes a deployment and the queries that must find nothing; returns one check for each: the rows
it found.

A workload keeps them in ``checks/*.sql``: each states a rule of the data, and selects the rows that
break it, in one statement or several. They run after the load, and again after clients have changed
the data, in read-only sessions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.contracts.deployment import Deployment
from assay.contracts.dialects.protocol import Dialect
from assay.errors import ExperimentError, SystemDied, SystemRefused, SystemUnderTestError
from assay.experiment import Scalar
from assay.judge.check.answers import Check, not_run
from assay.workload.values import Script

if TYPE_CHECKING:
    from assay.drive import query


def chosen(checks: Iterable[Script], names: Collection[str]) -> list[Script]:
    """The checks of these names."""
    return [check for check in checks if check.name in names]


def check_consistency(
    deployment: Deployment,
    checks: Iterable[Script],
    variables: Mapping[str, Scalar],
    identifiers: Mapping[str, list[str]],
    dialect: Dialect,
    folder: Path,
) -> list[Check]:
    """Runs every query; a query that fails is a failed check. Where the system is lost, the check
    was not run.

    Raises `ExperimentError` for a query that writes; ``folder`` is the workload's.
    """
    return [
        _check(deployment, script, variables, identifiers, dialect, folder) for script in checks
    ]


def _check(
    deployment: Deployment,
    script: Script,
    variables: Mapping[str, Scalar],
    identifiers: Mapping[str, list[str]],
    dialect: Dialect,
    folder: Path,
) -> Check:
    id_ = Path(script.path).stem
    found: int | None
    try:
        from assay.drive import query

        answers = query.ask_each(
            deployment, script, variables, identifiers, dialect.session_read_only()
        )
    except SystemRefused as error:
        if error.code in dialect.read_only_codes:
            raise ExperimentError(
                f"a check must only read, but this one writes: {error.message}",
                file=folder / script.path,
                hint="a check is a query that selects the rows which break a rule",
            ) from error
        found, note = None, error.message
    except SystemDied as error:
        return not_run(id_, script.title, error.message)
    except SystemUnderTestError as error:
        found, note = None, error.message
    else:
        found, note = _counted(answers)
    return Check(
        id=id_,
        title=script.title,
        expected=0,
        found=found,
        ok=found == 0,
        note=note,
    )


def _counted(answers: Sequence[query.StatementAnswer]) -> tuple[int | None, str]:
    """The rows of all statements, and the first of them; None where no statement is a query."""
    if not any(answer.is_query for answer in answers):
        return None, "expected a query, found none"
    broken = [answer for answer in answers if answer.rows]
    if not broken:
        return 0, ""
    first = _shown(broken[0].columns, broken[0].rows[0])
    return sum(len(answer.rows) for answer in broken), f"expected none; the first: {first}"


def _shown(columns: Iterable[str], row: query.Row) -> str:
    """``branches = 5, tellers = 6``."""
    return ", ".join(
        f"{column} = {'NULL' if cell is None else cell.rstrip()}"
        for column, cell in zip(columns, row, strict=True)
    )

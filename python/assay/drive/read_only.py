"""Takes a planned run; returns whether it may change the data, and the statements that make its
sessions read-only.

For a test that declares ``changes_data = false`` the sessions are made read-only, so that the
system refuses writes. Where the system does not support it, or where each transaction opens a
session and the statement would be measured, the data count as changed, unless its language shows
that every statement only reads.
"""

from __future__ import annotations

from assay import registry
from assay.contracts.dialects.protocol import Dialect, RecognisesReads
from assay.drive.prepare import Compiled
from assay.plan import PlannedRun
from assay.plan.drives import drives
from assay.workload.values import Workload

WHY_REFUSED = "sessions are read-only, because the test says changes_data = false"


def may_change_data(compiled: Compiled, run: PlannedRun) -> bool:
    """Whether the data must be loaded again for the next run that uses them."""
    test = compiled.workload.test(run.cell.test)
    if test.leaves_other_data:
        return True
    dialect = registry.system(run.cell.system.name).dialect
    if not test.drives or session_statements(compiled.workload, run, dialect):
        return False
    return not (isinstance(dialect, RecognisesReads) and compiled.only_reads(run, dialect))


def may_commit(compiled: Compiled, run: PlannedRun) -> bool:
    """Whether what is measured may commit anything: the clients, or without any the load."""
    has_clients = bool(compiled.workload.test(run.cell.test).drives)
    return not has_clients or may_change_data(compiled, run)


def session_statements(workload: Workload, run: PlannedRun, dialect: Dialect) -> list[str]:
    """Statements that make a session of the run read-only; empty where its clients may write, or
    where it is not enforced."""
    if workload.test(run.cell.test).leaves_other_data:
        return []
    opens = {drive.run.cell.driving.connection for drive in drives(workload, run)}
    return dialect.session_read_only() if opens <= {"kept"} else []

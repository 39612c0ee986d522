"""Takes a planned run; says whether it may leave other data than it found, and which statements
make its sessions read-only.

A test that declares ``changes_data = false`` is held to it by the system: its sessions are
read-only, and what would write is refused. Where that cannot be asked of the system, or where it
would be measured with every session that a transaction opens, the data count as changed.
"""

from __future__ import annotations

from assay import registry
from assay.dialects.protocol import Dialect
from assay.plan import PlannedRun
from assay.plan.drives import drives
from assay.workload.values import Workload

WHY_REFUSED = "sessions are read-only, because the test says changes_data = false"


def may_change_data(workload: Workload, run: PlannedRun) -> bool:
    """Whether the data must be loaded again for the next run that uses them."""
    test = workload.test(run.cell.test)
    if test.leaves_other_data:
        return True
    dialect = registry.system(run.cell.system.name).dialect
    return bool(test.drives) and not session_statements(workload, run, dialect)


def session_statements(workload: Workload, run: PlannedRun, dialect: Dialect) -> list[str]:
    """Statements that make a session of the run read-only; none where its clients may write, or
    are not held."""
    if workload.test(run.cell.test).leaves_other_data:
        return []
    opens = {drive.run.cell.driving.connection for drive in drives(workload, run)}
    return dialect.session_read_only() if opens <= {"kept"} else []

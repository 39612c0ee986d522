"""Takes everything that happens; keeps it, from before the first byte to after the last.

One SQLite file per laboratory. `lab.run` calls a `Store` from the first stage on; it receives, and
calls nobody. The tables are described in ``steps/``, for people who ask them with SQL.
"""

from assay.record.file import DEFAULT_FILE_NAME
from assay.record.records import CalibrationRecord, ExperimentRecord, RunRecord, RunSummary
from assay.record.run_states import EndState
from assay.record.store import Store

__all__ = [
    "DEFAULT_FILE_NAME",
    "CalibrationRecord",
    "EndState",
    "ExperimentRecord",
    "RunRecord",
    "RunSummary",
    "Store",
]

"""Takes the plan, every run and its results; keeps them in one SQLite file, and returns them as
frozen values.

`lab.run` calls a `Store` from the first stage on. The tables are described in ``steps/``, for
people who query them with SQL.
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

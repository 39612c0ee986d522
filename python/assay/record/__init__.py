"""Takes the plan, every run and its results; keeps them in one SQLite file, and returns them as
frozen values.

`lab.run` calls a `Store` from the first stage on. The tables are described in ``file/tables/``, for
people who query them with SQL.
"""

from assay.experiment.settings_catalogue import DEFAULT_FILE_NAME
from assay.judge.run import CalibrationRecord, Run, RunSummary
from assay.record.runs.records import EndState, ExperimentRecord
from assay.record.store import Store

__all__ = [
    "DEFAULT_FILE_NAME",
    "CalibrationRecord",
    "EndState",
    "ExperimentRecord",
    "Run",
    "RunSummary",
    "Store",
]

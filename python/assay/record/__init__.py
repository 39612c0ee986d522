"""Takes the plan, every run and its results; keeps them in one SQLite file, and returns them as
frozen values.

`lab.run` calls a `Store` from the first stage on. The tables are described in ``file/tables/``, for
people who query them with SQL.
"""

from assay.experiment.settings_catalogue import DEFAULT_FILE_NAME as DEFAULT_FILE_NAME
from assay.judge.run import CalibrationRecord as CalibrationRecord
from assay.judge.run import Run as Run
from assay.judge.run import RunSummary as RunSummary
from assay.record.runs.records import EndState as EndState
from assay.record.runs.records import ExperimentRecord as ExperimentRecord
from assay.record.store import Store as Store

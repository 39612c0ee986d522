"""The observation of a run, typed: outcomes, latencies, groups, intervals, errors, costs.

The engine's structs (``crates/engine/src/observation``) are the source; the classes here are the
same in Python, plus the measurements taken outside the engine. `read_observation` takes documents
of all versions.
"""

from __future__ import annotations

from assay.contracts.observation.cache_state import CacheState
from assay.contracts.observation.clients import ClientEnd, Unfinished
from assay.contracts.observation.comparisons import ConnectReport, ReferenceReport
from assay.contracts.observation.costs import (
    ClientCost,
    DataInMemory,
    DeviceCost,
    MachineCost,
    ServerCost,
)
from assay.contracts.observation.error_reports import ErrorReport
from assay.contracts.observation.groups import Arrival, GroupReport
from assay.contracts.observation.intervals import Interval
from assay.contracts.observation.latency import EncodedHistogram, Latency, Resolution
from assay.contracts.observation.observation import VERSION, EngineObservation, Observation
from assay.contracts.observation.other_reports import (
    Answered,
    BackupReport,
    LimitReport,
    NativeClientsReport,
    PlansReport,
    SpaceReuseReport,
    StatementPlan,
    UpdateReport,
)
from assay.contracts.observation.outcomes import Outcomes, TransactionOutcomes
from assay.contracts.observation.results import (
    AnswerReport,
    AnswerSumReport,
    FirstAnswersReport,
    ResultReport,
)
from assay.contracts.observation.servers import ServerReport
from assay.contracts.observation.service import (
    LittlesLaw,
    Outage,
    Standstill,
    TransactionsPerClient,
)
from assay.contracts.observation.shape import ShapeError
from assay.contracts.observation.step_report import (
    Observed,
    StepReport,
    StepTable,
    UnreadReport,
    read_observation,
    read_observed,
)
from assay.contracts.observation.transactions import (
    MOST_PASS_TIMES,
    AllOk,
    Passes,
    PassTime,
    StatementReport,
    TransactionReport,
)

__all__ = [
    "MOST_PASS_TIMES",
    "VERSION",
    "AllOk",
    "AnswerReport",
    "AnswerSumReport",
    "Answered",
    "Arrival",
    "BackupReport",
    "CacheState",
    "ClientCost",
    "ClientEnd",
    "ConnectReport",
    "DataInMemory",
    "DeviceCost",
    "EncodedHistogram",
    "EngineObservation",
    "ErrorReport",
    "FirstAnswersReport",
    "GroupReport",
    "Interval",
    "Latency",
    "LimitReport",
    "LittlesLaw",
    "MachineCost",
    "NativeClientsReport",
    "Observation",
    "Observed",
    "Outage",
    "Outcomes",
    "PassTime",
    "Passes",
    "PlansReport",
    "ReferenceReport",
    "Resolution",
    "ResultReport",
    "ServerCost",
    "ServerReport",
    "ShapeError",
    "SpaceReuseReport",
    "Standstill",
    "StatementPlan",
    "StatementReport",
    "StepReport",
    "StepTable",
    "TransactionOutcomes",
    "TransactionReport",
    "TransactionsPerClient",
    "Unfinished",
    "UnreadReport",
    "UpdateReport",
    "read_observation",
    "read_observed",
]

"""The observation of a run, typed: outcomes, latencies, groups, intervals, errors, costs.

The engine's structs (``crates/engine/src/observation``) are the source; the classes here are the
same in Python, plus the measurements taken outside the engine. `read_observation` takes documents
of all versions.
"""

from __future__ import annotations

from assay.contracts.observation.observation import VERSION, EngineObservation, Observation
from assay.contracts.observation.parts.cache_state import CacheState
from assay.contracts.observation.parts.clients import ClientEnd, Unfinished
from assay.contracts.observation.parts.comparisons import ConnectReport, ReferenceReport
from assay.contracts.observation.parts.costs import (
    ClientCost,
    DataInMemory,
    DeviceCost,
    MachineCost,
    ServerCost,
)
from assay.contracts.observation.parts.declared_results import (
    PERCENTILES,
    DerivedValue,
    Headline,
    ResponseLimit,
)
from assay.contracts.observation.parts.error_reports import ErrorReport
from assay.contracts.observation.parts.generators import GeneratorReport, clients_left
from assay.contracts.observation.parts.groups import Arrival, EndpointReport, GroupReport
from assay.contracts.observation.parts.intervals import Interval
from assay.contracts.observation.parts.latency import EncodedHistogram, Latency, Resolution
from assay.contracts.observation.parts.machine_seconds import MachineSecond
from assay.contracts.observation.parts.outcomes import Outcomes, TransactionOutcomes, WarmUpOutcomes
from assay.contracts.observation.parts.results import (
    AnswerReport,
    AnswerSumReport,
    FirstAnswersReport,
    ResultReport,
)
from assay.contracts.observation.parts.servers import ServerReport
from assay.contracts.observation.parts.service import (
    LittlesLaw,
    Outage,
    Standstill,
    TransactionsPerClient,
)
from assay.contracts.observation.parts.shape import ShapeError
from assay.contracts.observation.parts.staleness import StalenessReport
from assay.contracts.observation.parts.transactions import (
    MOST_PASS_TIMES,
    AllOk,
    Passes,
    PassTime,
    StatementReport,
    TransactionReport,
)
from assay.contracts.observation.step_reports.other_reports import (
    Answered,
    BackupReport,
    LimitReport,
    MadeBackupReport,
    NativeClientsReport,
    PlansReport,
    RestoredBackupReport,
    SpaceReuseReport,
    StatementPlan,
    UpdateReport,
)
from assay.contracts.observation.step_reports.step_report import (
    Observed,
    StepReport,
    StepTable,
    UnreadReport,
    decode_observation,
    decode_observed,
    read_observation,
    read_observed,
)

__all__ = [
    "MOST_PASS_TIMES",
    "PERCENTILES",
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
    "DerivedValue",
    "DeviceCost",
    "EncodedHistogram",
    "EndpointReport",
    "EngineObservation",
    "ErrorReport",
    "FirstAnswersReport",
    "GeneratorReport",
    "GroupReport",
    "Headline",
    "Interval",
    "Latency",
    "LimitReport",
    "LittlesLaw",
    "MachineCost",
    "MachineSecond",
    "MadeBackupReport",
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
    "ResponseLimit",
    "RestoredBackupReport",
    "ResultReport",
    "ServerCost",
    "ServerReport",
    "ShapeError",
    "SpaceReuseReport",
    "StalenessReport",
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
    "WarmUpOutcomes",
    "clients_left",
    "decode_observation",
    "decode_observed",
    "read_observation",
    "read_observed",
]

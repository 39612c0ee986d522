"""The observation of a run, typed: outcomes, latencies, groups, intervals, errors, costs.

The engine's structs (``crates/engine/src/observation``) are the source; the classes here are the
same in Python, plus the measurements taken outside the engine. `read_observation` takes documents
of all versions.
"""

from __future__ import annotations

from assay.contracts.documents import ShapeError as ShapeError
from assay.contracts.observation.clients import Arrival as Arrival
from assay.contracts.observation.clients import ClientEnd as ClientEnd
from assay.contracts.observation.clients import ConnectReport as ConnectReport
from assay.contracts.observation.clients import EndpointReport as EndpointReport
from assay.contracts.observation.clients import GeneratorReport as GeneratorReport
from assay.contracts.observation.clients import GroupReport as GroupReport
from assay.contracts.observation.clients import LittlesLaw as LittlesLaw
from assay.contracts.observation.clients import Outage as Outage
from assay.contracts.observation.clients import ReferenceReport as ReferenceReport
from assay.contracts.observation.clients import ServerReport as ServerReport
from assay.contracts.observation.clients import StalenessReport as StalenessReport
from assay.contracts.observation.clients import Standstill as Standstill
from assay.contracts.observation.clients import Unfinished as Unfinished
from assay.contracts.observation.clients import clients_left as clients_left
from assay.contracts.observation.costs import CacheState as CacheState
from assay.contracts.observation.costs import ClientCost as ClientCost
from assay.contracts.observation.costs import DataInMemory as DataInMemory
from assay.contracts.observation.costs import DeviceCost as DeviceCost
from assay.contracts.observation.costs import DeviceCounts as DeviceCounts
from assay.contracts.observation.costs import DeviceRequests as DeviceRequests
from assay.contracts.observation.costs import Interval as Interval
from assay.contracts.observation.costs import MachineCost as MachineCost
from assay.contracts.observation.costs import MachineSecond as MachineSecond
from assay.contracts.observation.costs import ServerCost as ServerCost
from assay.contracts.observation.observation import VERSION as VERSION
from assay.contracts.observation.observation import EngineObservation as EngineObservation
from assay.contracts.observation.observation import Observation as Observation
from assay.contracts.observation.step_reports import Answered as Answered
from assay.contracts.observation.step_reports import BackupReport as BackupReport
from assay.contracts.observation.step_reports import LimitReport as LimitReport
from assay.contracts.observation.step_reports import MadeBackupReport as MadeBackupReport
from assay.contracts.observation.step_reports import NativeClientsReport as NativeClientsReport
from assay.contracts.observation.step_reports import Observed as Observed
from assay.contracts.observation.step_reports import PlansReport as PlansReport
from assay.contracts.observation.step_reports import RestoredBackupReport as RestoredBackupReport
from assay.contracts.observation.step_reports import SpaceReuseReport as SpaceReuseReport
from assay.contracts.observation.step_reports import StatementPlan as StatementPlan
from assay.contracts.observation.step_reports import StepReport as StepReport
from assay.contracts.observation.step_reports import StepTable as StepTable
from assay.contracts.observation.step_reports import UnreadReport as UnreadReport
from assay.contracts.observation.step_reports import UpdateReport as UpdateReport
from assay.contracts.observation.step_reports import decode_observation as decode_observation
from assay.contracts.observation.step_reports import decode_observed as decode_observed
from assay.contracts.observation.step_reports import read_observation as read_observation
from assay.contracts.observation.step_reports import read_observed as read_observed
from assay.contracts.observation.transactions import MOST_PASS_TIMES as MOST_PASS_TIMES
from assay.contracts.observation.transactions import PERCENTILES as PERCENTILES
from assay.contracts.observation.transactions import AllOk as AllOk
from assay.contracts.observation.transactions import AnswerReport as AnswerReport
from assay.contracts.observation.transactions import AnswerSumReport as AnswerSumReport
from assay.contracts.observation.transactions import DerivedValue as DerivedValue
from assay.contracts.observation.transactions import EncodedHistogram as EncodedHistogram
from assay.contracts.observation.transactions import ErrorReport as ErrorReport
from assay.contracts.observation.transactions import FirstAnswersReport as FirstAnswersReport
from assay.contracts.observation.transactions import Headline as Headline
from assay.contracts.observation.transactions import Latency as Latency
from assay.contracts.observation.transactions import Outcomes as Outcomes
from assay.contracts.observation.transactions import Passes as Passes
from assay.contracts.observation.transactions import PassTime as PassTime
from assay.contracts.observation.transactions import Resolution as Resolution
from assay.contracts.observation.transactions import ResponseLimit as ResponseLimit
from assay.contracts.observation.transactions import TransactionOutcomes as TransactionOutcomes
from assay.contracts.observation.transactions import TransactionReport as TransactionReport

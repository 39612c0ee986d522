"""Takes what is known of a drive of which every generator was lost; returns its observation: one of
no transaction, with what they had reported in the report of each."""

from __future__ import annotations

import time
from collections.abc import Sequence

from assay.contracts.engine.drive import ArrivalDocument, DriveDocument
from assay.contracts.observation import VERSION, Observation, Resolution
from assay.contracts.observation.merging.latencies import merged_latency
from assay.contracts.observation.parts.costs import ClientCost
from assay.contracts.observation.parts.groups import Arrival
from assay.contracts.observation.parts.outcomes import Outcomes
from assay.contracts.observation.parts.service import CarriedOver, InFlight, TransactionsPerClient
from assay.contracts.observation.parts.shape import convert
from assay.contracts.observation.parts.transactions import AllOk
from assay.drive.fleet.values import DrivenPart

_RESOLUTION = Resolution(lowest_ns=1, significant_digits=3, highest_ns=3600 * 1_000_000_000)
"""Of histograms that have nothing; the engine's own is in what it observed."""


def observation(document: DriveDocument, parts: Sequence[DrivenPart]) -> Observation:
    elapsed_ns = int(max(part.lost_after_s or 0.0 for part in parts) * 1e9)
    arrival = document.arrival or ArrivalDocument(kind="closed")
    rate_per_s = arrival.offered_rate_per_s
    none = merged_latency([])
    return Observation(
        version=VERSION,
        started_unix_ns=time.time_ns() - elapsed_ns,
        elapsed_ns=elapsed_ns,
        drained_ns=0,
        connect_ns=0,
        clients=sum(part.account.clients for part in parts),
        threads=0,
        arrival=convert(
            {
                "kind": arrival.kind,
                "offered_rate_per_s": rate_per_s if isinstance(rate_per_s, float) else None,
            },
            Arrival,
            "arrival",
        ),
        resolution=_RESOLUTION,
        outcomes=Outcomes(0, 0, 0, 0, 0, 0, 0, 0, 0),
        outcomes_by_transaction=(),
        transactions=(),
        all_ok=AllOk(0, latency=none, service_time=none, schedule_lag=None),
        passes=None,
        statements=0,
        per_statement=(),
        groups=(),
        intervals=(),
        errors=(),
        client_ends=(),
        transactions_per_client=TransactionsPerClient(0, 0, 0),
        in_flight=InFlight(0, 0, 0),
        carried_over=CarriedOver(0, 0),
        littles_law=None,
        stalls=(),
        suspensions=(),
        reconnects=0,
        outages=(),
        results=(),
        client_cost=ClientCost(0, 0, 0.0, 0, 0, 0, 0, 0, 0, None),
        ended_by="interrupted",
    )

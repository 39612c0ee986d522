"""Takes the number of clients and how they arrive; gives the observation of a drive of which
nothing was seen: what is known takes the place of its zeros."""

from __future__ import annotations

from assay.contracts.observation.observation import VERSION, Observation
from assay.contracts.observation.parts.costs import ClientCost
from assay.contracts.observation.parts.groups import Arrival
from assay.contracts.observation.parts.latency import Resolution, merged_latency
from assay.contracts.observation.parts.outcomes import Outcomes
from assay.contracts.observation.parts.service import CarriedOver, InFlight, TransactionsPerClient
from assay.contracts.observation.parts.transactions import AllOk

_RESOLUTION = Resolution(lowest_ns=1, significant_digits=3, highest_ns=3600 * 1_000_000_000)
"""Of histograms that have nothing; the engine's own is in what it observed."""


def of_nothing(clients: int, arrival: Arrival) -> Observation:
    """Interrupted after no time."""
    no_latency = merged_latency([])
    return Observation(
        version=VERSION,
        started_unix_ns=0,
        elapsed_ns=0,
        drained_ns=0,
        connect_ns=0,
        clients=clients,
        threads=0,
        arrival=arrival,
        resolution=_RESOLUTION,
        outcomes=Outcomes(0, 0, 0, 0, 0, 0, 0, 0, 0),
        outcomes_by_transaction=(),
        transactions=(),
        all_ok=AllOk(0, latency=no_latency, service_time=no_latency, schedule_lag=None),
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

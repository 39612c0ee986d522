"""Takes what is known of a drive that lost every generator; returns its observation, which has no
transaction: what they had counted is in each generator's own report."""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec.structs import replace

from assay.contracts.engine.drive import ArrivalDocument, DriveDocument
from assay.contracts.observation import Arrival, Observation
from assay.contracts.observation.of_nothing import of_nothing
from assay.contracts.observation.parts.shape import convert
from assay.drive.fleet.values import DrivenPart


def observation(document: DriveDocument, parts: Sequence[DrivenPart]) -> Observation:
    elapsed_ns = int(max(part.lost_after_s or 0.0 for part in parts) * 1e9)
    arrival = document.arrival or ArrivalDocument(kind="closed")
    rate_per_s = arrival.offered_rate_per_s
    arrived = {
        "kind": arrival.kind,
        "offered_rate_per_s": rate_per_s if isinstance(rate_per_s, float) else None,
    }
    return replace(
        of_nothing(
            sum(part.account.clients for part in parts), convert(arrived, Arrival, "arrival")
        ),
        started_unix_ns=time.time_ns() - elapsed_ns,
        elapsed_ns=elapsed_ns,
    )

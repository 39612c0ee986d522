"""Takes a series of seconds; returns by how much the variance of its mean exceeds that of as many
independent values: the seconds of a system that fills and flushes depend on one another.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Series = NDArray[np.float64]


def inflation(values: Series) -> float:
    """At least 1: ``(1 + r) / (1 - r)`` of a first-order autoregressive process, by the correlation
    of neighbours r, which short series underestimate by about (1 + 4r) / n (Kendall and Marriott,
    1954)."""
    around = values - values.mean()
    total = float(around @ around)
    if total == 0 or len(values) < 4:
        return 1.0
    found = float(around[1:] @ around[:-1]) / total
    corrected = min(0.9, found + (1 + 4 * max(0.0, found)) / len(values))
    return max(1.0, (1 + corrected) / (1 - corrected))

"""Takes the variances and counts of two samples; returns how uncertain the difference of their
means is (B. L. Welch, Biometrika 34, 1947), which allows each sample its own variance.
"""

from __future__ import annotations

from collections.abc import Sequence


def uncertainty(variances: Sequence[float], counts: Sequence[int]) -> tuple[float, float]:
    """The variance of the difference, and its degrees of freedom. Each count is 2 at least."""
    parts = [variance / count for variance, count in zip(variances, counts, strict=True)]
    squares = sum(part**2 / (count - 1) for part, count in zip(parts, counts, strict=True))
    variance = sum(parts)
    return variance, variance**2 / squares if squares else sum(counts) - 2

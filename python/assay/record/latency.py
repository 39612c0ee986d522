"""Takes an observation as any version of the engine gave it; gives it with latency under its name.

Latency was called response time in observations of version 1.
"""

from __future__ import annotations

from typing import Any

_NAMES = {"response_time": "latency", "response_time_ns": "latency_ns"}


def with_latency(value: Any) -> Any:
    """The same, however deep it lies."""
    if isinstance(value, dict):
        return {_NAMES.get(key, key): with_latency(one) for key, one in value.items()}
    if isinstance(value, list):
        return [with_latency(one) for one in value]
    return value

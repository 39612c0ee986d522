"""Systems and storages in place of those of other packages, found by the entry points of a
distribution on the path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay import registry

FOLDER = Path(__file__).parents[1] / "doubles"
WORKLOAD = FOLDER / "workload"


@contextmanager
def registered() -> Iterator[None]:
    """Within the block the doubles are in the registry."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(FOLDER)
        _forget()
        try:
            yield
        finally:
            _forget()
    _forget()


def _forget() -> None:
    registry._entries.cache_clear()
    registry.step.cache_clear()
    registry.step_reports.cache_clear()

"""Null systems for the tests of what is measured."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from known_systems import IN_PROCESS, NullServer, NullSystem, Site


@pytest.fixture
def null_system(tmp_path: Path) -> NullSystem:
    """``with null_system("postgresql", delay="constant:1ms") as site``; ``none``: in here."""

    @contextmanager
    def started(protocol: str, **told: str) -> Iterator[Site]:
        if protocol == IN_PROCESS:
            yield {"driver": "null", "options": {"rows": "1", "site": str(tmp_path), **told}}
            return
        server = NullServer(protocol, tmp_path / f"{protocol}.sock", told)
        try:
            yield server.site
        finally:
            server.close()

    return started

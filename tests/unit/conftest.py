"""Where a test that starts something keeps what it notes, and the data of servers; new records are
copies."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import prepared_records

prepared_records.copy_once()


@pytest.fixture
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What this test starts is noted in its own folder."""
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.delenv("ASSAY_DATA_DIRECTORY", raising=False)


@pytest.fixture
def _own_places(_own_state: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same, with the data of servers in a folder on a disk."""
    with tempfile.TemporaryDirectory(prefix="assay-test-", dir="/var/tmp") as made:
        Path(made).chmod(0o755)  # the servers' user must be able to enter
        monkeypatch.setenv("ASSAY_DATA_DIRECTORY", made)
        yield

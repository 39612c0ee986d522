"""Servers that start on a copy of a new data directory: clients reach them; no rows are left."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.env_vars import NEW_DATA
from assay.provision.disk.directory import server_directory
from assay.systems import System
from servers import ask


def test_a_server_begins_with_a_copy(
    server: System, storage: StorageFacts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    monkeypatch.setenv(NEW_DATA.name, str(kept))
    choice = SystemChoice(server.name, options={"transport": "tcp"})
    for number in (1, 2):
        with server_directory(storage) as directory:
            with server.provision(choice, directory, connections=None) as up:
                ask(up, "CREATE TABLE of_its_own (id integer)")
                assert up.address.port
                assert ask(up, "SELECT count(*) FROM of_its_own") == [("0",)]
            is_copy = (directory.data / "copied").exists()
        if not kept.exists():
            pytest.skip(f"of {server.name} nothing is kept")
        assert is_copy is (number == 2)
        (only,) = kept.iterdir()
        (only / "copied").touch()

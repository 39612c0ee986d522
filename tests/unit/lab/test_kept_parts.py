"""What generators kept is named by the next run, and goes after a month."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from assay.lab.driving import generators
from assay.provision.undo.ledger import state_directory


def test_recent_parts_are_named_and_those_of_a_month_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path))
    assert generators.kept_parts() == ""
    folder = state_directory().parent / generators.PARTS
    folder.mkdir(parents=True)
    for name, days in (("run-1.json", 0.5), ("run-2.json", 2), ("run-3.json", 31)):
        (folder / name).write_text("{}")
        then_s = time.time() - days * 86400
        os.utime(folder / name, (then_s, then_s))
    said = generators.kept_parts()
    assert said.endswith("(1 file, removed after 30 days): `assay parts`")
    assert sorted(file.name for file in folder.iterdir()) == ["run-1.json", "run-2.json"]

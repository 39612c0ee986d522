"""The engine writes to files that Python has open, and leaves them open."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assay import _engine


def test_a_file_stays_open_and_a_number_without_a_file_is_refused(tmp_path: Path) -> None:
    bibliography = tmp_path / "a.bib"
    bibliography.write_text("@Article{a, title = {T}}\n")
    document = json.dumps({"files": [str(bibliography)]})
    out = tmp_path / "copy.bib"
    with out.open("wb", buffering=0) as file:
        _engine.bib_replicate(document, file.fileno())
        file.write(b"% the end\n")
    assert out.read_bytes().endswith(b"% the end\n") and b"@" in out.read_bytes()
    closed = os.open(out, os.O_WRONLY)
    os.close(closed)
    for number in (closed, -1):
        with pytest.raises(OSError, match="Bad file descriptor"):
            _engine.bib_replicate(document, number)

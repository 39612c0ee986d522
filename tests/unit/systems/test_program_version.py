"""The version that a program says of itself."""

from __future__ import annotations

from pathlib import Path

from assay.systems.program_version import version_of


def test_a_number_in_the_path_of_the_program_is_no_version(tmp_path: Path) -> None:
    program = tmp_path / "11.8" / "server"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$0  Ver 11.8.9-MariaDB for Linux"\n', encoding="utf-8")
    program.chmod(0o755)
    assert version_of(program) == "11.8.9-MariaDB"

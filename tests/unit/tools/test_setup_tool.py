"""`tools/setup` says what is missing before anything is compiled."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("program", "says", "message"),
    [
        ("cargo", "cargo 1.63.0 (fd9c4297c 2022-07-01)", "cargo is version 1.63.0"),
        ("rustc", "rustc 1.94.9 (4b91a6ea7 2022-08-08)", "rustc is version 1.94.9"),
        ("rustc", "error: no toolchain", "rustc --version gives no version"),
    ],
)
def test_a_compiler_that_is_too_old_is_refused(
    tmp_path: Path, program: str, says: str, message: str
) -> None:
    for name in ("cargo", "rustc"):
        file = tmp_path / name
        file.write_text(f"#!/bin/sh\necho '{says if name == program else f'{name} 1.95.0'}'\n")
        file.chmod(0o755)
    ended = subprocess.run(
        ["sh", "tools/setup", tmp_path / "venv"],
        cwd=ROOT,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 2
    assert message in ended.stderr and "Rust 1.95 or newer" in ended.stderr
    assert "rustup update" in ended.stderr
    assert not (tmp_path / "venv").exists()

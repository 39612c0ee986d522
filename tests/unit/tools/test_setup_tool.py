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


@pytest.mark.parametrize(
    ("there", "missing", "hint"),
    [
        (
            (),
            "Python 3.11 or newer, a C compiler that links, cargo of Rust 1.95 or newer",
            "apt-get install python3 python3-venv gcc libc6-dev ca-certificates curl && curl -sSf "
            "https://sh.rustup.rs | sh",
        ),
        (("python3", "cargo"), "a C compiler that links", "apt-get install gcc libc6-dev"),
        (("python3", "cc", "curl"), "cargo of Rust 1.95 or newer", "curl -sSf https://sh.rustup"),
    ],
)
def test_all_that_is_missing_is_named_with_the_command_that_brings_it(
    tmp_path: Path, there: tuple[str, ...], missing: str, hint: str
) -> None:
    for name in there:
        (tmp_path / name).symlink_to("/bin/true")
    (tmp_path / "sed").symlink_to("/bin/sed")
    ended = subprocess.run(
        ["/bin/sh", "tools/setup", tmp_path / "venv"],
        cwd=ROOT,
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"error: not found: {missing}")
    assert f"\n\nhint: {hint}" in ended.stderr

"""A service with a server's protocol but without its catalogue (a pooler, a proxy, another
database) can be driven; its settings are reported as unknown."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent

WORDS = ("--transactions", "20", "--records", "r.sqlite", "--format", "json")


@contextmanager
def null_server(*words: str) -> Iterator[str]:
    """The address of the null server."""
    with subprocess.Popen(
        [BIN / "assay", "null-server", "--port", "0", *words], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


@pytest.mark.parametrize("protocol", ["postgresql", "mysql"])
@pytest.mark.parametrize(
    "how", [(), ("--rows", "0"), ("--fail", "timeout@#1")], ids=["answers", "silent", "refuses"]
)
def test_a_service_without_readable_settings_is_driven(
    tmp_path: Path, protocol: str, how: tuple[str, ...]
) -> None:
    script = tmp_path / "one.sql"
    script.write_text("SELECT 1;\n")
    with null_server("--protocol", protocol, *how) as address:
        ended = subprocess.run(
            [BIN / "assay", "run", script, "--on", f"{protocol}://u@{address}/d", *WORDS],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "internal error" not in ended.stderr
        # With --refuse it also refuses the first statement of the measurement.
        assert ended.returncode == (1 if "--fail" in how else 0), ended.stderr
        report = json.loads(ended.stdout)
        assert "settings-unknown" in [one["name"] for one in report["warnings"]]

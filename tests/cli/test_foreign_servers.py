"""A service with a server's protocol but without its catalogue (a pooler, a proxy, another
database) can be driven; its settings are reported as unknown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import forked_programs
from forked_programs import Started
from running import started, wait_for_second

WORDS = ("--transactions", "20", "--records", "r.sqlite", "--format", "json")


@contextmanager
def null_server(*words: str) -> Iterator[str]:
    """The address of the null server."""
    with null_server_process(*words) as (_, address):
        yield address


@contextmanager
def null_server_process(*words: str) -> Iterator[tuple[Started, str]]:
    """The null server and its address."""
    with forked_programs.start("assay", ["null-server", "--port", "0", *words]) as server:
        try:
            yield server, server.stdout.readline().strip()
        finally:
            server.kill()


@pytest.mark.parametrize("protocol", ["postgresql", "mysql"])
@pytest.mark.parametrize(
    "how", [(), ("--rows", "0"), ("--fail", "timeout@#2")], ids=["answers", "silent", "refuses"]
)
def test_a_service_without_readable_settings_is_driven(
    tmp_path: Path, protocol: str, how: tuple[str, ...]
) -> None:
    script = tmp_path / "one.sql"
    script.write_text("SELECT 1;\n")
    with null_server("--protocol", protocol, *how) as address:
        words = ["run", script, "--on", f"{protocol}://u@{address}/d", *WORDS]
        ended = forked_programs.run("assay", words, folder=tmp_path)
        assert "internal error" not in ended.stderr
        # With --refuse it also refuses the first statement of the measurement.
        assert ended.returncode == (1 if "--fail" in how else 0), ended.stderr
        report = json.loads(ended.stdout)
        assert "settings-unknown" in [one["name"] for one in report["warnings"]]


def test_a_server_that_dies_is_at_fault(tmp_path: Path) -> None:
    """Status 3, whenever it dies; a server that only disconnects its clients fails the run."""
    (tmp_path / "one.sql").write_text("SELECT 1;\n")

    def status(address: str, *, kill: Started | None = None) -> tuple[int, str]:
        run = ("run", "one.sql", "--on", f"postgresql://u@{address}/d", "-T", "40")
        with started(tmp_path, *run) as program:
            if kill is not None:
                wait_for_second(tmp_path)
                kill.kill()
            out, err = program.communicate()
            return program.wait(), out + err

    with null_server_process("--protocol", "postgresql") as (server, address):
        code, out = status(address, kill=server)
        assert code == 3, out
        assert "disconnected during the run" in out
    with null_server_process("--protocol", "postgresql", "--lose", "#9") as (_, address):
        code, out = status(address)
        assert code == 1, out

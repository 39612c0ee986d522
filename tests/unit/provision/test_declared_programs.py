"""Programs that tests start are declared with their Debian packages, so that `make test` brings
them to a fresh machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import programs
from assay.provision.machine import program
from assay.provision.machine.program import Program
from programs import StartedPrograms, brought, undeclared
from tools import servers

START = "import subprocess; subprocess.run(['true'])"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> StartedPrograms:
    """In place of those that the tests look at."""
    monkeypatch.setenv("PYTHONPATH", "")
    monkeypatch.setenv(programs.sitecustomize.VARIABLE, "")
    return StartedPrograms()


def test_a_program_that_is_declared_nowhere_is_refused(started: StartedPrograms) -> None:
    subprocess.run(["/usr/bin/true"], check=True)
    subprocess.run(["setpriv", "--pdeathsig", "KILL", "--", "sleep", "0"], check=True)
    assert started.since_last_time() == {"/usr/bin/true", "setpriv", "sleep"}
    refusal = undeclared("/usr/bin/true")
    assert refusal is not None and 'add Program("true", ITS_DEBIAN_PACKAGE)' in refusal
    assert undeclared("setpriv") is None and undeclared("/bin/sleep") is None
    assert undeclared(sys.executable) is None


def test_a_quick_test_starts_only_what_every_debian_has() -> None:
    for path in (sys.executable, "/usr/bin/setpriv", "cp"):
        assert brought(path) is None
    for path in ("/usr/bin/mount", "fio", "apt-get", "/usr/bin/true"):
        assert "mark the test with pytest.mark.slow" in (brought(path) or "")


def test_programs_that_a_started_python_starts_count_too(started: StartedPrograms) -> None:
    subprocess.run([sys.executable, "-c", START], check=True)
    assert started.since_last_time() == {sys.executable, "true"}


def test_the_packages_of_every_system_storage_and_test_are_brought() -> None:
    brought = {one.package for one in servers.declared() if not one.is_optional}
    assert brought > {
        "postgresql", "postgresql-client", "mariadb-server-core", "mariadb-client", "xfsprogs",
        "btrfs-progs", "fio", "sqlite3", "maven", "openssl", "zsh",
    }  # fmt: skip


def test_the_path_of_a_program_is_where_it_is_and_else_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert Path(programs.CP.path).is_absolute() and Path(programs.CP.path).exists()
    monkeypatch.setattr(program, "SEARCH_PATH", str(tmp_path))
    assert programs.CP.path == "cp"


def test_a_program_has_one_declaration() -> None:
    names = [one.name for one in servers.declared()]
    assert sorted(names) == sorted(set(names))


def test_a_program_beside_the_usual_folders_is_found(tmp_path: Path) -> None:
    (tmp_path / "17" / "bin").mkdir(parents=True)
    program = tmp_path / "17" / "bin" / "no-such-program"
    program.touch(mode=0o755)
    one = Program("no-such-program", "bash", (f"{tmp_path}/*/bin",))
    assert (one.find(), one.find_anywhere()) == (None, str(program))

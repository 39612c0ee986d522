"""More threads or open files than this machine allows: refused with the numbers and the fix, before
anything is started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.provision.processes.programs import SETPRIV
from programs import need_program
from waiting import HANG_S

ASSAY = Path(sys.executable).parent / "assay"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "one.sql").write_text("select 1;\n")
    return tmp_path


def limited(
    folder: Path, limit: str, *words: str, user: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """`assay run` under a limit of the shell."""
    command = ["bash", "-c", f'ulimit {limit} && exec "$@"', "bash", *user, str(ASSAY), "run"]
    return subprocess.run(
        [*command, *words],
        cwd=folder,
        env={**os.environ, "XDG_STATE_HOME": str(folder / "state"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )


@pytest.mark.parametrize(
    ("limit", "words", "message"),
    [
        ("-n 40", "one.sql --on sqlite --clients 1000", "1000 clients need"),
        ("-n 40", "one.sql --on null[protocol=postgresql] --clients 1000", "1000 clients need"),
        (
            "-v 3000000",
            "one.sql --on sqlite --clients 2000",
            "2000 clients need 2000 threads, the limit",
        ),
        ("-c 0", "one.sql --on sqlite --clients 100000", "100000 clients need"),
        ("-n 90", "tpcb --on sqlite --load-sessions 60", "60 load sessions need"),
    ],
)
def test_too_many_clients_are_refused_before_anything_is_started(
    folder: Path, limit: str, words: str, message: str
) -> None:
    ended = limited(folder, limit, *words.split(), "--duration", "1")
    assert ended.returncode == 3, ended.stderr
    assert ended.stderr.startswith(f"error: {message}"), ended.stderr
    assert "the limit is" in ended.stderr
    assert "\nhint: use fewer --" in ended.stderr
    assert "provision" not in ended.stderr, "nothing has been started"


def test_an_ordinary_user_has_a_thread_limit(folder: Path) -> None:
    user: tuple[str, ...] = ()
    if os.geteuid() == 0:
        need_program(SETPRIV)
        # Root is exempt from the limit. This user is not, and can still read our files.
        caps = "+dac_override"
        user = ("setpriv", "--reuid=61234", "--clear-groups", f"--inh-caps={caps}")
        user = (*user, f"--ambient-caps={caps}", "--")
    words = ("one.sql", "--on", "null", "--clients", "200", "--duration", "1")
    ended = limited(folder, "-u 60", *words, user=user)
    assert ended.returncode == 3, ended.stderr
    assert "200 clients need 200 threads, the limit is 60 (RLIMIT_NPROC" in ended.stderr
    assert "hint: use fewer --clients, or raise the limit: ulimit -u " in ended.stderr

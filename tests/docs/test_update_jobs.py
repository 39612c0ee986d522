"""The jobs of the guide on `bibtosql`, for systemd and cron, work as they stand."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from forked_programs import BIN
from programs import SYSTEMD_ANALYZE, need_program

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "bibtosql.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S)


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    need_program(SYSTEMD_ANALYZE)
    service, timer = blocks("ini")
    # The program is looked for, and the user need not be there.
    (tmp_path / "bibliographies.service").write_text(
        service.replace("/usr/local/bin/bibtosql", str(BIN / "bibtosql"))
    )
    (tmp_path / "bibliographies.timer").write_text(timer)
    done = subprocess.run(
        ["systemd-analyze", "verify", "--recursive-errors=no", "bibliographies.service",
         "bibliographies.timer"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    [command] = re.findall(r"^ExecStart=(.*)$", service, re.M)
    state = tmp_path / "state"
    _try(command.replace("%S/bibliographies", str(state)).split(), state, tmp_path)


def test_the_script_for_cron_logs_a_failure(tmp_path: Path) -> None:
    [text] = blocks("sh")
    state, script = tmp_path / "state", tmp_path / "update-bibliographies"
    logged = tmp_path / "logged"
    logger = tmp_path / "bin" / "logger"
    logger.parent.mkdir()
    logger.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {logged}\n')
    logger.chmod(0o755)
    text = text.replace("/var/lib/bibliographies", str(state))
    text = text.replace("/usr/local/bin/bibtosql", str(BIN / "bibtosql"))
    script.write_text(text.replace("/srv/bibliographies", str(tmp_path / "srv")))
    script.chmod(0o755)
    _try([str(script)], state, tmp_path)
    assert not logged.exists()
    (tmp_path / "srv" / "a.bib").write_text("@Misc{a, title = {no end\n")
    ended = _run([str(script)], tmp_path)
    assert (ended.returncode, ended.stdout) == (2, "")
    for said in (ended.stderr, logged.read_text()):
        assert re.search(r"status 2: error: .*a\.bib:1:", said), said


def _try(command: list[str], state: Path, folder: Path) -> None:
    """The job runs twice on a new database; the second time a file has changed."""
    files = folder / "srv"
    files.mkdir()
    (files / "a.bib").write_text("@Misc{a, title = {A}}\n")
    state.mkdir()
    database = state / "library.db"
    made = [str(BIN / "bibtosql"), "--create", "--quiet", "--apply", str(database), str(files)]
    assert _run(made, folder).returncode == 0
    command = [word.replace("/srv/bibliographies", str(files)) for word in command]
    command = [word.replace("/usr/local/bin/bibtosql", str(BIN / "bibtosql")) for word in command]
    for _ in range(2):
        ended = _run(command, folder)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
        assert (state / "last-update").exists()
        (files / "a.bib").write_text("@Misc{a, title = {A}}\n@Misc{b, title = {B}}\n")
    assert b"@Misc{b" in database.read_bytes()


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{folder / 'bin'}:{os.environ['PATH']}"
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "locks"), "PATH": path}
    return subprocess.run(command, capture_output=True, text=True, env=environment)

"""Whole outputs of commands, kept in `transcripts/`: a changed word is seen in all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.program import run_program
from transcripts import Written, played

KEPT = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_commands_write_what_was_kept(
    kept: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "140")

    def run(words: list[str]) -> Written:
        capfd.readouterr()
        before = {*tmp_path.rglob("*")}
        written = Written(run_program(words), *capfd.readouterr())
        assert written.status != 2 or {*tmp_path.rglob("*")} == before, (
            "what is refused leaves files"
        )
        return written

    before = kept.read_text("utf-8")
    now = "\n".join(played(before, tmp_path, run, monkeypatch.setenv))
    if request.config.getoption("--keep-outputs"):
        kept.write_text(now, "utf-8")
    else:
        assert now == before

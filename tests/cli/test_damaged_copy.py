"""A damaged copy of loaded data is reported, loaded again and replaced; no check fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.program import run_program
from assay.record import Store

RUN = "run tpcb --on sqlite --clients 1 --warm-up 0 --transactions 1 --datasets sets"


def how_loaded() -> list[str]:
    with Store(Path("assay-records.sqlite"), must_exist=True) as store:
        runs = sorted(one.id for one in store.runs())
        return [str((store.run(one).dataset or {})["how"]) for one in runs]


def test_a_damaged_copy_is_loaded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    assert run_program(RUN.split()) == 0
    (file,) = (one for one in Path("sets").glob("*/data/*") if one.stat().st_size > 1 << 20)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)
    capsys.readouterr()
    assert run_program(RUN.split()) == 0
    message = capsys.readouterr().err
    assert f"is damaged: the content of {file.name} has changed" in message
    assert str(Path("sets")) in message
    assert run_program(RUN.split()) == 0
    assert how_loaded() == ["loaded", "loaded", "restored"]

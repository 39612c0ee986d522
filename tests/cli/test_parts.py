"""What load generators keep where Assay itself is killed: listed, and put together."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from assay.cli.program import run_program
from assay.lab.measurement import PARTS
from assay.provision.undo.ledger import clear_leftovers
from assay.record import DEFAULT_FILE_NAME, Store
from running import started, wait_for_second
from waiting import wait_until

pytestmark = pytest.mark.slow
OUTCOMES = ("ok", "aborted", "failed", "unknown", "skipped")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the parts of a run of three generators whose Assay was killed."""
    folder = tmp_path_factory.mktemp("killed")
    (folder / "one.sql").write_text("select 1;\n")
    words = ("one.sql", "--on", "null[protocol=postgresql,delay=constant:1ms]", "--clients", "6")
    # One that the machine lets wait for seconds is taken for lost, and still keeps its part.
    words += ("--generators", "3", "--on-lost", "continue", "--duration", "600", "--warm-up", "0")
    parts = folder / "state" / PARTS
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("ASSAY_STATE_DIRECTORY", str(folder / "state"))
        with started(folder, "run", *words) as run:
            wait_for_second(folder)
            os.kill(run.pid, signal.SIGKILL)
            wait_until(lambda: len([*parts.glob("*.json")]) >= 3, "the generators keep their parts")
        clear_leftovers()
    return parts


@pytest.fixture
def copies(kept: Path, tmp_path: Path) -> list[Path]:
    """Under names of their own: what they are is in them."""
    made = []
    for number, file in enumerate(sorted(kept.glob("*.json"))):
        made.append(tmp_path / f"copy-{number}.json")
        shutil.copy(file, made[-1])
    return made


def printed(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[Any, str]:
    """The JSON of ``assay merge --parts``, and what it said besides."""
    capsys.readouterr()
    assert run_program(["merge", "--parts", *map(str, words), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    return json.loads(out), " ".join(err.split())


def refused(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    capsys.readouterr()
    assert run_program(["merge", "--parts", *map(str, words)]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err
    return " ".join(err.split())


def test_those_of_this_machine_are_listed(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(kept.parent))
    listed, said = printed(capsys)
    assert [one["generator"] for one in listed] == ["1 of 3", "2 of 3", "3 of 3"]
    assert [one["file"] for one in listed] == [str(one) for one in sorted(kept.glob("*.json"))]
    assert {one["run"] for one in listed} == {1} and all(one["ok"] > 0 for one in listed)
    assert all(one["machine"] == os.uname().nodename for one in listed)
    assert said == ""
    assert run_program(["merge", "--parts"]) == 0
    out = capsys.readouterr().out
    # What is the same in all rows may stand above them, where the names of files are long.
    assert all(word in out for word in ("run", "generator", "began", "2 of 3"))


def test_one_that_is_damaged_is_named_beside_the_others(
    copies: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "state" / PARTS
    folder.mkdir(parents=True)
    shutil.move(copies[1], folder / "run-1.json")
    (folder / "run-2.json").write_bytes(copies[2].read_bytes()[:1000])
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    (listed,), said = printed(capsys)
    assert listed["generator"] == "2 of 3"
    assert f"warning: {folder / 'run-2.json'}: expected what a load generator kept" in said


def test_all_parts_are_together_one_run(
    kept: Path, copies: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    found, said = printed(capsys, *reversed(copies))
    parts, whole = found["parts"], found["together"]
    assert (found["run"], found["in_record"], found["missing_generators"]) == (1, False, [])
    assert [one["generator"] for one in parts] == ["1 of 3", "2 of 3", "3 of 3"]
    for name in ("clients", *OUTCOMES):
        assert whole[name] == sum(one[name] for one in parts)
    # On a busy machine one generator hears later than another that it is alone.
    rates = [one["throughput_per_s"] for one in parts]
    assert max(rates) < whole["throughput_per_s"] < sum(rates) + 1
    assert whole["clients"] == 6
    medians = [one["latency_p50_ms"] for one in parts]
    assert 1 <= min(medians) <= whole["latency_p50_ms"] <= max(medians)
    assert "run 1, begun 20" in said and "is not in the record; all 3 generators are here" in said
    with Store(kept.parent.parent / DEFAULT_FILE_NAME, must_exist=True) as store:
        (run,) = store.latest().runs
    assert run.driven is None, "it is not there"
    assert run_program(["merge", "--parts", *map(str, copies)]) == 0
    assert "together" in capsys.readouterr().out


def test_the_generator_that_is_missing_is_named(
    copies: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    found, said = printed(capsys, copies[0], copies[2])
    assert found["missing_generators"] == [2] and found["together"]["clients"] == 4
    assert "what generator 2 of 3 did is in none of these numbers" in said


def test_parts_of_two_runs_or_drives_are_refused_by_name(
    copies: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(copies[1].read_text())
    copies[1].write_text(json.dumps({**document, "run": 7}))
    said = refused(capsys, *copies)
    assert f"{copies[1]}: expected parts of one run, found one of run 7, and of run 1 in" in said
    copies[1].write_text(json.dumps({**document, "epoch": 12}))
    assert "found one of run 1, drive 12, and of run 1, drive" in refused(capsys, *copies)


def test_a_part_that_is_given_twice_is_refused(
    copies: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(copies[1], tmp_path / "again.json")
    said = refused(capsys, *copies, tmp_path / "again.json")
    assert "again.json: expected one part of each generator, found generator 2 also in" in said
    document = json.loads(copies[1].read_text())
    (tmp_path / "again.json").write_text(json.dumps({**document, "generator": 3}))
    assert "was driven by two machines" in refused(capsys, copies[1], tmp_path / "again.json")


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{}", b"[1]", b"[" * 100_000, b'{"run": "x"}', b"null",
        b'{"run":1,"epoch":1,"generator":1,"of":1,"machine":"","observation":{}}',
        b'{"run":1,"epoch":1,"generator":1,"of":1,"machine":"","observation":"x"}',
    ],
)  # fmt: skip
def test_what_is_no_part_is_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.json").write_bytes(content)
    said = refused(capsys, tmp_path / "x.json")
    assert f"{tmp_path / 'x.json'}: expected what a load generator kept" in said
    assert "hint: give files that `assay merge --parts` lists" in said


def test_damaged_parts_are_refused(
    copies: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = copies[0].read_text()
    document = json.loads(text)
    outcomes = document["observation"]["outcomes"]
    fewer = {**document["observation"], "outcomes": {**outcomes, "ok": -5}}
    for other in (
        {**document, "observation": fewer},
        {**document, "generator": 4},
        {**document, "generator": 0},
        {**document, "observation": {**document["observation"], "outcomes": None}},
        {**document, "observation": {**document["observation"], "kind": "load"}},
        json.loads(text.replace('"histogram":"', '"histogram":"AAAA')),
    ):
        copies[0].write_text(json.dumps(other))
        assert "expected what a load generator kept" in refused(capsys, copies[0])
    assert "cannot be read: there is no such file" in refused(capsys, tmp_path / "none.json")
    assert "is a folder: expected a file of text" in refused(capsys, tmp_path)
    copies[0].write_bytes(b"\xff\xfe")
    assert "is not UTF-8 (byte 0)" in refused(capsys, copies[0])
    assert "is a device: expected a file of text" in refused(capsys, Path("/dev/null"))

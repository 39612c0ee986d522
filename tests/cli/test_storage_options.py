"""What is said of storages on the command line: their list, and what may be erased."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.program import run_program
from block_devices import HAS_LOOP_DEVICES, done, loop_device
from commands import Assay


@pytest.mark.parametrize(
    ("words", "column"),
    [("list workloads", "title"), ("list storages", "what"), ("list storages --detail", "what")],
)
def test_descriptions_in_lists_are_titles(
    words: str, column: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program([*words.split(), "--format", "json"]) == 0
    titles = [row[column] for row in json.loads(capsys.readouterr().out)]
    assert len(titles) > 5
    assert [one for one in titles if not one or one[0].islower() or one.endswith(".")] == []


def test_why_a_storage_is_not_available_stands_beside_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert run_program(["list", "storages"]) == 0
    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.endswith("why_not_available")
    (loop,) = [row for row in rows if row.startswith("loop ")]
    assert loop.split()[1] == "no" and "root" in loop
    assert run_program(["list", "storages", "--detail"]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 140


@pytest.mark.skipif(not HAS_LOOP_DEVICES, reason="only root makes loop devices")
@pytest.mark.parametrize("words", ["verify null --storage", "durability --on sqlite --storage"])
def test_a_device_is_erased_only_if_that_is_asked_for(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with loop_device(tmp_path / "disk") as node:
        done("mkfs.ext4", "-q", "-F", "-L", "photos", node)
        asked = [*words.split(), f"device[fs=ext2]:{node}"]
        assert run_program(asked) == 2
        assert "would be erased; it holds ext4 labelled 'photos'" in capsys.readouterr().err
        assert done("blkid", "--match-tag", "LABEL", "-o", "value", node).strip() == "photos"
        assert run_program([*asked, "--erase"]) == 0
        found = done("blkid", "-p", "--match-tag", "TYPE", "-o", "value", node).strip()
        assert found == "ext2"


@pytest.mark.skipif(not HAS_LOOP_DEVICES, reason="only root makes loop devices")
def test_a_mount_option_that_is_refused_late_fails_the_runs_of_its_storage_alone(
    working_folder: Path, assay: Assay
) -> None:
    refused = "loop[size=16M,mount=colour=blue]"
    (working_folder / "one.sql").write_text("select 1;\n")
    ended = assay(
        "run", "one.sql", "--on", "sqlite", "--storage", f"{refused},here",
        "--transactions", "10", "--format", "json",
    )  # fmt: skip
    assert ended.status == 2
    runs = json.loads(ended.out)["tables"]["runs"]
    assert [(run["state"], run["storage"]) for run in runs] == [
        ("failed", refused),
        ("done", "here"),
    ]
    assert "ext4 cannot be mounted with mount=colour=blue" in runs[0]["reason"]

"""What was in force on a storage, limits and a model's parameters, is in every form of report,
whatever its name."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import invented_records as invented
from assay import registry
from assay.comparison.sides import differences
from assay.contracts.experiment import StorageChoice
from assay.contracts.storage_facts import StorageFacts
from assay.experiment.choices.storage_words import storage_choices
from assay.judge import judge_run
from assay.record import ExperimentRecord, Store
from assay.report.build import build
from assay.report.sections.storages import STORAGES
from assay.report.summaries import first_look
from assay.storages.disk_model.options import model_of
from assay.storages.options import values

LIMITED = "t=throttled[read_iops=200,write_bps=5M,size=512M]"
MODELLED = "m=modelled[disks=4,raid=10,rpm=5400,size=512M]"
DEVICE = {"device": "loop1", "read_bytes": 0, "reads": 0, "writes": 10, "flushes": 10}


def facts_of(choice: StorageChoice, version: int, read_ns: int, direct: bool) -> StorageFacts:
    """As the storage would give them, without a device."""
    if choice.kind == "modelled":
        given = values(registry.storage(choice.kind), choice)
        kept: dict[str, Any] = {"model": model_of(given, 512 << 20).facts(), "path_cost": []}
        of_a_read = {"depth": 1, "path_cost_ns": 49_000, "modelled_ns": 101_000}
        kept["path_cost"] = [{**of_a_read, "measured_ns": read_ns}]
        kept["has_direct_io"] = direct
    else:
        limits = {"read_iops": 200, "write_bps": 5 << 20}
        kept = {"limits": limits, "control_groups_version": version}
    return StorageFacts(choice.name, choice.kind, "/data", "ext4", "/dev/loop1", facts=kept)


def record(
    path: Path,
    words: str,
    version: int = 1,
    written_bytes: int = 0,
    limits: Any = None,
    read_ns: int = 102_000,
    direct: bool = True,
) -> ExperimentRecord:
    """A run of four seconds on each storage."""
    choices = storage_choices([words])
    planned = invented.plan([invented.POSTGRESQL], choices)
    with Store(path / "r.sqlite") as store:
        number = invented.begin(store, planned)
        for run in planned.runs:
            facts = facts_of(run.cell.storage, version, read_ns, direct)
            if limits is not None:
                facts = replace(facts, facts={**facts.facts, "limits": limits})
            driven = {"device_cost": {**DEVICE, "written_bytes": written_bytes}}
            invented.write_run(
                store, run, 4 * invented.S, deployment={"storage": facts}, observation=driven
            )
        store.end_experiment()
        return store.experiment(number)


def form(experiment: ExperimentRecord, name: str) -> str:
    stream = io.StringIO()
    registry.report_form(name)(build(experiment), stream, detail=None)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["table", "html", "json", "markdown", "csv"])
def test_every_form_says_what_was_in_force(tmp_path: Path, name: str) -> None:
    shown = " ".join(form(record(tmp_path, f"{LIMITED},{MODELLED}"), name).split())
    assert "read_iops=200" in shown
    assert "write_bps=5M" in shown or "write_bps=5242880" in shown
    assert "rpm=5400" in shown
    assert any(words in shown for words in ("5400 (7200)", "rpm=7200"))  # of the profile
    not_limited = ("the kernel writes back", '"limits_write_back": false', ",false")
    assert any(words in shown for words in not_limited)


def test_csv_has_each_parameter_and_that_write_back_is_not_limited(tmp_path: Path) -> None:
    lines = form(record(tmp_path, f"{LIMITED},{MODELLED}"), "csv").splitlines()
    names = "storage_in_force,storage_profile_values,storage_limits_write_back"
    assert lines[0].endswith(names)
    assert lines[1].endswith("read_iops=200;write_bps=5242880,,false")
    assert lines[2].endswith(",disks=1;raid=;rpm=7200,")


def test_the_first_look_says_what_a_named_storage_is(tmp_path: Path) -> None:
    for words, expected in ((LIMITED, "throttled[read_iops=200"), (MODELLED, "raid=10,rpm=5400")):
        folder = tmp_path / words[0]
        folder.mkdir()
        experiment = record(folder, words)
        assert expected in "\n".join(
            first_look.lines(experiment, build(experiment), 100, "assay report 1")
        )


@pytest.mark.parametrize(
    ("version", "written_bytes", "warning"),
    [
        (1, 4 * 5_000_000, "write-back-not-limited"),
        (1, 4 * 7_500_000, "storage-limit-exceeded"),
        (2, 4 * 5_000_000, None),
    ],
)
def test_writes_that_no_limit_held_for_are_warned_of(
    tmp_path: Path, version: int, written_bytes: int, warning: str | None
) -> None:
    (run,) = record(tmp_path, LIMITED, version, written_bytes).runs
    found = {one.name for one in judge_run(run)[1]}
    both = {"write-back-not-limited", "storage-limit-exceeded"}
    assert found & both == ({warning} if warning else set())


def test_other_limits_of_the_same_name_are_a_difference(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in "ab"]
    for folder in folders:
        folder.mkdir()
    a = record(folders[0], LIMITED)
    b = record(folders[1], LIMITED, limits={"read_iops": 20, "write_bps": 5 << 20})
    found = differences.of_following_runs(a.runs[0], b.runs[0])
    assert [(one.name, one.a, one.b) for one in found if one.what == "storage"] == [
        ("read_iops of the storage", "200", "20")
    ]


@pytest.mark.parametrize(
    ("measured_ns", "cause"),
    [
        (424_000, "more than the I/O path overhead of 49.0 µs explains; was the machine busy?"),
        (150_000, "the I/O path overhead is 49.0 µs"),
        (104_000, None),
    ],
)
def test_a_model_that_was_not_kept_is_a_warning_with_its_cause(
    tmp_path: Path, measured_ns: int, cause: str | None
) -> None:
    """Reads of 101 µs by the model."""
    experiment = record(tmp_path, MODELLED, read_ns=measured_ns)
    warned = [one.detail for one in judge_run(experiment.runs[0])[1]
              if one.name == "model-not-kept"]  # fmt: skip
    shown = " ".join(form(experiment, "table").split())
    if cause is None:
        assert not warned and "not within 5% of its model" not in shown
        return
    measured = (
        f"m (modelled) at depth 1: {measured_ns // 1000} µs measured, 101 µs by its model; {cause}"
    )
    assert warned == [measured]
    assert f"not within 5% of its model: {measured}" in shown


def test_direct_i_o_of_a_loop_device_is_shown(tmp_path: Path) -> None:
    for is_direct, expected in ((True, "loop1 (direct I/O)"), (False, "loop1 (no direct I/O)")):
        folder = tmp_path / str(is_direct)
        folder.mkdir()
        experiment = record(folder, MODELLED, direct=is_direct)
        assert expected in " ".join(form(experiment, "table").split())
        (storage,) = STORAGES.rows(experiment)
        assert storage["has_direct_io"] is is_direct

"""The storage of a server's log: how its levels are written, what they make a cell of, and which
systems are refused."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.contracts.factors import ServerMachine
from assay.errors import ArgumentError, ExperimentError
from assay.experiment.choices import system_identity
from assay.experiment.from_command_line import Words, asked
from assay.experiment.settings import unused_settings
from assay.plan import plan

_SSD = "ssd=loop[fs=ext4,size=200M]"


def _words(*levels: str, on: str = "postgresql", storage: str = _SSD) -> Words:
    return Words("tpcb", on=(on,), storage=(storage,), log_storage=levels)


def test_levels_are_storages_names_of_storages_or_none() -> None:
    experiment, workload = asked(_words("none,ssd", "tmpfs[size=1G]"))
    assert [one and one.name for one in experiment.log_storages] == [None, "ssd", "tmpfs[size=1G]"]
    assert experiment.log_storages[1] == experiment.storages[0]
    runs = plan(experiment, workload).runs
    assert [run.cell.system_label for run in runs] == [
        "postgresql",
        "postgresql log_storage=ssd",
        "postgresql log_storage=tmpfs[size=1G]",
    ]
    assert len({run.cell.fingerprint for run in runs}) == 3
    assert len({run.seed for run in runs}) == 1, "they do the same work"


def test_a_file_names_storages_that_it_declares(tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    text = (
        'workload = "tpcb"\nsystems = ["postgresql"]\nstorages = ["here"]\n'
        'log_storage = ["none", "fast"]\n[storage.fast]\nkind = "tmpfs"\nsize = "1G"\n'
    )
    file.write_text(text)
    experiment, _ = asked(Words(str(file)))
    assert [one and one.name for one in experiment.log_storages] == [None, "fast"]
    assert [one.name for one in experiment.storages] == ["here"]
    file.write_text(text.replace('"fast"]', '"fats"]'))
    with pytest.raises(ExperimentError, match="fats") as caught:
        asked(Words(str(file)))
    assert caught.value.hint == "did you mean 'fast', which is declared in this file?"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (_words("ssd,ssd"), "--log-storage: ssd is given twice"),
        (_words("ssd", on="sqlite"), "--log-storage does not apply to tpcb.tpcb-like: none of its"),
        (_words("floppy"), "floppy"),
    ],
)
def test_levels_that_cannot_be(words: Words, reason: str) -> None:
    with pytest.raises(ArgumentError, match=reason):
        asked(words)


@pytest.mark.parametrize(
    ("system", "reason"),
    [
        (SystemChoice("sqlite"), "its log cannot be on another storage than its data"),
        (SystemChoice("postgresql", url="postgresql://h/d"), "Assay does not start it"),
        (SystemChoice("mariadb", options={"engine": "Aria"}), "only InnoDB has a redo log"),
        (
            SystemChoice("mysql", settings={"innodb-log-group-home-dir": "/x"}),
            "leave innodb-log-group-home-dir out",
        ),
    ],
)
def test_systems_that_are_refused(system: SystemChoice, reason: str) -> None:
    apart = replace(system, machine=ServerMachine(log_storage=StorageChoice("here")))
    assert reason in str(unused_settings.why_refused(apart))


def test_a_raw_device_holds_no_log() -> None:
    raw = StorageChoice("dev", "raw")
    apart = SystemChoice("postgresql", machine=ServerMachine(log_storage=raw))
    assert "the storage 'dev' has no file system" in str(unused_settings.why_refused(apart))


def test_a_log_on_the_default_storage_is_another_cell_than_one_with_the_data() -> None:
    together = SystemChoice("postgresql")
    apart = replace(together, machine=ServerMachine(log_storage=StorageChoice()))
    assert system_identity.of_choice(together) != system_identity.of_choice(apart)
    erasing = ServerMachine(log_storage=StorageChoice(may_erase=True))
    assert system_identity.of_choice(apart) == system_identity.of_choice(
        replace(together, machine=erasing)
    )
    old = {name: field for name, field in asdict(together).items() if name != "machine"}
    before = {"memory_bytes": None, "cpus": None, "rtt_s": 0.0}
    assert system_identity.of_system({**old, "machine": before}) == system_identity.of_choice(
        together
    )

"""Options override an experiment file: what they do not name keeps the settings of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import ArgumentError
from assay.experiment.from_command_line import Words, experiment

FILE = """
workload = "tpcb"
systems = ["sqlite", "postgresql"]

[system.sqlite]
synchronous = "off"
journal_mode = ["wal", "delete"]
"""
ONE = FILE.replace('["wal", "delete"]', '"wal"')


def labels(folder: Path, text: str, *on: str, settings: tuple[str, ...] = ()) -> list[str]:
    file = folder / "one.toml"
    file.write_text(text)
    found, _ = experiment(Words(str(file), on=on, set=settings))
    return [one.label for one in found.systems]


def test_a_system_that_an_option_names_has_the_settings_of_the_file(tmp_path: Path) -> None:
    assert labels(tmp_path, FILE, "sqlite") == [
        "sqlite journal_mode=wal synchronous=off",
        "sqlite journal_mode=delete synchronous=off",
    ]
    assert labels(tmp_path, FILE, "postgresql") == ["postgresql"]
    named = "old=sqlite,new=sqlite[journal_mode=delete]"
    found = labels(tmp_path, ONE, named)
    assert len(found) == 2


def test_what_stands_in_brackets_goes_before(tmp_path: Path) -> None:
    assert labels(tmp_path, FILE, "sqlite[journal_mode=truncate]") == [
        "sqlite journal_mode=truncate synchronous=off"
    ]


@pytest.mark.parametrize("on", [(), ("sqlite",)])
def test_a_setting_replaces_a_list_of_the_file(tmp_path: Path, on: tuple[str, ...]) -> None:
    found = labels(tmp_path, FILE, *on, settings=("sqlite.journal_mode=truncate",))
    assert found[0] == "sqlite journal_mode=truncate synchronous=off"
    assert found[1:] == ([] if on else ["postgresql"])
    found = labels(tmp_path, FILE, *on, settings=("sqlite.journal_mode=truncate,persist",))
    assert len(found) == (2 if on else 3)


def test_a_list_of_systems_that_differ_in_the_setting_is_replaced(tmp_path: Path) -> None:
    text = """workload = "tpcb"
systems = ["sqlite[journal_mode=wal]", "sqlite[journal_mode=delete]"]
"""
    setting = "sqlite.journal_mode=truncate"
    assert labels(tmp_path, text, settings=(setting,)) == ["sqlite journal_mode=truncate"]
    with pytest.raises(ArgumentError, match="given twice"):
        labels(tmp_path, text, settings=(f"{setting},truncate",))


def test_a_system_that_options_name_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="given twice"):
        labels(tmp_path, FILE, "sqlite[journal_mode=wal],sqlite[journal_mode=wal]")

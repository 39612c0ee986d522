"""The arguments of a command line become an experiment, or an error message."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assay.experiment import Experiment, StorageChoice, SystemChoice
from assay.experiment.choices import checked_choices
from assay.experiment.choices.storage_words import storage_choices
from assay.experiment.from_command_line import Words, experiment
from assay.experiment.settings.field_values import counts


def asked(target: str, **given: object) -> Experiment:
    return experiment(Words(target, **given))[0]  # type: ignore[arg-type]


def test_a_workload_alone_runs_its_default_test_on_its_default_system() -> None:
    assert asked("bibsql") == Experiment("bibsql", ("checks",), (SystemChoice("sqlite"),))


def test_a_test_is_named_after_a_point_also_of_a_folder() -> None:
    assert asked("bibsql.parallel").tests == ("parallel",)
    folder = Path(checked_choices.__file__).parents[2] / "workloads" / "bibsql"
    assert asked(f"{folder}.sequential").tests == ("sequential",)
    assert asked(str(folder)).tests == ("checks",)


def test_options_and_settings_are_distinguished_and_their_levels_are_choices() -> None:
    found = asked(
        "bibsql",
        on=("sqlite,mariadb",),
        set=("mariadb.engine=innodb,MyISAM", "mariadb.innodb_buffer_pool_size=1G", "replicas=1,3"),
    )
    pool = {"innodb_buffer_pool_size": "1G"}
    assert found.systems == (
        SystemChoice("sqlite"),
        SystemChoice("mariadb", options={"engine": "InnoDB"}, settings=pool),
        SystemChoice("mariadb", options={"engine": "MyISAM"}, settings=pool),
    )
    assert found.systems[2].label == "mariadb engine=MyISAM innodb_buffer_pool_size=1G"
    assert found.parameters == {"replicas": (1, 3)}


def test_brackets_and_quotes_protect_commas() -> None:
    found = asked(
        "bibsql",
        on=("mariadb[engine=MyISAM,max_heap_table_size=1M],postgresql",),
        set=('postgresql.search_path="a,b",c',),
    )
    assert [one.label for one in found.systems] == [
        "mariadb engine=MyISAM max_heap_table_size=1M",
        "postgresql search_path=a,b",
        "postgresql search_path=c",
    ]


def test_a_url_is_the_system_of_its_scheme() -> None:
    (choice,) = asked("bibsql", on=("postgresql://reader:secret@db.example:5433/bib",)).systems
    assert (choice.name, choice.label) == ("postgresql", "postgresql at db.example")
    assert choice.url == "postgresql://reader:secret@db.example:5433/bib"


def test_storages_have_names_kinds_and_directories() -> None:
    assert asked("bibsql", storage=("here,tmpfs", "disk=here:/srv")).storages == (
        StorageChoice("here", "here"),
        StorageChoice("tmpfs", "tmpfs"),
        StorageChoice("disk", "here", "/srv"),
    )


def test_storages_have_options_in_brackets() -> None:
    assert asked("bibsql", storage=("fast=tmpfs[size=64M],tmpfs[ size = 50% ]",)).storages == (
        StorageChoice("fast", "tmpfs", options={"size": "64M"}),
        StorageChoice("tmpfs[size=50%]", "tmpfs", options={"size": "50%"}),
    )


@pytest.mark.parametrize(
    ("word", "label"),
    [
        ("loop[ size = 1024 mb ]", "loop[size=1G]"),
        ("loop[mount=noatime,fs=XFS,size=1073741824]", "loop[fs=xfs,size=1G,mount=noatime]"),
        ("loop[,]", "loop"),
        ("modelled[size=64M,profile=nvme]", "modelled[profile=nvme,size=64M]"),
        ("throttled[size=16M,read_iops=0100]", "throttled[read_iops=100,size=16M]"),
        ("tmpfs[size=050 %]", "tmpfs[size=50%]"),
        ("here : /srv//disk/", "here:/srv/disk"),
        ('here:"/srv/a,b"', 'here:"/srv/a,b"'),
        ("here:~/data", f"here:{Path.home()}/data"),
    ],
)
def test_a_storage_has_one_spelling(word: str, label: str) -> None:
    (choice,) = storage_choices([word])
    assert choice.name == label
    assert storage_choices([label]) == (choice,)
    (same,) = storage_choices([f"a={word}"])
    assert replace(same, name=choice.name) == choice or choice.kind in ("modelled", "throttled")


def test_client_counts_are_numbers() -> None:
    assert counts("1,8,32") == (1, 8, 32)

"""The arguments of a command line become an experiment, or an error message."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import ArgumentError
from assay.experiment import Experiment, StorageChoice, SystemChoice
from assay.experiment.choices import checked_choices
from assay.experiment.choices.storage_words import storage_choices
from assay.experiment.from_command_line import Words, experiment
from assay.experiment.settings.client_options import counts


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


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ({"on": ("postgres",)}, "unknown system 'postgres'", "did you mean 'postgresql'?"),
        (
            {"on": ("mariadb[engine=Aria2]",)},
            "engine of mariadb: expected InnoDB, MyISAM or Aria, found",
            "did you mean",
        ),
        ({"on": ("mariadb[engine=MyISAM",)}, "bracket is not closed", "engine=MyISAM]"),
        ({"on": ("sqlite,sqlite",)}, "--on: sqlite is given twice", "once"),
        ({"set": ("sqlite.threads=1,1",)}, "--on: sqlite threads=1 is given twice", "once"),
        ({"set": ("replicas=1,1",)}, "replicas: 1 is given twice", "--repetitions"),
        ({"set": ("replicas=1", "replicas = 2")}, "expected replicas once", "--set replicas=1,2"),
        ({"clients": "1,2,1"}, "clients: 1 is given twice", "--repetitions"),
        ({"offered_rate_per_s": "5,5.0"}, "--offered-rate: 5 is given twice", "once"),
        ({"storage": ("here,here",)}, "--storage: here is given twice", "once"),
        ({"storage": ("her",)}, "unknown storage 'her'", "did you mean 'here'?"),
        ({"storage": ("ram",)}, "unknown storage 'ram'", "did you mean 'tmpfs'?"),
        ({"storage": ("memory",)}, "unknown storage 'memory'", "did you mean 'tmpfs'?"),
        ({"storage": ("tmpfs[size=1G",)}, "tmpfs[size=1G: the bracket is not closed", "1G]"),
        ({"storage": ("tmpfs[siz=1G]",)}, "tmpfs has no option 'siz'", "did you mean 'size'?"),
        ({"storage": ("here[size=1G]",)}, "here has no option 'size'", "known: role, rtt"),
        ({"storage": ("tmpfs[size=big]",)}, "or a share of the memory from 1% to 100%", ""),
        ({"storage": ("tmpfs[size=1k]",)}, "a size in bytes from 1 MiB", ""),
        ({"storage": (",",)}, "expected a storage as KIND", "one of: device, here"),
        ({"storage": ("here:",)}, "a directory or a device after the colon", "leave the colon"),
        ({"storage": ("here:/a,b",)}, "unknown storage 'b'", 'here:"A,B"'),
        ({"storage": ("tmpfs[size=1G,size=2G]",)}, "one value of size, found several", "tmpfs["),
        (
            {"storage": ("device:/dev/x,device[fs=xfs]:/dev/x",), "on": ("sqlite,duckdb",)},
            "4 deployments would be on /dev/x at the same time",
            "--order sequential",
        ),
        ({"erase": True}, "--erase does not apply to", "leave --erase out"),
        ({"storage": ("tmpfs]x",)}, "expected a storage as KIND[key=value,…]:DIRECTORY", ""),
        ({"on": ("gopher://x",)}, "unknown URL scheme 'gopher'", "known: "),
        ({"set": ("mariadb.engine=MyISAM",)}, "not among the systems", "--on sqlite,mariadb"),
        ({"set": ("copys=1",)}, "unknown parameter of bibsql 'copys'", "did you mean 'copies'?"),
        ({"set": ("replicas=three",)}, "expected a whole number", "How often"),
        ({"set": ("replicas=0",)}, "replicas: expected a whole number from 1", ""),
        ({"set": ("variant=clear",)}, "unknown value of variant", "did you mean 'clean'?"),
        ({"set": ("copies=5",)}, "does not apply to checks", "bibsql.sequential"),
        ({"set": ("replicas",)}, "expected KEY=VALUE", "--set copies=10"),
        ({"set": ("replicas=",)}, "no value", ""),
        (
            {"clients": "8,none"},
            "a whole number from 1 to 1,000,000, found 'none'",
            "--clients 1,8,32",
        ),
        ({"clients": "0"}, "found '0'", ""),
        ({"storage": ("tmpsf",)}, "unknown storage 'tmpsf'", "did you mean 'tmpfs'?"),
    ],
)
def test_a_wrong_argument_is_named_with_its_fix(
    given: dict[str, object], message: str, hint: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        asked("bibsql", **given)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("bibsq", "unknown workload 'bibsq'"),
        ("bibsql.paralel", "unknown test of bibsql 'paralel'"),
        ("bibsql.", "unknown workload 'bibsql.'"),
        ("nowhere/at/all", "unknown workload 'nowhere/at/all'"),
    ],
)
def test_a_wrong_target_is_named(target: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        asked(target)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"on": ("null,",)}, "'null,'"),
        ({"on": (",null",)}, "',null'"),
        ({"on": ("null,,sqlite",)}, "'null,,sqlite'"),
        ({"on": ("null[delay=1ms,]",)}, "'delay=1ms,'"),
        ({"on": ("null",), "storage": ("here,",)}, "'here,'"),
        ({"on": ("null",), "clients": "1,,2"}, "found ''"),
        ({"on": ("null",), "set": ("scale=1,",)}, "'scale=1,': no value beside a comma"),
    ],
)
def test_nothing_beside_a_comma_is_refused(given: dict[str, object], found: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(found)):
        asked("tpcb", **given)


def test_a_bracket_that_is_not_closed_is_said_to_be_so() -> None:
    with pytest.raises(ArgumentError, match="bracket"):
        asked("tpcb", on=("null[delay=1ms,",))

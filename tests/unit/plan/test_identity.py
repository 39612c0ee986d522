"""When two experiments have one cell, and what their systems are called where they are shown
together: each row is asked for as on a command line, in TOML or in Python. Rows that ask the
programs of a server are in `tests/cli/test_effects_of_settings.py`."""

from __future__ import annotations

import dataclasses
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.contracts.factors import OF_LEVELS, levels
from assay.errors import AssayError
from assay.experiment import Driving, ScriptFile, StorageChoice, SystemChoice
from assay.plan import Cell, fingerprint
from assay.record.file.kept_texts import json_text
from assay.storages import here
from identities import SAME, Other, Refused, identities, names_of

WORKLOAD = """
title = "mine"
source = "a test"
description = "a test"
default_test = "read"
default_system = "null"
[data]
source = "none"
[parameters.copies]
type = "int"
default = 1
help = "A number"
[parameters.share]
type = "float"
default = 0.5
help = "A share"
[tests.read]
title = "reads"
help = "reads"
data = "empty"
scripts = ["read"]
duration_s = 1
"""
EXPERIMENT = 'systems = "null"\nscript = "s.sql"\n'


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(here, "first_unreachable", lambda _path, _user: None)
    for name in ("s.sql", "f1/s.sql", "f1/copy.sql"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("select 1\n")
    Path("s.json").write_text('{"ping": 1}\n')
    Path("x.sql").write_text("select :x\n")
    Path("edited").mkdir()
    Path("edited/s.sql").write_text("select 2\n")
    Path("edited/other.sql").write_text("select 4\n")
    for name in ("wl", "other"):
        Path(name).mkdir()
        Path(name, "workload.toml").write_text(WORKLOAD)
        Path(name, "read.sql").write_text("select :copies, :share\n")
    shutil.copytree("wl", "kept/wl")
    Path("other/read.sql").write_text("select :copies, :share, 3\n")
    for name in ("feed1", "feed2", "edited/feed1"):
        Path(name).write_text(f"select {name.count('/')};\n")
    for name in ("lite.toml", "f1/lite.toml", "edited/lite.toml"):
        Path(name).write_text(f'name = "lite"\nhas_if_exists = {"edited" in name}\n'.lower())
    for name in ("d1", "d2", "s1"):
        Path(name).mkdir()
        Path(name, "x.db").touch()
    Path("link").symlink_to("s1")
    Path("c1").mkdir()
    Path("e.toml").write_text(EXPERIMENT)
    Path("c1/e.toml").write_text(EXPERIMENT.replace("s.sql", "../s.sql"))


PG = "postgresql://me@h/shop"
ROWS: dict[str, tuple[str, str, type[SAME] | Other | Refused]] = {
    # identity.md's second section: pooled though different
    "other port": (f"s.sql --on {PG}", "s.sql --on postgresql://me@h:5433/shop", Other(
        "postgresql at h", "postgresql at h:5433")),
    "other database": (f"s.sql --on {PG}", "s.sql --on postgresql://me@h/test", Other(
        "postgresql at h/shop", "postgresql at h/test")),
    "other user": (f"s.sql --on {PG}", "s.sql --on postgresql://you@h/shop", Other(
        "postgresql at me@h", "postgresql at you@h")),
    "the default port": (
        f"s.sql --on {PG}", "s.sql --on postgresql://me@h:5432/shop", SAME),
    "the default port twice": (f"s.sql --on {PG},postgresql://me@h:5432/shop", "", Refused(
        "given twice")),
    "the default port of several servers": (
        "s.sql --on postgresql://me@h:5432,[::1]/shop", "s.sql --on postgresql://me@h,[::1]:5432/shop",
        SAME),
    "the default port of another system": (
        "s.sql --on mariadb://me@h:3306/shop", "s.sql --on mariadb://me@h/shop", SAME),
    "no port of that system": (
        "s.sql --on mariadb://me@h:5432/shop", "s.sql --on mariadb://me@h/shop", Other()),
    "other options of the session": (
        f"s.sql --on {PG}?options=-cjit%3Doff", f"s.sql --on {PG}?options=-cjit%3Don", Other()),
    "another password": (
        "s.sql --on postgresql://me:a@h/shop", "s.sql --on postgresql://me:b@h/shop", SAME),
    "files of one name": ("s.sql --on sqlite:///d1/x.db", "s.sql --on sqlite:///d2/x.db", Other(
        "sqlite at d1/x.db", "sqlite at d2/x.db")),
    "a name of one's own is no level": (f"s.sql --on old={PG}", f"s.sql --on new={PG}", SAME),
    "a parameter called as a factor": ("x.sql --on null --set clients=7", "", Refused("clients")),
    "an edited script": ("s.sql --on null", "edited/s.sql --on null", Other("null", "null")),
    "an edited feed": (
        "wl --on null --feed feed1", "wl --on null --feed edited/feed1", Other()),
    "an edited workload": ("wl --on null", "other --on null", Other()),
    "round-trip times apart by 0.1 µs": (
        "s.sql --on postgresql --rtt 1.0001ms", "s.sql --on postgresql --rtt 1.0002ms", Other(
            "postgresql rtt=1.0001ms", "postgresql rtt=1.0002ms")),
    "a profile of offered rates in other words": (
        "s.sql --on null --duration 200 --offered-rate 0s:200,60s:800,90s:200",
        "s.sql --on null --duration 200 --offered-rate 0:200,30s:2e2,1min:800.0,1.5min:200", SAME),
    "an even profile and its rate": (
        "s.sql --on null --offered-rate 0s:200,5s:200", "s.sql --on null --offered-rate 200", SAME),
    "a ramp in two parts": (
        "s.sql --on null --duration 9 --offered-rate 0s:0..100,2s:100..200,4s:200",
        "s.sql --on null --duration 9 --offered-rate 0s:0..200,4s:200", SAME),
    "profiles of two spikes": (
        "s.sql --on null --duration 9 --offered-rate 0s:200,4s:800",
        "s.sql --on null --duration 9 --offered-rate 0s:200,5s:800", Other()),
    "a profile twice": (
        "s.sql --on null --duration 9 --offered-rate 0s:200,5s:800,0s:200,5000ms:800", "",
        Refused("given twice")),
    "offered rates of seven digits": (
        "s.sql --on null --offered-rate 1000001", "s.sql --on null --offered-rate 1000002",
        Other()),
    "the round-trip time of a storage": (
        f"s.sql --on {PG}[storage=san,rtt=1ms]", f"s.sql --on {PG}[storage=san,rtt=2ms]", Other()),
    "a storage with a round-trip time": (
        "s.sql --on postgresql --storage san=here[rtt=1ms]",
        "s.sql --on postgresql --storage san=here",
        Other("postgresql", "postgresql")),
    "the storage of a server by URL": (
        f"s.sql --on {PG}[storage=ssd]", f"s.sql --on {PG}", Other()),
    "a round-trip time of no storage": (f"s.sql --on {PG}[rtt=1ms]", "", Refused("storage=NAME")),
    "a server on two storages": (
        f"s.sql --on {PG}[storage=a],{PG}[storage=b]", "", Refused("is on two storages: a and b")),
    "two storages of one name": (
        f"s.sql --on {PG}[storage=a],postgresql://x/d[storage=a,rtt=1ms]", "", Refused(
            "two storages are called 'a'")),
    "a server on a kind of storage": (
        f"s.sql --on {PG}[storage=tmpfs]", "", Refused("such as ssd")),
    "a round-trip time of all and of each storage": (
        "s.sql --on postgresql --storage san=here[rtt=1ms] --rtt 2ms", "", Refused("no effect")),
    "an edited dialect": (
        "s.sql --on dbapi:sqlite3+lite.toml[database=x.db]",
        "s.sql --on dbapi:sqlite3+edited/lite.toml[database=x.db]", Other(
            "dbapi:sqlite3+lite.toml at x.db", "dbapi:sqlite3+edited/lite.toml at x.db")),
    # its third section: separated though equal
    "a copied dialect": (
        "s.sql --on dbapi:sqlite3+lite.toml[database=x.db]",
        "s.sql --on dbapi:sqlite3+f1/lite.toml[database=x.db]", SAME),
    "two spellings of a round-trip time": (
        "s.sql --on postgresql --storage here[rtt=1ms]",
        "s.sql --on postgresql --storage here[rtt=1000us]", SAME),
    "no round-trip time": (
        "s.sql --on postgresql --storage here[rtt=0]", "s.sql --on postgresql", SAME),
    "a server by URL on a storage, in a file": (
        f"s.sql --on '{PG}[role=solid-state,storage=ssd,rtt=1ms]'",
        f'systems = "x={PG}"\nscript = "s.sql"\n[system.x]\nstorage = "ssd"\nrole = "solid-state"\n'
        'rtt = "1ms"\n', SAME),
    "a server by URL on a storage, in Python": (
        f"s.sql --on '{PG}[storage=ssd],{PG}2[storage=hdd]'",
        f'assay.run("s.sql", on=["{PG}2[storage=hdd]", "{PG}[storage=ssd]"])', SAME),
    "a storage of its own, whatever the others": (
        f"s.sql --on {PG},sqlite --storage here,tmpfs", f"s.sql --on {PG}", SAME),
    "a script from here and by its absolute path": (
        "s.sql --on null", "{folder}/s.sql --on null", SAME),
    "a script with a dot before it": ("f1/s.sql --on null", "./f1/s.sql --on null", SAME),
    "a copied script": ("s.sql --on null", "f1/copy.sql --on null", SAME),
    "a copied feed": ("wl --on null --feed feed1", "wl --on null --feed ./feed2", SAME),
    "an experiment file from another folder": ("e.toml", "c1/e.toml", SAME),
    "a workload with a slash": ("wl --on null", "./wl/ --on null", SAME),
    "a copied workload": ("wl --on null", "kept/wl --on null", SAME),
    "a script that is compared with another": (
        "s.sql,edited/other.sql --on null", "s.sql --on null", SAME),
    "scripts that are compared, in a file": (
        "s.sql,edited/other.sql --on null",
        'systems = "null"\nscript = "s.sql,edited/other.sql"\n', SAME),
    "scripts that are compared, and their mix": (
        "s.sql,edited/other.sql --on null", "-f s.sql -f edited/other.sql --on null", Other()),
    "a mix beside scripts that are compared": (
        "-f s.sql,x.sql -f edited/other.sql --on null", "", Refused("a.sql,b.sql measures each")),
    "no script between commas": (
        "-f , --on null", "", Refused("a script before and behind each comma")),
    "scripts that are compared, in place of a test's": (
        "wl -f s.sql,x.sql --on null", "", Refused("leave the workload out")),
    "a bracket of a URL that is not closed": (
        f"s.sql --on {PG}[storage=ssd", "", Refused("the bracket is not closed")),
    "a script in place of another's": (
        "wl -f s.sql --on null", "kept/wl -f f1/copy.sql --on null", SAME),
    "a weight alone": ("-f s.sql --on null", "-f s.sql@5 --on null", SAME),
    "weights of several": (
        "-f s.sql@2 -f x.sql --on null --set x=1", "-f s.sql@3 -f x.sql --on null --set x=1",
        Other()),
    "a storage and its absolute path": (
        "s.sql --on sqlite --storage here:s1", "s.sql --on sqlite --storage here:{folder}/s1",
        SAME),
    "a storage through a link": (
        "s.sql --on sqlite --storage here:s1", "s.sql --on sqlite --storage here:link", SAME),
    "the default storage and its folder": (
        "s.sql --on sqlite --storage here", "s.sql --on sqlite --storage here:.", SAME),
    "no storage and its folder": (
        "s.sql --on sqlite", "s.sql --on sqlite --storage here:{folder}", SAME),
    "the default storage twice": (
        "s.sql --on sqlite --storage here,here:{folder}", "", Refused("given twice")),
    "a storage under two names": (
        "s.sql --on sqlite --storage fast=here:s1", "s.sql --on sqlite --storage ssd=here:s1",
        SAME),
    "a storage with a name and without one": (
        "s.sql --on sqlite --storage fast=here:s1", "s.sql --on sqlite --storage here:s1", SAME),
    "a storage with a default spelled out": (
        "s.sql --on sqlite --storage 'loop[fs=ext4]:s1'", "s.sql --on sqlite --storage loop:s1",
        SAME),
    "two names of one storage": (
        "s.sql --on sqlite --storage fast=here:s1,ssd=here:s1", "", Refused("given twice")),
    "one name of two storages": (
        "s.sql --on sqlite --storage fast=here:s1,fast=here:d1", "", Refused("given twice")),
    "storages of two folders": (
        "s.sql --on sqlite --storage fast=here:d1", "s.sql --on sqlite --storage fast=here:d2",
        Other()),
    "a level beside a text": ("x.sql --on null --set x=1", "x.sql --on null --set x=1,abc", SAME),
    "a whole number and one with places": (
        "x.sql --on null --set x=1", "x.sql --on null --set x=1.0", SAME),
    "a number with an exponent": (
        "x.sql --on null --set x=1000", "x.sql --on null --set x=1e3", SAME),
    "a level twice in two spellings": ("x.sql --on null --set x=1000,1e3", "", Refused("twice")),
    "a parameter of a workload": (
        "wl --on null --set share=1", "wl --on null --set share=1.0", SAME),
    "a parameter's default": ("wl --on null --set share=0.5", "wl --on null", SAME),
    "a setting twice": ("x.sql --on null --set x=1 --set x=2", "", Refused("x=1,2")),
    "the default of an option": ("s.sql --on null", "s.sql --on null[seed=1]", SAME),
    "the default transport": (
        "s.sql --on postgresql", "s.sql --on postgresql[transport=socket]", SAME),
    "a number that is the default": (
        "s.sql --on sqlite", "s.sql --on sqlite[busy_timeout_s=60.0]", SAME),
    "a size of an option": (
        "s.sql --on sqlite[buffer=64MB]", "s.sql --on sqlite[buffer=67108864]", SAME),
    "the default beside nothing": (
        "s.sql --on null,null[seed=1]", "", Refused("given twice")),
    "an engine in another case": (
        "s.sql --on mariadb", "s.sql --on mariadb[engine=innodb]", SAME),
    "two schemes of one system": (
        "s.sql --on postgres://me@h/shop", "s.sql --on postgresql://me@h/shop", SAME),
    "parameters of a URL in another order": (
        f"s.sql --on {PG}?sslmode=disable&connect_timeout=3",
        f"s.sql --on {PG}?connect_timeout=3&sslmode=disable", SAME),
    "a pragma's number, word and default": (
        "s.sql --on sqlite", "s.sql --on sqlite[SYNCHRONOUS=2,journal_mode=DELETE]", SAME),
    "a pragma that is no default": (
        "s.sql --on sqlite", "s.sql --on sqlite[synchronous=off]", Other(
            "sqlite", "sqlite synchronous=off")),
    "settings in another order": (
        "s.sql --on sqlite[mmap_size=64MB,synchronous=0]",
        "s.sql --on sqlite[synchronous=OFF,mmap_size=67108864]", SAME),
    "CUBRID: times and truth": (
        "s.sql --on cubrid[checkpoint_interval=30min,async_commit=NO]",
        "s.sql --on cubrid[async_commit=n,Checkpoint_Interval=1800sec]", SAME),
    "CUBRID: sizes": (
        "s.sql --on cubrid[log_buffer_size=256M]", "s.sql --on cubrid[log_buffer_size=255M]",
        Other()),
    "MongoDB: numbers and truth": (
        "s.json --on mongodb[ttlMonitorEnabled=False,transactionLifetimeLimitSeconds=60.0]",
        "s.json --on mongodb[transactionLifetimeLimitSeconds=60,ttlMonitorEnabled=false]", SAME),
    "pauses in two units": (
        "s.sql --on null --think-time constant:1ms", "s.sql --on null --think-time constant:1000us",
        SAME),
    "pauses in minutes": (
        "s.sql --on null --think-time exponential:1m,0.5h",
        "s.sql --on null --think-time exponential:60s,1800s", SAME),
    "sizes of memory": (
        "s.sql --on postgresql --memory 1GB", "s.sql --on postgresql --memory 1024MB", SAME),
    # its last section: what held
    "a URL twice": (f"s.sql --on {PG},{PG}", "", Refused("given twice")),
    "a storage twice": (
        "s.sql --on sqlite --storage here:s1,here:{folder}/s1", "", Refused("given twice")),
    "durations": ("s.sql --on null --duration 2min", "s.sql --on null --duration 120", SAME),
    "storages of two options": (
        "s.sql --on sqlite --storage 'here:d1'", "s.sql --on sqlite --storage 'here:d2'", Other()),
    "names of one machine": (
        "s.sql --on postgresql://me@localhost/a", "s.sql --on postgresql://me@127.0.0.1/a", Other(
            "postgresql at localhost", "postgresql at 127.0.0.1")),
    "in Python": ("s.sql --on null --clients 4", "assay.run('s.sql', on='null', clients=4)", SAME),
    "in TOML": (
        "s.sql --on null --clients 4",
        'script = "s.sql"\nsystems = ["null"]\nclients = 4\n', SAME),
    "a setting in Python": (
        "s.sql --on sqlite --set sqlite.synchronous=off",
        "assay.run('s.sql', on='sqlite', set={'sqlite.synchronous': 0})", SAME),
    "a setting in TOML": (
        "s.sql --on sqlite --set sqlite.mmap_size=1MB",
        'script = "s.sql"\nsystems = "sqlite"\n[system.sqlite]\nmmap_size = 1048576\n', SAME),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_two_experiments_have_one_cell_or_two(row: str, tmp_path: Path) -> None:
    a, b, expected = ROWS[row]
    a, b = (one.replace("{folder}", str(tmp_path)) for one in (a, b))
    if isinstance(expected, Refused):
        with pytest.raises(AssayError) as refused:
            identities(a)
        assert expected.by in f"{refused.value.message} {refused.value.hint}"
        return
    of_a, of_b = identities(a), identities(b)
    if expected is SAME:
        assert of_a.seeds_of_cells.items() & of_b.seeds_of_cells.items(), (of_a, of_b)
        return
    assert isinstance(expected, Other)
    assert not set(of_a.seeds_of_cells) & set(of_b.seeds_of_cells)
    if expected.names:
        assert names_of(of_a, of_b) == list(expected.names)


def test_two_folders_of_the_environment_are_two_storages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "s.sql --on sqlite --storage here"
    of_folder = {}
    for name in ("d1", "d2"):
        monkeypatch.setenv("ASSAY_DATA_DIRECTORY", str(tmp_path / name))
        of_folder[name] = identities(said).seeds_of_cells
    monkeypatch.delenv("ASSAY_DATA_DIRECTORY")
    assert not set(of_folder["d1"]) & set(of_folder["d2"])
    assert of_folder["d1"] == identities(f"{said}:d1").seeds_of_cells
    assert not set(of_folder["d1"]) & set(identities(said).seeds_of_cells)


PLAIN = Cell(
    workload="tpcb",
    test="tpcb-like",
    system=SystemChoice("postgresql"),
    storage=StorageChoice(),
    clients=8,
    parameters={"scale": 10},
    levels=levels({"protocol": "prepared", "threads": 0}),
)
RICH = Cell(
    workload="mine.sql",
    test="script",
    system=SystemChoice(
        "mariadb",
        url="mariadb://me:secret@db:3306/shop",
        options={"engine": "MyISAM"},
        settings={"max_connections": "500"},
    ),
    storage=StorageChoice("ssd", "here", "/mnt/ssd", {"size": "1GB"}),
    clients=32,
    parameters={"copies": 10, "share": 0.5, "kind": "wide"},
    levels=levels({"protocol": "simple", "threads": 2}),
    feed="statements.sql",
    scripts=(ScriptFile("read.sql", 9), ScriptFile("write.sql")),
    driving=Driving(
        duration_s=60.0,
        warm_up_s=5,
        arrival="poisson",
        offered_rate_per_s=500.0,
        latency_limit_s=0.05,
        retries=3,
        isolation="serializable",
        per_statement=True,
    ),
)
GOLDEN = {
    "plain": "60cbf6daae976ffe114f664da71d0edf65ae6c3c8711bc8fd4674c53f99164d0",
    "rich": "2b572a364511e093d6b63e0776de91783bc737e6a8ee331a4817ef2bd532af57",
}
CELLS = {"plain": PLAIN, "rich": RICH}


def test_the_fingerprint_is_unchanged_also_in_a_record_and_in_other_words() -> None:
    of_cell = fingerprint.fingerprint_of_cell
    for name, cell in CELLS.items():
        assert of_cell(cell) == GOLDEN[name]
        recorded = json.loads(json_text(cell.for_record()))
        assert "secret" not in str(recorded)
        assert of_cell(Cell.of_record(recorded, "cell")) == GOLDEN[name]
    assert of_cell(replace(PLAIN, parameters={"scale": 10.0})) == GOLDEN["plain"]
    for change in (
        {"url": "mariadb://me:other@db:3306/shop"},
        {"url_origins": {"host": "MYSQL_HOST", "user": "URL"}},
    ):
        other = replace(RICH.system, **change)
        assert of_cell(replace(RICH, system=other)) == GOLDEN["rich"]


@pytest.mark.parametrize("cell", CELLS)
def test_fields_at_their_defaults_change_nothing(cell: str) -> None:
    """As in a record without these fields, or a program with new ones."""
    document: dict[str, Any] = CELLS[cell].for_record()
    of_driving = document["driving"]
    for name, default in zip(Driving.__struct_fields__, Driving.__struct_defaults__, strict=True):
        if of_driving[name] == default:
            del of_driving[name]
    for field in dataclasses.fields(Cell):
        if field.default is not dataclasses.MISSING and document[field.name] == field.default:
            del document[field.name]
    for factor in OF_LEVELS.values():
        if factor.default is not None and document[factor.name] == factor.default:
            del document[factor.name]
    document["driving"]["of_a_later_program"] = None
    assert fingerprint.fingerprint_of_cell(Cell.of_record(document, "cell")) == GOLDEN[cell]

"""An experiment file means the same as command-line arguments and as what a record keeps of it, and
its mistakes have lines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from assay import registry
from assay.contracts.factors import OF_MACHINE
from assay.contracts.storages.abilities import Inspectable
from assay.errors import ArgumentError, ExperimentError
from assay.experiment import Experiment, StorageChoice, SystemChoice
from assay.experiment import from_command_line as command_line
from assay.experiment.as_file import Places, tables_of
from assay.experiment.from_command_line import Words, experiment
from assay.lab.preflight import preflight
from assay.plan import plan
from assay.record.file.kept_texts import json_text
from assay.text import toml_file
from assay.text.output_file import toml_text
from assay.text.toml_file import TomlData

TABLE_2 = """\
title = "SQL on two storages"
reproduces = "Beebe 2011, Table 2"
workload = "bibsql"
test = "parallel"
systems = ["sqlite", "mariadb"]
storages = ["here", "fast"]
clients = [8, 16]
repetitions = 3
seed = 7
input = ["papers"]

[parameters]
replicas = [1, 2]

[system.mariadb]
engine = ["InnoDB", "MyISAM"]
sync_binlog = 1

[storage.fast]
kind = "tmpfs"
size = "64M"
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "table-2.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_can_declare_all_that_the_command_line_can(tmp_path: Path) -> None:
    found, workload = experiment(Words(str(written(tmp_path, TABLE_2))))
    older = written(tmp_path, TABLE_2.replace("input = ", "bib = "))
    assert experiment(Words(str(older)))[0] == found
    binlog = {"sync_binlog": "1"}
    assert workload.name == "bibsql"
    assert found == Experiment(
        workload="bibsql",
        tests=("parallel",),
        systems=(
            SystemChoice("sqlite"),
            SystemChoice("mariadb", options={"engine": "InnoDB"}, settings=binlog),
            SystemChoice("mariadb", options={"engine": "MyISAM"}, settings=binlog),
        ),
        storages=(StorageChoice(), StorageChoice("fast", "tmpfs", options={"size": "64M"})),
        clients=(8, 16),
        parameters={"replicas": (1, 2)},
        repetitions=3,
        seed=7,
        input_paths=(str(tmp_path / "papers"),),
        title="SQL on two storages",
        reproduces="Beebe 2011, Table 2",
    )
    words = Words(
        str(older), on=("sqlite",), clients="1", set=("replicas=5",), repetitions=1
    )  # what is typed goes before
    typed, _ = experiment(words)
    assert typed.systems == (SystemChoice("sqlite"),)
    assert (typed.clients, typed.parameters, typed.repetitions) == ((1,), {"replicas": (5,)}, 1)
    assert (typed.seed, len(typed.storages)) == (7, 2)


@pytest.mark.parametrize(
    ("wrong", "right", "line", "complaint"),
    [
        ("repetitions = 3", "repetition = 3", 8, "unknown key 'repetition'"),
        ('"sqlite", "mariadb"', '"sqlite", "mariabd"', 5, "unknown system 'mariabd'"),
        ('test = "parallel"', 'test = "paralel"', 4, "unknown test of bibsql"),
        ('workload = "bibsql"', 'workload = "bibsq"', 3, "unknown workload"),
        ("[parameters]", '[drive]\ntransactions = "ten"\n[parameters]', 13, "expected a whole"),
        # Of a list on several lines, the line of the element.
        ('"sqlite", "mariadb"', '"sqlite",\n"mariabd"', 6, "unknown system 'mariabd'"),
        ('"here", "fast"', '"here",\n"fsat","fast"', 7, "unknown storage 'fsat'"),
        ('test = "parallel"', 'tests = [\n"parallel",\n"paralel"]', 6, "unknown test of bibsql"),
        ("seed = 7", 'script = [\n"a.sql",\n"b.sql@0"]', 11, "weight"),
        ("replicas = [1, 2]", "replicas = [0]", 13, "from 1 to"),
        ("replicas = [1, 2]", "replicas = [2, 2]", 13, "replicas: 2 is given twice"),
        ("clients = [8, 16]", "clients = [8, 8]", 7, "clients: 8 is given twice"),
        ("clients = [8, 16]", 'clients = ["many"]', 7, "expected a whole number"),
        ('kind = "tmpfs"', 'kind = "tmp"', 20, "invalid value"),
        ("[storage.fast]", "[storage.slow]", 6, "unknown storage 'fast'"),
        ('kind = "tmpfs"\n', "", 19, r"\[storage.fast\] has no kind"),
        ("[system.mariadb]", "[system.postgresql]", 15, "not among the systems"),
        ('"mariadb"]', '"mariadb[engine=Aria]"]', 16, "engine of mariadb stands in brackets"),
        (
            '"InnoDB", "MyISAM"',
            '"InnoDB", "MySIAM"',
            16,
            "engine of mariadb: expected InnoDB, MyISAM or Aria, found",
        ),
    ],
)
def test_a_mistake_is_placed(
    tmp_path: Path, wrong: str, right: str, line: int, complaint: str
) -> None:
    file = written(tmp_path, TABLE_2.replace(wrong, right))
    with pytest.raises(ExperimentError, match=complaint) as caught:
        experiment(Words(str(file)))
    assert caught.value.file == str(file)
    assert caught.value.line == line
    assert not caught.value.further, "one mistake has no others as its consequence"


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="cannot be read") as caught:
        experiment(Words(str(tmp_path / "none.toml")))
    assert caught.value.hint is None
    file = written(tmp_path, TABLE_2.replace('"here", "fast"', '"here", "fats"'))
    with pytest.raises(ExperimentError) as caught:
        experiment(Words(str(tmp_path / "tabel-2.toml")))
    assert caught.value.hint == f"did you mean {file}?"
    with pytest.raises(ExperimentError, match="unknown storage 'fats'") as caught:
        experiment(Words(str(file)))
    assert caught.value.hint == "did you mean 'fast', which is declared in this file?"


def test_the_quick_version_may_have_smaller_storages(tmp_path: Path) -> None:
    quick = '\n[quick.storage.fast]\nsize = "64M"\n'
    file = written(tmp_path, TABLE_2 + quick)
    full, small = (experiment(Words(str(file), quick=one))[0].storages for one in (False, True))
    assert [one.options.get("size") for one in full] == [None, "64M"]
    assert [one.options.get("size") for one in small] == [None, "64M"]
    assert [one.name for one in small] == [one.name for one in full]
    file = written(tmp_path, TABLE_2 + quick.replace("fast", "slow"))
    with pytest.raises(ExperimentError, match="storage slow is not declared"):
        experiment(Words(str(file)))


SINGLE_TESTS = """\
workload = "e831"
tests = ["load", "update", "connect"]
systems = ["sqlite", "postgresql"]
optional = ["postgresql"]
repetitions = 3

[parameters]
records = [1000, 2000]

[test.connect]
systems = ["sqlite"]
repetitions = 1

[test.connect.parameters]
records = 500

[test.update.drive]
transactions = 7

[quick.parameters]
records = 100

[quick.test.update.parameters]
updates = 5
"""


def cells(words: Words) -> set[tuple[object, ...]]:
    asked, workload = experiment(words)
    return {
        (run.cell.test, run.cell.system.name, run.cell.parameters["records"], run.repetition)
        for run in plan(asked, workload).runs
    }


def test_an_optional_storage_is_known_by_the_name_that_the_file_gives_it(tmp_path: Path) -> None:
    storage = '\noptional = ["disk"]\n[storage.disk]\nkind = "modelled"\nprofile = "fusion-io"\n'
    text = 'workload = "tpcb"\nsystems = ["sqlite"]\nstorages = ["disk"]' + storage
    asked, _ = experiment(Words(str(written(tmp_path, text))))
    assert asked.optional == tuple(one.name for one in asked.storages) == ("disk (modelled)",)


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ('kind = "here"\ndirectory = "/no/such/place"', "does not exist"),
        ('kind = "device"\ndirectory = "/dev/no-such"', "No such file"),
        ('kind = "tmpfs"\nsize = "900T"', "free|only a user"),
        ('kind = "loop"\nsize = "900T"', "free"),
        ('kind = "modelled"\nprofile = "fusion-io"\nsize = "900T"', "free"),
    ],
)
def test_an_optional_storage_that_this_machine_lacks_refuses_its_own_runs(
    tmp_path: Path, keys: str, why: str
) -> None:
    named = f"\n[storage.disk]\n{keys}\n"
    text = 'workload = "tpcb"\nsystems = ["null"]\nstorages = ["here", "disk"]\n'
    asked, workload = experiment(Words(str(written(tmp_path, f'{text}optional = ["disk"]{named}'))))
    found = preflight(workload, plan(asked, workload), ())
    refused = [run.cell.storage.kind for run in found.runs if run.position in found.refusals]
    kind = registry.storage(asked.storages[1].kind)
    assert refused == [kind.name]
    assert not found.available.storages
    if isinstance(kind, Inspectable) and kind.why_unavailable():
        return  # of another reason
    [reason] = found.refusals.values()
    assert re.search(why, reason)
    with pytest.raises(ArgumentError, match=why):
        experiment(Words(str(written(tmp_path, text + named))))


def test_single_tests_have_levels_systems_and_repetitions_of_their_own(tmp_path: Path) -> None:
    words = Words(str(written(tmp_path, SINGLE_TESTS)))
    found = cells(words)
    assert {one for one in found if one[0] == "connect"} == {("connect", "sqlite", 500, 1)}
    assert len({one for one in found if one[0] == "load"}) == 2 * 2 * 3
    asked, workload = experiment(words)
    assert asked.optional == ("postgresql",)
    limits = {run.cell.test: run.cell.driving.transactions for run in plan(asked, workload).runs}
    assert (limits["update"], limits["connect"]) == (7, 200)
    found = cells(Words(words.target, set=("records=9",), repetitions=2))
    assert {one[2:] for one in found} == {(9, 1), (9, 2)}, "the command line wins"


def test_the_quick_version_says_what_it_scaled_of_the_servers_machine(tmp_path: Path) -> None:
    """Each of its factors (`factors.OF_MACHINE`)."""
    text = (
        'workload = "tpcb"\nsystems = ["postgresql"]\nmemory = ["64MB"]\ncpus = [1, 2]\n'
        'rtt = ["0", "1ms", "20ms"]\nlog_storage = ["tmpfs"]\n'
        '[quick]\nmemory = ["32MB"]\ncpus = [1]\nrtt = ["1ms"]\n'
    )
    file = str(written(tmp_path, text))
    asked, _ = experiment(Words(file, quick=True, log_storage=("none",)))
    scaled = {one.name: (one.full, one.quick) for one in asked.scaled}
    assert {name: scaled[name] for name in OF_MACHINE} == {
        "memory": ("64MB", "32MB"),
        "cpus": ("1, 2", "1"),
        "rtt": ("0, 1ms, 20ms", "1ms"),
        "log_storage": ("tmpfs", "none"),
    }


def test_a_mistake_in_what_single_tests_have_is_placed(tmp_path: Path) -> None:
    optional = 'optional = ["postgresql"]'
    for wrong, right, line, complaint in (
        ("[test.connect]", "[test.conect]", 10, "conect, which is not among the tests"),
        ('systems = ["sqlite"]', 'systems = ["mariadb"]', 11, "not among the systems"),
        (optional, 'optional = ["mariadb"]', 4, "neither a system nor"),
        (optional, 'optional = ["here",\n"maria"]', 5, "neither a system nor"),
        ("updates = 5", "uppdates = 5", 24, "unknown parameter"),
    ):
        file = written(tmp_path, SINGLE_TESTS.replace(wrong, right))
        with pytest.raises(ExperimentError, match=complaint) as caught:
            experiment(Words(str(file)))
        assert caught.value.line == line


RATES = "0s:200,60s:800,500"
Planned = tuple[Experiment, set[tuple[str, int, int]], str]
"""What is asked for, as a record keeps it; its runs; its workload."""


def planned(words: Words) -> Planned:
    experiment, workload = command_line.asked(words)
    runs = plan(experiment, workload).runs
    document = json.loads(json_text(experiment.for_record()))
    asked = Experiment.of_record(document, "experiment")
    named = {(run.cell.fingerprint, run.repetition, run.seed) for run in runs}
    return asked, named, experiment.workload


def written_again(folder: Path, asked: Planned, quick: TomlData | None = None) -> Path:
    experiment, _, workload = asked
    tables = tables_of(experiment, Places(workload, lambda path: path), quick or {})
    file = folder / "experiment.toml"
    file.write_text(toml_text(tables), encoding="utf-8")
    return file


@pytest.mark.slow
@pytest.mark.parametrize("name", registry.experiments())
def test_built_in_experiments_and_their_quick_versions(name: str, tmp_path: Path) -> None:
    whole, quick = planned(Words(f"{name}.toml")), planned(Words(f"{name}.toml", quick=True))
    assert planned(Words(str(written_again(tmp_path, whole))))[1] == whole[1]
    assert planned(Words(str(written_again(tmp_path, quick)), quick=True))[1] == quick[1]
    kept = toml_file.read(registry.experiment_file(f"{name}.toml")).plain()["quick"]
    assert isinstance(kept, Mapping)
    file = written_again(tmp_path, whole, kept)
    assert planned(Words(str(file), quick=True))[1] == quick[1]


@pytest.mark.parametrize(
    "words",
    [
        Words("a.sql", on=("sqlite",), clients="1,2"),
        Words("x.sql", on=("sqlite",), set=("x=1,a",)),
        Words("a.sql,x.sql", on=("sqlite",), set=("x=1,2",)),
        Words("", script=("x.sql@3", "a.sql"), on=("sqlite",), set=("x=3",)),
        Words("tpcb", script=("a.sql@2",), on=("sqlite",), scale=2),
        Words("tpcb", on=("old=mariadb[innodb_buffer_pool_size=64MB]", "postgresql"),
              memory="1GB,none", cpus="1,0.5", rtt="0,1.5ms", cache="warm,as-is"),
        Words("tpcb.*", on=('postgresql[shared_buffers=1GB,search_path="a,b"]',),
              storage=("fast=here:/tmp,tmpfs[size=64MB]",), log_storage=("fast,none",),
              price=("fast=0.6EUR/GB",)),
        Words("tpcb", on=("postgresql://me:s3cret@db.example/shop?sslmode=disable"
                          "[storage=ssd,role=solid-state]", "mariadb")),
        Words("a.sql", on=("postgresql://me@db/shop,two=postgresql://me@db2/shop",),
              offered_rate_per_s=RATES, arrival="poisson", duration_s=70.0, latency_limit_s=0.05,
              think_time="none", retries=3, isolation="serializable", reconnect=True,
              connection="per transaction", read="any", per_statement=True, allow_shell=True,
              repetitions=2, precision=0.05, order="randomized", seed=7, protocol="prepared",
              threads=2, warm_up_s=1.5, ramp_up_s=0.5, drain_s=3.0, statement_limit_s=2.0),
        Words("", script=("x.sql@3", "a.sql"), on=("postgresql://me@a,b/shop",),
              read="x=replica,a=any", set=("x=1",)),
        Words("a.sql", on=("sqlite", "old=postgresql[shared_buffers=1GB]"), goal="p99 < 5ms",
              offered_rate_per_s="10,1000", goal_tolerance=0.5, goal_trials=4, budget_s=60.0,
              price=("sqlite=900EUR,old=4500EUR",)),
        Words("bibsql.sequential", on=("sqlite", "mariadb[engine=MyISAM]"), set=("copies=1,10",)),
        Words("wisconsin-1983.toml", on=("sqlite", "mine=duckdb"), storage=("tmpfs",)),
        Words("beebe-2011.toml", on=("sqlite",), repetitions=2),
        Words("oltp", on=("mariadb",), set=("mariadb.profile=none,durable",)),
        Words("a.sql", on=("dbapi:sqlite3[database=/tmp/x.db]",)),
        Words("tpcb", on=("postgresql@15",), client_program="native,engine"),
    ],
)  # fmt: skip
def test_what_a_command_line_asks_for(
    words: Words, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.sql").write_text("SELECT 1;\n")
    Path("x.sql").write_text("SELECT :x;\n")
    asked = planned(words)
    file = written_again(tmp_path, asked)
    assert planned(Words(str(file)))[1] == asked[1]
    assert "s3cret" not in file.read_text()


FILE = """
workload = "tpcb"
systems = ["sqlite", "postgresql"]

[system.sqlite]
synchronous = "off"
journal_mode = ["wal", "delete"]
"""


def labels(folder: Path, text: str, *on: str, settings: tuple[str, ...] = ()) -> list[str]:
    file = folder / "one.toml"
    file.write_text(text)
    found, _ = experiment(Words(str(file), on=on, set=settings))
    return [one.label for one in found.systems]


def test_a_system_that_an_option_names_has_the_settings_of_the_file(tmp_path: Path) -> None:
    """What stands in brackets goes before; a list of systems that differ in it is replaced."""
    setting = "sqlite.journal_mode=truncate"
    listed = 'workload = "tpcb"\nsystems = ["sqlite[journal_mode=wal]", "sqlite"]\n'
    one = FILE.replace('["wal", "delete"]', '"wal"')
    for text, on, settings, expected in (
        (FILE, ["sqlite"], (), ["sqlite journal_mode=wal synchronous=off",
                                "sqlite journal_mode=delete synchronous=off"]),
        (FILE, ["postgresql"], (), ["postgresql"]),
        (one, ["old=sqlite,new=sqlite[journal_mode=delete]"], (), ["old", "new"]),
        (FILE, ["sqlite[journal_mode=truncate]"], (),
         ["sqlite journal_mode=truncate synchronous=off"]),
        (listed, [], (setting,), ["sqlite journal_mode=truncate"]),
    ):  # fmt: skip
        assert labels(tmp_path, text, *on, settings=settings) == expected
    for text, twice, settings in (
        (listed, [], (f"{setting},truncate",)),
        (FILE, ["sqlite[journal_mode=wal],sqlite[journal_mode=wal]"], ()),
    ):
        with pytest.raises(ArgumentError, match="given twice"):
            labels(tmp_path, text, *twice, settings=settings)

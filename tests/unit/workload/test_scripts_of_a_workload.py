"""Scripts of a workload: their names and weights, levels that some languages have, procedures."""

from __future__ import annotations

from pathlib import Path

import pytest

import invented_records as invented
from assay.errors import ArgumentError, ExperimentError
from assay.experiment import StorageChoice, SystemChoice
from assay.experiment.from_command_line import Words, experiment
from assay.lab.refusal import why_lacking
from assay.lab.steps.dump import Dump
from assay.lab.steps.overlap import Overlap
from assay.plan import plan
from assay.plan.drives import drives
from assay.report import check_declarations
from assay.workload import reader
from assay.workload.values import Workload
from step_workloads import folder_of

LEVELS = """\
title = "Small"
source = "nowhere"
default_test = "all"

[data]
source = "generated"

[parameters.shape]
type = "text"
default = "two"
levels = ["two", "one"]
help = "Of document systems: one = the lines of an order are in it"

[parameters.shape.languages]
one = ["json"]

[[tables]]
name = "orders"
rows = "3"
when = ":shape = 'two'"

[tables.columns]
id = "int not null"

[tables.values]
id = ":row"

[[tables]]
name = "whole_orders"
per = "orders"
rows = "1"
when = ":shape = 'one'"
languages = ["json"]

[tables.columns]
id = "int not null"
lines = "json not null"

[tables.values]
id = ":id"
lines = "'[]'"

[tests.all]
title = "All"
help = "All of it"
scripts = ["look"]
passes = 1
"""


def read(folder: Path, text: str = LEVELS) -> Workload:
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    (folder / "look.sql").write_text("select 1;\n", encoding="utf-8")
    (folder / "look.json").write_text('{"ping": 1};\n', encoding="utf-8")
    return reader.read(str(folder))


def test_the_rows_of_a_table_that_is_not_made_are_still_those_that_others_are_made_of(
    tmp_path: Path,
) -> None:
    workload = read(tmp_path)
    made = {
        (shape, language): [table.name for table in workload.tables_for({"shape": shape}, language)]
        for shape in ("two", "one")
        for language in ("sql", "json")
    }
    assert made["two", "sql"] == made["two", "json"] == ["orders"]
    assert made["one", "json"] == ["whole_orders"] and made["one", "sql"] == []
    source = workload.schema.source_for({"shape": "one"}, 1, "json")
    assert (source.tables[0].name, source.tables[0].is_loaded) == ("orders", False)
    assert source.variables == {"shape": "one"}, "another value means other rows"


@pytest.mark.parametrize(
    ("system", "shape", "is_refused"),
    [("sqlite", "two", False), ("ferretdb", "one", False), ("sqlite", "one", True)],
)
def test_a_level_of_another_language_is_refused(
    tmp_path: Path, system: str, shape: str, is_refused: bool
) -> None:
    workload = read(tmp_path)
    (run,) = invented.plan(
        [SystemChoice(system)], [StorageChoice("here", "here")], test="all",
        parameters={"shape": shape},
    ).runs  # fmt: skip
    reason = why_lacking(workload, run)
    assert (reason is not None) is is_refused
    assert not is_refused or reason == "shape=one is of systems of json; sqlite takes sql"


@pytest.mark.parametrize(
    ("right", "wrong", "complaint"),
    [
        ('one = ["json"]', 'three = ["json"]', "three is not a level: two, one"),
        ('one = ["json"]', 'one = ["jsn"]', "unknown language 'jsn'"),
        ("when = \":shape = 'two'\"", 'when = ":shap = 2"', "shap"),
    ],
)
def test_a_mistake_in_levels_is_placed(
    tmp_path: Path, right: str, wrong: str, complaint: str
) -> None:
    text = LEVELS.replace(right, wrong, 1)
    with pytest.raises(ExperimentError) as refused:
        read(tmp_path, text)
    assert complaint in str(refused.value)
    line = next(number for number, one in enumerate(text.splitlines(), 1) if wrong in one)
    assert refused.value.line == line


HEAD = """\
title = "Small"
source = "nowhere"
default_test = "t"

[data]
source = "none"

[tests.t]
title = "T"
help = "A test"
transactions = 1
"""
FILES = (
    "buy.sql", "reads/one.sql", "reads/two.sql", "checks/lines.sql", "checks/orders.sql",
    "checks/rows.json",
)  # fmt: skip


def workload(folder: Path, test: str) -> Workload:
    for path in FILES:
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text("select 1;\n")
    (folder / "workload.toml").write_text(HEAD + test, encoding="utf-8")
    return reader.read(str(folder))


@pytest.mark.parametrize(
    ("lines", "line", "word", "nearest"),
    [
        ('scripts = ["buy.sql"]\nchecks = ["checks/linse.sql"]', 13, "checks/linse.sql", "lines"),
        ('scripts = ["buy.sql"]\nchecks = ["linse"]', 13, "linse", "'lines'"),
        ('scripts = ["buy.sql"]\ncounted_checks = ["checks/oders*"]', 13, "oders", "orders"),
        ('scripts = ["byu"]', 12, "byu", "'buy'"),
        ('[tests.t.mix]\nbuy = 1\n"reads/on.sql" = 1', 14, "reads/on.sql", "reads/one.sql"),
        ('scripts = ["buy.sql"]\n[not_expressible.json]\nbyu = "no"', 14, "byu", "'buy'"),
        (
            'steps = [{ do = "load" }, { do = "ddl", script = "byu.sql" }]',
            12, "byu.sql", "'buy.sql'",
        ),
    ],
)  # fmt: skip
def test_an_unknown_name_is_refused_with_the_nearest(
    tmp_path: Path, lines: str, line: int, word: str, nearest: str
) -> None:
    with pytest.raises(ExperimentError) as caught:
        workload(tmp_path, lines + "\n")
    assert word in caught.value.message
    assert nearest in (caught.value.hint or "")
    assert caught.value.line == line


@pytest.mark.parametrize("word", ["buy", "buy.sql", "bu*.sql"])
def test_every_list_takes_names_paths_and_globs(tmp_path: Path, word: str) -> None:
    listed = workload(tmp_path, f'scripts = ["{word}"]\n').test("t")
    weighed = workload(tmp_path, f'[tests.t.mix]\n"{word}" = 3\n').test("t")
    assert (listed.scripts, weighed.mix) == (("buy",), {"buy": 3})
    in_steps = (
        f'scripts = ["buy"]\nsteps = [{{ do = "ddl", script = "{word}" }}, {{ do = "drive" }}]\n'
    )
    assert workload(tmp_path, in_steps).test("t").named_scripts == ("buy", "buy")


def test_a_glob_in_a_mix_weighs_each_script_and_none_twice(tmp_path: Path) -> None:
    found = workload(tmp_path, '[tests.t.mix]\n"reads/*.sql" = 2\nbuy = 1\n').test("t")
    assert found.mix == {"one": 2, "two": 2, "buy": 1}
    with pytest.raises(ExperimentError, match="one has two weights"):
        workload(tmp_path, '[tests.t.mix]\n"reads/*.sql" = 2\none = 1\n')


def test_checks_are_all_those_named_or_none(tmp_path: Path) -> None:
    def chosen(line: str) -> list[str]:
        found = workload(tmp_path, f'scripts = ["buy"]\n{line}\n')
        return [name for name in found.checks if name in found.test("t").checks]

    assert chosen("") == ["lines", "orders", "rows"]
    assert chosen('checks = ["*"]') == ["lines", "orders", "rows"]
    assert chosen('checks = ["checks/o*.sql", "lines"]') == ["lines", "orders"]
    assert chosen("checks = []") == []
    counted = workload(tmp_path, 'scripts = ["buy"]\ncounted_checks = ["checks/o*.sql"]\n')
    assert counted.test("t").counted_checks == ("orders",)


def test_a_check_of_another_language_alone_is_one_of_its_systems(tmp_path: Path) -> None:
    found = workload(tmp_path, 'scripts = ["buy"]\n')
    assert found.checks["rows"].language == "json"
    assert "checks/rows.json" in found.texts


READS = """
[parameters.reads]
type = "int"
default = 9
help = "Reads of ten transactions"
"""
BY_PARAMETER = (
    'scripts = ["read@:reads", "write@1"]\nduration_s = 1\n',
    'mix = { read = "reads", "write.sql" = 1 }\nduration_s = 1\n',
)


def _weights(folder: Path, *settings: str) -> list[dict[str, int]]:
    asked, workload = experiment(Words(str(folder), on=("null",), set=settings))
    return [dict(drives(workload, run)[0].mix) for run in plan(asked, workload).runs]


@pytest.mark.parametrize("declared", BY_PARAMETER)
def test_a_parameter_is_a_weight_and_a_factor(tmp_path: Path, declared: str) -> None:
    folder = folder_of(tmp_path, declared + READS)
    assert _weights(folder) == [{"read": 9, "write": 1}]
    levels = _weights(folder, "reads=0,50")
    assert sorted(found["read"] for found in levels) == [0, 50]


def test_shares_become_whole_weights(tmp_path: Path) -> None:
    shares = READS.replace('"int"', '"float"').replace("= 9", "= 0.95")
    shares += shares.replace("parameters.reads", "parameters.writes").replace("0.95", "0.05")
    declared = 'mix = { read = "reads", "write.sql" = "writes" }\nduration_s = 1\n'
    folder = folder_of(tmp_path, declared + shares)
    assert _weights(folder) == [{"read": 95, "write": 5}]
    assert _weights(folder, "reads=1", "writes=0") == [{"read": 1, "write": 0}]
    assert _weights(folder, "reads=0.1234") == [{"read": 1234, "write": 500}]
    for setting in ("reads=0.12345", "reads=-0.5", "reads=1e7"):
        with pytest.raises(ArgumentError, match=r"weight"):
            _weights(folder, setting)


def test_a_group_and_a_step_have_weights_too(tmp_path: Path) -> None:
    group = """
[[tests.t.steps]]
do = "drive"
duration_s = 1

[[tests.t.steps.groups]]
name = "all"
scripts = ["read@:reads", "write@2"]
"""
    folder = folder_of(tmp_path, group + READS)
    asked, workload = experiment(Words(str(folder), on=("null",), set=("reads=3",)))
    (run,) = plan(asked, workload).runs
    (found,) = drives(workload, run)[0].groups
    assert (dict(found.mix), found.order) == ({"read": 3, "write": 2}, "mix")


@pytest.mark.parametrize("settings", ["reads=-1", "reads=5,-1"])
def test_a_level_that_is_no_weight_is_refused_before_the_run(tmp_path: Path, settings: str) -> None:
    said = "reads = -1, the weight of read: expected a whole number from 0 to"
    with pytest.raises(ArgumentError, match=said):
        _weights(folder_of(tmp_path, BY_PARAMETER[0] + READS), settings)


def test_a_mix_in_which_nothing_is_left_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, 'scripts = ["read@:reads"]\nduration_s = 1\n' + READS)
    with pytest.raises(
        ArgumentError, match="no script of the mix has a weight above 0: read reads"
    ):
        _weights(folder, "reads=0")


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ('scripts = ["read@:raeds"]', "neither a number nor a parameter"),
        ('scripts = ["read@many"]', "read@many: expected a whole number"),
        ('scripts = ["read@1", "read@2"]', "read has two weights"),
        ('scripts = ["read@1"]\norder = "sequence"', "weights have no effect in a sequence"),
        ('mix = { read = "name" }', "the parameter name is of type text"),
    ],
)
def test_what_is_no_weight_is_refused_with_its_line(
    tmp_path: Path, declared: str, message: str
) -> None:
    more = READS + '\n[parameters.name]\ntype = "text"\ndefault = "x"\nhelp = "A word"\n'
    with pytest.raises(ExperimentError, match=message) as refused:
        reader.read(str(folder_of(tmp_path, f"{declared}\nduration_s = 1\n" + more)))
    assert refused.value.line


WORKLOAD = """\
title = "Small"
source = "nowhere"
default_test = "both"

[data]
source = "generated"

[parameters.stagger_s]
type = "float"
default = 0.0
help = "Apart"

[parameters.size]
type = "int"
default = 5
help = "Rows"

[tests.both]
title = "Both"
help = "Both of them"
procedure = "reference"
scripts = ["one.sql"]
transactions = "size"

[tests.both.reference]
dump = "dump.sql"
each = "set"
stagger = "stagger_s"
pause = "stagger_s"
at_once = 3

[tests.both.reference.parameters]
size = "least(:size, :clients)"

[tests.fast]
title = "Fast"
help = "Fast ones"
scripts = ["one.sql"]
transactions = "size"

[series.table]
title = "Both in one"
columns = [
  { title = "both", test = "both", key = "elapsed_ns", unit = "min" },
  { title = "fast", test = "fast", key = "elapsed_ns" },
]
"""


def with_procedures(folder: Path, text: str = WORKLOAD) -> Path:
    (folder / "workload.toml").write_text(text, encoding="utf-8")
    (folder / "one.sql").write_text("select 1;\n")
    (folder / "dump.sql").write_text("select 2;\n")
    return folder


def test_a_series_is_a_list_of_tests(tmp_path: Path) -> None:
    workload = reader.read(str(with_procedures(tmp_path)))
    check_declarations(workload)
    assert workload.tests_of("table") == ("both", "fast")
    assert workload.tests_of("fast") == ("fast",)
    with pytest.raises(ArgumentError, match="tabel") as caught:
        workload.tests_of("tabel")
    assert "table" in str(caught.value.hint)


def test_a_procedure_is_a_list_of_steps(tmp_path: Path) -> None:
    test = reader.read(str(with_procedures(tmp_path))).test("both")
    assert [one.do for one in test.steps] == [
        "load", "drive", "dump", "overlap", "dump", "compare",
    ]  # fmt: skip
    load, _, dump, overlap = test.steps[:4]
    assert load.parameters["size"].text == "least(:size, :clients)"
    assert isinstance(dump, Dump)
    assert (dump.script, dump.each) == ("dump", "set")
    assert isinstance(overlap, Overlap)
    assert overlap.at_once == 3


@pytest.mark.parametrize(
    ("right", "wrong", "line", "complaint"),
    [
        ('dump = "dump.sql"', 'dump = "dupm.sql"', 26, "no script is called"),
        ('stagger = "stagger_s"', 'stagger = "size"', 28, "not a float"),
        ("at_once = 3", "at_once = 0", 30, "from 1 to"),
        ('size = "least(', 'sise = "least(', 33, "unknown parameter 'sise'"),
        ('test = "fast"', 'test = "fsat"', 45, "invalid value"),
        ('unit = "min"', 'unit = "hour"', 44, "invalid value"),
        ("[series.table]", "[series.fast]", 41, "a series and a test"),
    ],
)
def test_a_mistake_in_procedures_is_placed(
    tmp_path: Path, right: str, wrong: str, line: int, complaint: str
) -> None:
    folder = with_procedures(tmp_path, WORKLOAD.replace(right, wrong))
    with pytest.raises(ExperimentError, match=complaint) as caught:
        check_declarations(reader.read(str(folder)))
    assert caught.value.line == line

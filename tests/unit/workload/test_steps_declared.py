"""Steps, groups, deferred work, results and metrics of a workload file are read, and refused where
they are wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import observations
from assay import registry
from assay.contracts.experiment import ScriptFile
from assay.contracts.observation import DerivedValue, Headline, Observation, ResponseLimit
from assay.drive.document import document_of
from assay.errors import ArgumentError, ExperimentError
from assay.experiment import Experiment, SystemChoice
from assay.experiment.from_command_line import Words, experiment
from assay.judge import service_levels
from assay.judge.result_checks import STATEMENT_LIMIT
from assay.plan import plan
from assay.plan.drives import drives
from assay.workload import ad_hoc_script, reader
from assay.workload.steps import Deferred, Step
from step_workloads import HEAD, folder_of

GROUPS = """\
changes_data = true

[[tests.t.steps]]
do = "load"

[[tests.t.steps]]
do = "drive"
duration_s = 1

[[tests.t.steps.groups]]
name = "readers"
scripts = ["read.sql"]
clients = "readers"
think_time = "constant:1ms"

[[tests.t.steps.groups]]
name = "writers"
clients = 2
offered_rate_per_s = 100
mix = { write = 3, all = 1 }
"""
FIRST_LINE = HEAD.count("\n") + 1


def test_every_kind_of_step_is_found_by_its_name_and_can_be_taken() -> None:
    for name in registry.steps():
        kind = registry.step(name)
        assert kind.do == name
        assert kind.take is not Step.take


def test_groups_have_scripts_counts_and_pace_of_their_own(tmp_path: Path) -> None:
    asked, workload = experiment(
        Words(str(folder_of(tmp_path, GROUPS)), on=("null",), set=("readers=5",))
    )
    (run,) = plan(asked, workload).runs
    assert run.cell.clients == 7
    (drive,) = drives(workload, run)
    readers, writers = drive.groups
    assert (readers.clients, readers.scripts, readers.order) == (5, ("read",), "sequence")
    assert (readers.driving.think_time, readers.driving.is_open) == ("constant:1ms", False)
    assert (writers.clients, dict(writers.mix), writers.order) == (2, {"write": 3, "all": 1}, "mix")
    assert (writers.driving.arrival, writers.driving.offered_rate_per_s) == ("constant", 100)
    assert (drive.run.cell.clients, drive.scripts) == (7, ("read", "write", "all"))


COUNTED = GROUPS.replace('clients = "readers"', "clients = 8")


def _groups_of(tmp_path: Path, clients: str) -> list[tuple[int, list[int]]]:
    folder = folder_of(tmp_path, COUNTED)
    asked, workload = experiment(Words(str(folder), on=("null",), clients=clients))
    planned = plan(asked, workload).runs
    assert len({run.cell.fingerprint for run in planned}) == len(planned)
    return [
        (run.cell.clients, [one.clients for one in drives(workload, run)[0].groups])
        for run in planned
    ]


@pytest.mark.parametrize(
    ("clients", "found"),
    [
        ("readers=3", [(5, [3, 2])]),
        ("readers=3,4,writers=1", [(4, [3, 1]), (5, [4, 1])]),
        ("writers=1,readers=5,9", [(6, [5, 1]), (10, [9, 1])]),
        ("5,20", [(5, [4, 1]), (20, [16, 4])]),
    ],
)
def test_clients_are_counted_by_group_or_shared_in_the_declared_ratio(
    tmp_path: Path, clients: str, found: list[tuple[int, list[int]]]
) -> None:
    assert _groups_of(tmp_path, clients) == found


def test_a_number_that_the_ratio_divides_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="readers=8,writers=2, and 7 clients cannot") as refused:
        _groups_of(tmp_path, "7")
    assert (
        refused.value.hint
        == "a multiple of 5, or the clients of each group: --clients readers=8,writers=2"
    )


def test_an_experiment_file_counts_clients_by_group(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, COUNTED)
    file = tmp_path / "e.toml"
    file.write_text(
        f'workload = "{folder}"\nsystems = ["null"]\n'
        "clients = { readers = [1, 2], writers = 3 }\n"
    )
    asked, workload = experiment(Words(str(file)))
    assert [run.cell.group_clients for run in plan(asked, workload).runs] == [
        {"readers": 1, "writers": 3}, {"readers": 2, "writers": 3},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"clients": "8"}, "group readers has as many clients as the parameter readers says"),
        ({"clients": "readers=8"}, "group readers has as many clients as the parameter readers"),
        ({"clients": "reader=8"}, "reader"),
        ({"clients": "8,readers=8"}, "--clients: 8 has no group"),
        ({"clients": "writers=8,writers=9"}, "group writers is given twice"),
        ({"clients": "writers=0"}, "--clients: group writers: expected a whole number"),
        ({"clients": "writers=8,8"}, "--clients: group writers: 8 is given twice"),
        ({"offered_rate_per_s": "8"}, "--offered-rate does not apply"),
        ({"think_time": "constant:1s"}, "--think-time does not apply"),
        ({"transactions": 8}, "--transactions does not apply"),
    ],
)
def test_keys_of_groups_are_refused_for_the_step(
    tmp_path: Path, words: dict[str, object], says: str
) -> None:
    with pytest.raises(ArgumentError, match=says):
        plan(*experiment(Words(str(folder_of(tmp_path, GROUPS)), on=("null",), **words)))  # type: ignore[arg-type]


def test_the_measured_interval_is_common_to_all_groups(tmp_path: Path) -> None:
    words = Words(str(folder_of(tmp_path, GROUPS)), on=("null",), duration_s=7, warm_up_s=2)
    asked, workload = experiment(words)
    (run,) = plan(asked, workload).runs
    (drive,) = drives(workload, run)
    assert [one.driving.duration_s for one in (*drive.groups, drive.run.cell)] == [7, 7, 7]  # type: ignore[union-attr]
    assert drive.run.cell.driving.warm_up_s == 2


@pytest.mark.parametrize(
    ("right", "wrong", "line", "says", "hint"),
    [
        ('do = "load"', 'do = "laod"', 4, "invalid value", "did you mean 'load'"),
        ('scripts = ["read.sql"]', 'scripts = ["raed.sql"]', 12, "no script", "'read.sql'"),
        ('clients = "readers"', 'clients = "raeders"', 13, "neither a number", "'readers'"),
        ("clients = 2", "clients = 0", 18, "from 1 to", ""),
        ("clients = 2", "warm_up_s = 2", 18, "applies to the whole step", "out of the group"),
        ("clients = 2", "cleints = 2", 18, "unknown key 'cleints'", "did you mean 'clients'"),
        ('name = "writers"', 'name = "readers"', 17, "two groups", ""),
        ("clients = 2", 'ends_with = "raeders"', 18, "expected another group", "'readers'"),
        ("clients = 2", 'ends_with = "writers"', 18, "expected another group", "readers"),
        ("write = 3", "wirte = 3", 20, "no script is called 'wirte'", "did you mean 'write'"),
        ("duration_s = 1", "clients = 1", 8, "each group has its own", "move clients"),
        ("duration_s = 1", "", 0, "group readers never ends", "give passes"),
        ("changes_data = true", 'procedure = "drive"', 1, "expected one of them", ""),
        ("changes_data = true", 'needs = ["sqll"]', 1, "unknown capability", "did you mean 'sql'"),
    ],
)
def test_a_mistake_has_its_place_and_a_fix(
    tmp_path: Path, right: str, wrong: str, line: int, says: str, hint: str
) -> None:
    assert right in GROUPS
    with pytest.raises(ExperimentError, match=says) as caught:
        reader.read(str(folder_of(tmp_path, GROUPS.replace(right, wrong))))
    assert hint in (caught.value.hint or "")
    if line:
        assert caught.value.line == FIRST_LINE + line - 1


OTHERS = """\
scripts = ["read.sql"]
transactions = 1
{}
[[tests.t.steps]]
do = "load"
[[tests.t.steps]]
do = "drive"
[[tests.t.steps]]
{}
"""


@pytest.mark.parametrize(
    ("test", "step", "says"),
    [
        ("", 'do = "ddl"\nscript = "idnex.sql"', "no script is called 'idnex.sql'"),
        ("", 'do = "wait"\nduration_s = -1', "from 0 to"),
        ("", 'do = "compare"\nexpected = "a"\nfound = "b"', "no earlier step 'dump' has that name"),
        ("", 'do = "drive"', "two steps 'drive' are called 'drive'"),
        ("", 'do = "drive"\nname = "x"\nparameters = { raeders = "1" }', "unknown parameter"),
        (
            "",
            'do = "drive"\nname = "x"\nclients = "rate"\n[parameters.rate]\ntype = "float"\n'
            'default = 2.0\nhelp = "h"',
            "clients = 'rate': the parameter rate is of type float; expected int",
        ),
        ("changes_data = false", 'do = "ddl"\nscript = "index.sql"', "the step 'ddl' changes data"),
    ],
)
def test_an_invalid_step_is_refused(tmp_path: Path, test: str, step: str, says: str) -> None:
    with pytest.raises(ExperimentError, match=says):
        reader.read(str(folder_of(tmp_path, OTHERS.format(test, step))))


def test_a_system_has_room_for_the_clients_of_every_step(tmp_path: Path) -> None:
    declared = """\
scripts = ["read.sql"]
transactions = 1
[[tests.t.steps]]
do = "drive"
name = "few"
[[tests.t.steps]]
do = "drive"
name = "many"
clients = "readers"
"""
    words = Words(str(folder_of(tmp_path, declared)), on=("null",), set=("readers=70",))
    asked, workload = experiment(words)
    planned = plan(asked, workload)
    assert [one.cell.clients for one in planned.runs] == [1]
    assert planned.connections_needed(asked.systems[0]) == 70


def test_a_queue_beside_a_count_of_each_client_is_refused(tmp_path: Path) -> None:
    both = 'scripts = ["read.sql"]\nqueue = 10\ntransactions = 5\n'
    with pytest.raises(ExperimentError, match=r"workload\.toml:25: queue, which all clients share"):
        experiment(Words(str(folder_of(tmp_path, both)), on=("null",)))


SMALL = """\
title = "Small"
source = "nowhere"
default_test = "all"

[data]
source = "none"

[tests.all]
title = "All"
help = "All of it"
"""


def _read(
    folder: Path, more: str, test: str = 'scripts = ["buy", "look"]\npasses = 1\n'
) -> reader.Workload:
    (folder / "workload.toml").write_text(SMALL + test + more, encoding="utf-8")
    for name in ("buy", "look", "other", "deliver"):
        (folder / f"{name}.sql").write_text("select 1;\n")
    (folder / "order.sql").write_text("\\set w 1\n\\defer deliver w\n")
    return reader.read(str(folder))


def _read_orders(folder: Path, more: str) -> reader.Workload:
    return _read(folder, more, "mix = { order = 9, look = 1 }\nclients = [3]\ntransactions = 5\n")


def test_they_are_a_group_beside_the_clients_of_the_run(tmp_path: Path) -> None:
    more = 'deferred = { scripts = ["deliver.sql"], clients = 2, latency_limit_s = 80 }\n'
    workload = _read_orders(tmp_path, more + 'response_limits = { deliver = "p90 < 80s" }\n')
    test = workload.test("all")
    assert test.deferred == Deferred(("deliver",), 2, 80.0)
    assert set(test.scripts) == {"order", "look"}
    asked = Experiment(workload=str(tmp_path), tests=("all",), systems=(SystemChoice("sqlite"),))
    (run,) = plan(asked, workload).runs
    assert (run.cell.clients, run.most_clients) == (3, 5)
    (planned,) = drives(workload, run)
    dialect = registry.system("sqlite").dialect
    scripts = workload.scripts_for(planned, dialect)
    clients, others = document_of(workload, planned, dialect, scripts).groups or ()
    assert (clients.name, clients.clients, clients.weights) == (
        "clients",
        3,
        {"order": 9, "look": 1},
    )
    assert (others.scripts, others.clients, others.latency_limit_s) == (("deliver",), 2, 80.0)
    assert others.arrival and others.arrival.kind == "deferred"


def test_other_scripts_queue_nothing(tmp_path: Path) -> None:
    workload = _read_orders(tmp_path, 'deferred = { scripts = ["deliver"] }\n')
    given = [ScriptFile(str(tmp_path / "look.sql"))]
    assert ad_hoc_script.with_scripts(workload, given, ["all"]).test("all").deferred is None


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('deferred = { scripts = ["delivery"] }', "no script is called 'delivery'"),
        ("deferred = { clients = 2 }", "scripts is missing"),
        ('deferred = { scripts = ["deliver"], clients = 0 }', "clients = 0"),
        ('deferred = { scripts = ["look"] }', "look is deferred, and run by the clients"),
        ('deferred = { scripts = ["deliver"], limit = 3 }', "limit"),
        (
            'deferred = { scripts = ["deliver"] }\n'
            'steps = [{ do = "drive", scripts = ["look"] }, { do = "drive", name = "b" }]',
            "deferred needs a single drive step",
        ),
    ],
)
def test_a_mistake_in_deferred_work_is_placed(tmp_path: Path, line: str, complaint: str) -> None:
    with pytest.raises(ExperimentError) as refused:
        _read_orders(tmp_path, line)
    assert complaint in str(refused.value)
    assert refused.value.line == 14


def test_both_are_of_the_scripts_that_are_named_in_any_way(tmp_path: Path) -> None:
    more = (
        'headline = { title = "sales", transactions = ["b*.sql"] }\n'
        'response_limits = { buy = "p90 < 5s", "look.sql" = " p99.9<250 ms" }\n'
    )
    test = _read(tmp_path, more).test("all")
    assert test.headline == Headline("sales", ("buy",))
    assert test.response_limits == (
        ResponseLimit("buy", "p90", 5_000_000_000),
        ResponseLimit("look", "p99.9", 250_000_000),
    )


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('headline = { title = "sales", transactions = ["bye"] }', "no script is called 'bye'"),
        ('headline = { title = "sales", transactions = ["other"] }', "does not run 'other'"),
        ('headline = { transactions = ["buy"] }', "title"),
        ('response_limits = { other = "p90 < 5s" }', "does not run 'other'"),
        ('response_limits = { buy = "p90 > 5s" }', "expected a percentile, < and a duration"),
        ('response_limits = { buy = "p42 < 5s" }', "expected a percentile, < and a duration"),
        ('headline = { transaction = ["buy"], title = "" }', "transactions is missing"),
        ('response_limits = { buy = "p90 < soon" }', "expected a number of seconds"),
        ('response_limits = { buy = "p90 < 5" }', "a duration with its unit"),
        ('response_limits = { buy = "p90 <= 5s" }', "expected a percentile, < and a duration"),
    ],
)
def test_a_mistake_is_placed(tmp_path: Path, line: str, complaint: str) -> None:
    with pytest.raises(ExperimentError) as refused:
        _read(tmp_path, line)
    assert complaint in str(refused.value)
    assert refused.value.line == 13 and refused.value.hint


S = 10**9
SPEED = """
[derived.speed]
title = "Speed"
help = "by the geometric mean"
test = "all"
scripts = ["buy", "look"]
value = "12.0 / :geometric_mean_s + :completed / :elapsed_s"
"""


def _observation(**of_look: int) -> Observation:
    def of_type(name: str, count: int, each_s: int) -> dict[str, Any]:
        times = observations.latency(count, each_s * S)
        beside = {"late": 0, "service_time": times, "schedule_lag": None}
        return {"name": name, "outcome": "ok", "count": count, "latency": times, **beside}

    return observations.observation(
        elapsed_ns=50 * S,
        outcomes_by_transaction=[
            {"name": "buy", **observations.outcomes(ok=4)},
            {"name": "look", **observations.outcomes(**{"ok": 1, **of_look})},
        ],
        transactions=[of_type("buy", 4, 2), of_type("look", 1, 8)],
        errors=[
            observations.error(transaction="look", code=STATEMENT_LIMIT)
            for _ in range(of_look.get("failed", 0))
        ],
    )


def _found(workload: reader.Workload, observation: Observation) -> DerivedValue:
    metrics = list(workload.derived.values())
    (found,) = service_levels.derived_values(metrics, observation, {}, workload.schema.file)
    return found


def test_a_metric_is_of_the_named_scripts(tmp_path: Path) -> None:
    found = _found(_read(tmp_path, SPEED), _observation())
    assert found.value == pytest.approx(12 / 4 + 5 / 50)


def test_there_is_none_where_a_transaction_did_not_end_ok(tmp_path: Path) -> None:
    """Its time would be missing in the mean, and the metric better for it."""
    workload = _read(tmp_path, SPEED)
    cancelled = _found(workload, _observation(failed=1))
    assert cancelled.value is None
    assert cancelled.why_none == "look: cancelled at the limit of a statement"
    unknown = _found(workload, _observation(unknown=1))
    assert (unknown.value, unknown.why_none) == (None, "look: not all ended ok")


@pytest.mark.parametrize("numerator", ["1.0", "1"])
def test_there_is_none_where_the_formula_divides_by_0(tmp_path: Path, numerator: str) -> None:
    divided = SPEED.replace("12.0", f"{numerator} / (:completed - :completed) + 12.0")
    found = _found(_read(tmp_path, divided), _observation())
    assert (found.value, found.why_none) == (None, "the formula has no value")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ((":geometric_mean_s", ":geometric_mean"), "nothing is called 'geometric_mean'"),
        (('"look"', '"other"'), "the test does not run 'other'"),
        (("12.0", "12.0 +"), "value|expression|expected"),
        (('test = "all"\n', ""), "scripts of no test"),
        (('help = "by', 'better = "most"\nhelp = "by'), "better"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, change: tuple[str, str], reason: str
) -> None:
    assert SPEED.count(change[0]) == 1
    with pytest.raises(ExperimentError, match=reason) as refused:
        _read(tmp_path, SPEED.replace(*change))
    assert refused.value.line

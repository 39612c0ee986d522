"""A plan has every run once, in a fair order, with its own seeds, generators and isolation; how
long it takes is forecast."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assay.contracts.events import Event, RunBegun, TimeNeeded
from assay.drive.prepare import Compiled
from assay.errors import ArgumentError, ExperimentError
from assay.experiment import Experiment, StorageChoice, SystemChoice, from_command_line
from assay.experiment.from_command_line import Words, experiment
from assay.lab import lab
from assay.lab.continuation import Request
from assay.lab.refusal import why_refused
from assay.plan import Plan, PlannedRun, plan
from assay.plan.forecast import CellTimes, Forecast
from assay.workload import reader
from assay.workload.ad_hoc_script import workload_of
from assay.workload.values import Workload
from step_workloads import folder_of

A, B = SystemChoice("a"), SystemChoice("b")


@pytest.fixture(scope="module")
def bibsql() -> Workload:
    return reader.read("bibsql")


def experiment_of(**given: Any) -> Experiment:
    return Experiment(**{"workload": "bibsql", "tests": ("parallel",), "systems": (A, B), **given})


@pytest.mark.parametrize("order", ["interleaved", "sequential"])
def test_every_cell_is_run_as_often_as_asked_with_the_same_choices_on_all_systems(
    bibsql: Workload, order: str
) -> None:
    asked = experiment_of(
        storages=(StorageChoice(), StorageChoice("tmpfs", "tmpfs")),
        clients=(1, 8, 32),
        parameters={"replicas": (1, 3)},
        repetitions=4,
        order=order,
    )
    runs = plan(asked, bibsql).runs
    counts = Counter(run.cell.fingerprint for run in runs)
    assert len(counts) == 2 * 2 * 3 * 2
    assert set(counts.values()) == {4}
    assert [run.position for run in runs] == list(range(len(runs)))
    work: dict[int, set[tuple[object, ...]]] = {}
    for run in runs:
        done = (run.cell.clients, run.cell.parameters["replicas"], run.repetition)
        work.setdefault(run.seed, set()).add(done)
    assert len(work) == 3 * 2 * 4
    assert all(len(done) == 1 for done in work.values())


def test_interleaved_systems_take_turns_and_none_is_always_first(bibsql: Workload) -> None:
    runs = plan(experiment_of(clients=(1, 8), repetitions=2), bibsql).runs
    order = [(run.repetition, run.cell.clients, run.cell.system.name) for run in runs]
    assert order == [
        (1, 1, "a"), (1, 1, "b"), (1, 8, "a"), (1, 8, "b"),
        (2, 8, "b"), (2, 8, "a"), (2, 1, "b"), (2, 1, "a"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "factor",
    [
        {"parameters": {"replicas": (1, 3)}},
        {"clients": (1, 8)},
        {
            "offered_rates_per_s": (10.0, 20.0),
            "driving": {"arrival": "poisson", "passes": None, "duration_s": 1.0},
        },
        {"levels": {"cache": ("cold", "warm")}},
        {"storages": (StorageChoice(), StorageChoice("tmpfs", "tmpfs"))},
        {"levels": {"memory": (1 << 30, 2 << 30)}},
    ],
    ids=lambda factor: next(iter(factor)),
)
@pytest.mark.parametrize("systems", [(A,), (A, B)], ids=len)
def test_two_levels_of_any_factor_take_turns(
    bibsql: Workload, factor: dict[str, Any], systems: tuple[SystemChoice, ...]
) -> None:
    """In each repetition and on each system: the first level before the second, then behind it."""
    repetitions = 4
    given = {"clients": (4,), "repetitions": repetitions, **factor}
    runs = plan(experiment_of(systems=systems, **given), bibsql).runs
    for system in systems:
        of_system = [run for run in runs if run.cell.system.name == system.name]
        first = of_system[0].cell.fingerprint
        turns = {run.repetition: run for run in reversed(of_system)}
        begins = [turns[turn].cell.fingerprint == first for turn in range(1, repetitions + 1)]
        assert begins == [True, False] * (repetitions // 2)


def test_sequential_ends_with_a_system_before_the_next(bibsql: Workload) -> None:
    runs = plan(experiment_of(clients=(1, 8), repetitions=2, order="sequential"), bibsql).runs
    assert [run.cell.system.name for run in runs] == ["a"] * 4 + ["b"] * 4
    assert [run.cell.clients for run in runs[:4]] == [1, 1, 8, 8]


def test_the_same_experiment_has_the_same_seeds_and_another_seed_others(bibsql: Workload) -> None:
    seeds = [run.seed for run in plan(experiment_of(), bibsql).runs]
    assert [run.seed for run in plan(experiment_of(), bibsql).runs] == seeds
    assert not {run.seed for run in plan(experiment_of(seed=2), bibsql).runs} & set(seeds)
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_a_password_is_no_part_of_a_cell(bibsql: Workload) -> None:
    first, second = (
        SystemChoice("a", url=f"x://user:{password}@host:5/db")
        for password in ("secret-1", "secret-2")
    )
    assert first.url_without_password == "x://user@host:5/db"
    assert "secret-1" not in repr(first) + first.label
    plans = [plan(experiment_of(systems=(one,)), bibsql) for one in (first, second)]
    assert plans[0].runs[0].cell.fingerprint == plans[1].runs[0].cell.fingerprint


def test_too_many_runs_are_refused() -> None:
    with pytest.raises(ArgumentError, match=r"20,000 runs are asked for \(2 cells, 10,000 rep"):
        asked = from_command_line.Words("tpcb", clients="1,2", repetitions=10_000)
        plan(*from_command_line.experiment(asked))
    many = ",".join(map(str, range(1, 2001)))
    with pytest.raises(ArgumentError, match=r"4,000,000 runs are asked for"):
        plan(
            *from_command_line.experiment(
                from_command_line.Words("tpcb", clients=many, set=(f"scale={many}",))
            )
        )
    with pytest.raises(ArgumentError, match=r"4,000,000 combinations: expected at most 10,000"):
        settings = (f"null.seed={many}", f"null.rows={many}")
        from_command_line.experiment(from_command_line.Words("tpcb", on=("null",), set=settings))


def plan_of(tmp_path: Path, **words: object) -> Plan:
    script = tmp_path / "one.sql"
    script.write_text("select 1;\n")
    asked, workload = experiment(Words(str(script), on=("null",), **words))  # type: ignore[arg-type]
    return plan(asked, workload)


def times(first_s: float | None, later_s: float | None = None, driven_s: float = 0.0) -> CellTimes:
    return CellTimes(first_s, later_s, driven_s)


def test_runs_that_end_by_counts_take_what_others_of_their_own_cell_took(tmp_path: Path) -> None:
    runs = plan_of(tmp_path, clients="1,32", transactions=10, repetitions=2).runs
    one, many = (run.cell.fingerprint for run in runs[:2])
    forecast = Forecast(runs)
    assert forecast.runs(runs) == TimeNeeded(0.0, is_known=False)
    forecast.learn({one: times(100.0, driven_s=90.0)})
    # 100 s say nothing of 32 clients; whether the second repetition loads again is not known.
    assert forecast.runs(runs[1:]) == TimeNeeded(90.0, is_known=False)
    forecast.learn({one: times(100.0, 91.0), many: times(3.0, 2.0)})
    assert forecast.runs(runs[2:]) == TimeNeeded(93.0, is_known=True)
    assert forecast.runs(runs) == TimeNeeded(196.0, is_known=True)
    assert forecast.runs([]) == TimeNeeded(0.0, is_known=True)


def test_runs_that_end_by_time_take_as_much_besides_as_others_of_the_test(tmp_path: Path) -> None:
    runs = plan_of(tmp_path, clients="1,2,4", duration_s=30.0).runs
    forecast = Forecast(runs)
    assert forecast.runs(runs) == TimeNeeded(90.0, is_known=False)
    forecast.learn({runs[0].cell.fingerprint: times(50.0)})
    assert forecast.runs(runs[1:]) == TimeNeeded(100.0, is_known=True)


def test_one_run_that_took_much_longer_does_not_count_besides(tmp_path: Path) -> None:
    """The median of an odd and of an even number of cells."""
    runs = plan_of(tmp_path, clients="1,2,4,8,16", duration_s=30.0).runs
    forecast = Forecast(runs)
    for run, whole_s in zip(runs, (40.0, 90.0, 50.0), strict=False):
        forecast.learn({run.cell.fingerprint: times(whole_s)})
    assert forecast.runs(runs[4:]) == TimeNeeded(50.0, is_known=True)
    forecast.learn({runs[3].cell.fingerprint: times(60.0)})
    assert forecast.runs(runs[4:]) == TimeNeeded(55.0, is_known=True)


class Expected:
    """Keeps what each run was expected to take; ends the experiment before a run."""

    def __init__(self, ends_before: int | None = None) -> None:
        self.needed: list[tuple[int, TimeNeeded, TimeNeeded]] = []
        self._ends_before = ends_before

    def __call__(self, event: Event) -> None:
        if not isinstance(event, RunBegun):
            return
        if event.position == self._ends_before:
            raise KeyboardInterrupt
        self.needed.append((event.position, event.own, event.after))


def test_an_experiment_that_goes_on_counts_the_runs_to_do_and_learns_from_those_kept(
    tmp_path: Path,
) -> None:
    """With invented durations: a run of one client took 1000 s, one of two clients 10 s."""
    script, records = tmp_path / "one.sql", tmp_path / "r.sqlite"
    script.write_text("select 1;\n")
    words = Words(str(script), on=("null",), clients="1,2", repetitions=3, transactions=5)
    asked, _ = experiment(words)
    request = Request({"file": "one"})
    with pytest.raises(KeyboardInterrupt):
        lab.run(asked, records=records, sinks=[Expected(ends_before=4)], request=request)
    invent = (
        "UPDATE runs SET ended_unix_ns = begun_unix_ns + 1000000000 * iif(clients = 1, 1000, 10)"
    )
    with sqlite3.connect(records) as connection:
        connection.execute(f"{invent} WHERE state = 'done'")
    connection.close()
    expected = Expected()
    lab.run(asked, records=records, sinks=[expected], request=request)
    assert expected.needed[0] == (4, TimeNeeded(1000.0, True), TimeNeeded(10.0, True))
    assert [position for position, *_ in expected.needed] == [4, 5]
    assert expected.needed[1][1:] == (TimeNeeded(10.0, True), TimeNeeded(0.0, True))


SERVER = "null[protocol=postgresql]"


def with_generators(target: str = "tpcb", **given: Any) -> list[tuple[PlannedRun, str | None]]:
    """Each run, and why it would be refused."""
    asked = {"on": (SERVER,), "clients": "4", **given}
    found, workload = experiment(Words(target, **asked))
    return [(run, why_refused(Compiled(workload), run)) for run in plan(found, workload).runs]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, None),
        ({"on": ("null",)}, "null works in the client's own process: 4 generators would be"),
        ({"on": ("sqlite",)}, "works in the client's own process"),
        ({"fleet": "https://h:1"}, "a fleet is ray://HOST:PORT; found 'https://h:1'"),
        ({"clients": "3"}, "4 generators cannot share 3 clients"),
        ({"target": "tpcc.paced", "clients": None, "on": ("postgresql",)}, "be in one process"),
        ({"target": "bibsql.parallel", "client_program": "native", "on": ("postgresql",)},
         "4 generators cannot drive a system's own client programs"),
    ],
)  # fmt: skip
def test_clients_that_cannot_be_distributed_are_refused_with_the_reason(
    given: dict[str, Any], reason: str | None
) -> None:
    ((_, refused),) = with_generators(generators="4", **given)
    assert refused is None if reason is None else reason in str(refused)


def test_scripts_whose_clients_share_numbers_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "next.sql"
    file.write_text("\\next n\nSELECT :n;\n")
    ((_, refused),) = with_generators("", script=(str(file),), generators="2")
    assert "clients share numbers (\\next)" in str(refused)


def test_what_to_do_about_a_loss_needs_generators() -> None:
    with pytest.raises(ArgumentError, match="one process drives all clients"):
        experiment(Words("tpcb", on=(SERVER,), on_lost="continue"))


TEST = 'scripts = ["write"]\ntransactions = 1\n'
LEVELS = 'isolation = { postgresql = "read committed", mysql = "serializable" }\n'
STEPS = f'[[tests.t.steps]]\ndo = "load"\n[[tests.t.steps]]\ndo = "drive"\n{LEVELS}'
EXPECTED = {"postgresql": "read committed", "mysql": "serializable", "sqlite": ""}


def levels_of(words: Words) -> dict[str, set[str]]:
    """System → the levels of its drives."""
    from assay.plan.drives import drives

    asked, _ = experiment(words)
    workload = workload_of(asked)
    found: dict[str, set[str]] = {}
    for run in plan(asked, workload).runs:
        of_run = {one.run.cell.driving.isolation_level for one in drives(workload, run)}
        found.setdefault(run.cell.system.name, set()).update(of_run)
    return found


@pytest.mark.parametrize("declared", [TEST + LEVELS, TEST + STEPS], ids=["test", "step"])
def test_each_system_has_its_own_level(tmp_path: Path, declared: str) -> None:
    folder = str(folder_of(tmp_path, declared))
    levels = levels_of(Words(folder, on=tuple(EXPECTED)))
    assert levels == {name: {level} for name, level in EXPECTED.items()}


def test_a_cell_is_the_same_as_with_the_level_alone(tmp_path: Path) -> None:
    each = folder_of(tmp_path / "w", TEST + LEVELS)
    asked, _ = experiment(Words(str(each), on=("mysql",)))
    (of_each,) = plan(asked, workload_of(asked)).runs
    folder_of(tmp_path / "w", TEST + 'isolation = "serializable"\n')
    (of_all,) = plan(asked, workload_of(asked)).runs
    assert of_each.cell.fingerprint == of_all.cell.fingerprint


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ('{ mysqll = "serializable" }', "unknown system 'mysqll'"),
        ('{ mysql = "serialisable" }', "mysql = 'serialisable': invalid value"),
        ("{}", "isolation names no system"),
    ],
)
def test_mistakes_are_refused(tmp_path: Path, levels: str, message: str) -> None:
    folder = folder_of(tmp_path, f"{TEST}isolation = {levels}\n")
    with pytest.raises(ExperimentError) as caught:
        reader.read(str(folder))
    assert message in caught.value.message

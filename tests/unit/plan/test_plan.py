"""A plan has every run once, in a fair order, with its own seeds."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from assay.errors import ArgumentError
from assay.experiment import Experiment, StorageChoice, SystemChoice, from_command_line
from assay.plan import plan
from assay.workload import reader
from assay.workload.values import Workload

A, B = SystemChoice("a"), SystemChoice("b")


@pytest.fixture(scope="module")
def bibsql() -> Workload:
    return reader.read("bibsql")


def experiment(**given: Any) -> Experiment:
    return Experiment(**{"workload": "bibsql", "tests": ("parallel",), "systems": (A, B), **given})


@pytest.mark.parametrize("order", ["interleaved", "sequential"])
def test_every_cell_is_run_as_often_as_asked(bibsql: Workload, order: str) -> None:
    asked = experiment(
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


def test_all_systems_and_storages_make_the_same_random_choices(bibsql: Workload) -> None:
    asked = experiment(
        storages=(StorageChoice(), StorageChoice("tmpfs", "tmpfs")),
        clients=(1, 8),
        parameters={"replicas": (1, 3)},
        repetitions=4,
    )
    work: dict[int, set[tuple[object, ...]]] = {}
    for run in plan(asked, bibsql).runs:
        cell = run.cell
        done = (cell.clients, cell.parameters["replicas"], run.repetition)
        work.setdefault(run.seed, set()).add(done)
    assert len(work) == 2 * 2 * 4
    assert all(len(done) == 1 for done in work.values())


def test_interleaved_systems_take_turns_and_none_is_always_first(bibsql: Workload) -> None:
    runs = plan(experiment(clients=(1, 8), repetitions=2), bibsql).runs
    order = [(run.repetition, run.cell.clients, run.cell.system.name) for run in runs]
    assert order == [
        (1, 1, "a"), (1, 1, "b"), (1, 8, "a"), (1, 8, "b"),
        (2, 8, "b"), (2, 8, "a"), (2, 1, "b"), (2, 1, "a"),
    ]  # fmt: skip


def test_two_scripts_take_turns(tmp_path: Path) -> None:
    """A B, B A, as the guide promises, so that none always follows the other."""
    names = ("a.sql", "b.sql")
    for name in names:
        (tmp_path / name).write_text("SELECT 1;\n")
    words = from_command_line.Words(
        ",".join(str(tmp_path / name) for name in names), on=("null",), repetitions=4
    )
    runs = plan(*from_command_line.experiment(words)).runs
    assert [run.cell.test_name for run in runs] == [*names, *names[::-1]] * 2


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
    runs = plan(experiment(systems=systems, **given), bibsql).runs
    for system in systems:
        of_system = [run for run in runs if run.cell.system.name == system.name]
        first = of_system[0].cell.fingerprint
        turns = {run.repetition: run for run in reversed(of_system)}
        begins = [turns[turn].cell.fingerprint == first for turn in range(1, repetitions + 1)]
        assert begins == [True, False] * (repetitions // 2)


def test_sequential_ends_with_a_system_before_the_next(bibsql: Workload) -> None:
    runs = plan(experiment(clients=(1, 8), repetitions=2, order="sequential"), bibsql).runs
    assert [run.cell.system.name for run in runs] == ["a"] * 4 + ["b"] * 4
    assert [run.cell.clients for run in runs[:4]] == [1, 1, 8, 8]


def test_a_test_has_its_own_defaults(bibsql: Workload) -> None:
    runs = plan(experiment(tests=("sequential", "limit"), systems=(A,)), bibsql).runs
    sequential, limit = (run.cell for run in runs)
    assert (sequential.clients, limit.clients) == (1, 256)
    assert sequential.parameters["copies"] == 100
    assert "copies" not in limit.parameters


def test_the_same_experiment_has_the_same_seeds_and_another_seed_others(bibsql: Workload) -> None:
    seeds = [run.seed for run in plan(experiment(), bibsql).runs]
    assert [run.seed for run in plan(experiment(), bibsql).runs] == seeds
    assert not {run.seed for run in plan(experiment(seed=2), bibsql).runs} & set(seeds)
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_a_password_is_no_part_of_a_cell(bibsql: Workload) -> None:
    first, second = (
        SystemChoice("a", url=f"x://user:{password}@host:5/db")
        for password in ("secret-1", "secret-2")
    )
    assert first.url_without_password == "x://user@host:5/db"
    assert "secret-1" not in repr(first) + first.label
    plans = [plan(experiment(systems=(one,)), bibsql) for one in (first, second)]
    assert plans[0].runs[0].cell.fingerprint == plans[1].runs[0].cell.fingerprint


def test_connections_are_those_of_the_largest_run(bibsql: Workload) -> None:
    assert plan(experiment(clients=(4, 64, 16)), bibsql).connections_needed(A) == 64


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

"""A plan has every run once, in a fair order, with its own seeds."""

from __future__ import annotations

from collections import Counter
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
        (2, 1, "b"), (2, 1, "a"), (2, 8, "b"), (2, 8, "a"),
    ]  # fmt: skip


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

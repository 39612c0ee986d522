"""The monitor of grid jobs: its numbers are exact at every scale, and all systems answer alike."""

from __future__ import annotations

import csv
import io
import math
import statistics
from collections import Counter
from collections.abc import Iterable

import pytest

from able import able_to_run, beside_their_line
from assay.contracts.observation import Observation
from assay.record import Run
from assay.report.build import build
from commands import IN_MEMORY, Assay, why_missing

END = "2013-10-14 00:00:00"
LAST_DAY = "2013-10-13 00:00:00"
WINDOW = "2013-09-30 00:00:00"


def rows(assay: Assay, table: str, scale: float, *words: str) -> list[dict[str, str]]:
    ended = assay("generate", "glidemon", "--table", table, "--set", f"scale={scale}", *words)
    assert ended.status == 0, ended.err
    return list(csv.DictReader(io.StringIO(ended.out)))


@pytest.mark.parametrize(("scale", "seed"), [(0.001, 1), (0.0137, 5)])
def test_counts_are_exact_at_every_scale(assay: Assay, scale: float, seed: int) -> None:
    tasks = rows(assay, "tasks", scale, "--set", f"data_seed={seed}")
    jobs = rows(assay, "jobs", scale, "--set", f"data_seed={seed}")
    type_of = {task["task_id"]: task["type"] for task in tasks}
    window = [row for row in jobs if row["last_update"] >= WINDOW]
    analysis = [row for row in window if type_of[row["task_id"]] == "analysis"]
    recent = [task for task in tasks if task["updated"] >= WINDOW]
    assert len(jobs) == round(14_000_000 * scale)
    assert len(window) == round(2_200_000 * scale)
    assert len(analysis) == round(2_000_000 * scale)
    assert sum(row["last_update"] >= LAST_DAY for row in analysis) == round(70_000 * scale)
    assert len(recent) == max(251, round(5_000 * scale))
    assert len({task["user_id"] for task in recent}) == 251
    assert max(row["last_update"] for row in jobs) < END
    days = Counter(row["last_update"][:10] for row in analysis if row["last_update"] < LAST_DAY)
    mean = sum(days.values()) / 13
    assert len(days) == 13
    assert all(abs(count - mean) <= 0.16 * mean + 1 for count in days.values())


def test_copied_fields_are_those_of_the_rows_they_are_copied_from(assay: Assay) -> None:
    """Documents and the tables of CQL say of each job what the joined tables say."""
    scale = 0.001
    users = {one["user_id"]: one["name"] for one in rows(assay, "users", scale)}
    sites = {one["site_id"]: one["name"] for one in rows(assay, "sites", scale)}
    states = {one["state_id"]: one["name"] for one in rows(assay, "states", scale)}
    tasks = {one["task_id"]: one for one in rows(assay, "tasks", scale)}
    joined = []
    for row in rows(assay, "jobs", scale):
        task = tasks[row["task_id"]]
        names = {
            "user_name": users[task["user_id"]],
            "task": task["name"],
            "state": states[row["state_id"]],
            "site": sites[row["site_id"]],
        }
        joined.append({**task, **row, **names})
    for table in ("job_records", "jobs_by_user", "jobs_by_state", "jobs_by_task"):
        copies = rows(assay, table, scale)
        assert copies == [{name: one[name] for name in copies[0]} for one in joined], table


def test_jobs_of_tasks_and_users_are_spread_as_published(assay: Assay) -> None:
    """Without jobs: their numbers stand in the tasks. At scale 1 the median user has about 1,200
    jobs in 14 days, and 95 % have fewer than 32,000."""
    tasks = [one for one in rows(assay, "tasks", 1) if one["updated"] >= WINDOW]
    sizes = [int(task["n_jobs"]) for task in tasks]
    assert (len(sizes), sum(sizes)) == (5_000, 2_200_000)
    assert (min(sizes) >= 1, max(sizes) <= 10_000) == (True, True)
    assert statistics.stdev(map(math.log, sizes)) == pytest.approx(1.5, abs=0.15)
    of_user: Counter[str] = Counter()
    for task in tasks:
        of_user[task["user_id"]] += int(task["n_jobs"])
    assert len(of_user) == 251
    assert 500 < statistics.median(of_user.values()) < 3_000
    assert 15_000 < statistics.quantiles(of_user.values(), n=20)[-1] < 60_000


TESTS = "glidemon.aggregate,tasks,count,materialize,page,failures"


def answers(runs: Iterable[Run]) -> dict[tuple[str, int, str], set[tuple[int, str]]]:
    """(test, clients, question) → every different answer, as its number of rows and its digest."""
    sums: dict[tuple[str, int, str], set[tuple[int, str]]] = {}
    for run in runs:
        assert isinstance(run.observation, Observation)
        for one in run.observation.answer_sums:
            key = (run.test, run.clients, one.transaction)
            sums.setdefault(key, set()).add((one.rows, one.digest))
    return sums


def test_every_system_answers_each_question_with_the_rows_of_another(
    assay: Assay, request: pytest.FixtureRequest
) -> None:
    """With warm caches alone: a server that is started again for each cold run answers nothing
    else. A system of documents stands beside those of SQL."""
    able = [*able_to_run(TESTS), "ferretdb"]
    left = [] if request.config.getoption("--every-system") else beside_their_line(able)
    systems = [name for name in able if name not in left and why_missing(name) is None]
    ended = assay(
        "run", TESTS, "--on", ",".join(systems), "--set", "scale=0.0005", "--set", "queries=20",
        "--clients", "1", "--cache", "warm", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert len(systems) > 1, "nothing to compare with"
    refused = [(run.system, run.test) for run in ended.runs if run.state != "done"]
    assert refused == [("ferretdb", "materialize")] * ("ferretdb" in systems)
    sums = answers(run for run in ended.runs if run.state == "done")
    assert all(len(found) == 1 for found in sums.values())
    (asked,) = sums["tasks", 1, "tasks"]
    assert asked[0] > 20, "a list has a row for each task and state"
    of_all_jobs = {found for key, found in sums.items() if key[0] == "count" for found in found}
    assert {count for count, _ in of_all_jobs} == {3}


def test_answers_do_not_depend_on_how_many_clients_share_the_list(assay: Assay) -> None:
    ended = assay(
        "run", "glidemon.tasks", "--on", "sqlite", "--set", "scale=0.001", "--set", "queries=40",
        "--clients", "1,4", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    one, four = ended.runs
    assert one.driven is not None
    assert four.driven is not None
    assert one.driven.answer_sums == four.driven.answer_sums
    report = build(ended.experiment)
    tables = {table.name: table for section in report.sections for table in section.tables}
    (row,) = tables["tasks"].rows
    scalability = row.cells[3].number
    assert scalability is not None
    expected = one.driven.elapsed_ns / four.driven.elapsed_ns / 4
    assert scalability.value == pytest.approx(expected)
    beside = [row.cells[1].shown for row in tables["response"].rows]
    assert beside[:2] == ["sqlite", "sqlite"]
    assert all(name.endswith(", published") for name in beside[2:]), "of other numbers of clients"


def test_rows_of_a_series_without_a_level_stand_beside_any_scale(assay: Assay) -> None:
    ended = assay("run", "glidemon.table", "--on", "sqlite", "--set", "scale=0.001", *IN_MEMORY)
    assert ended.status == 0, ended.err
    report = build(ended.experiment)
    (table,) = [one for section in report.sections for one in section.tables if one.name == "table"]
    systems = [row.cells[1].shown for row in table.rows]
    assert systems[0] == "sqlite"
    assert all(cell.number for cell in table.rows[0].cells[2:]), "cold and warm, in one row"
    assert len(systems) == 1 + 9
    assert systems[-1] == "MongoDB, Workstation (hdd, 12GB), published"


@pytest.mark.parametrize("system", ["sqlite", "postgresql"])
def test_each_query_is_cold_by_itself(assay: Assay, system: str) -> None:
    """Each one reads its rows from the device: none finds what another one has read."""
    if (why := why_missing(system)) is not None:
        pytest.skip(why)
    ended = assay("run", "glidemon.aggregate", "--on", system, "--set", "scale=0.003")
    assert ended.status == 0, ended.err
    cold, warm = ended.runs
    assert cold.driven is not None and warm.driven is not None
    assert cold.deployment is not None and cold.driven.cache_state is not None
    assert cold.driven.cache_state.done[-1] == "before each of 14 scripts"
    assert ended.out.count("empty the caches") + ended.err.count("empty the caches") == 14
    assert cold.driven.answer_sums == warm.driven.answer_sums
    assert [one.count for one in cold.driven.transactions] == [1] * 14
    times = sum(one.latency.sum_ns for one in cold.driven.transactions)
    assert times <= cold.driven.elapsed_ns, "of the queries, not of the restarts between them"
    if cold.deployment.storage.file_system == "tmpfs":
        pytest.skip("the data are in memory")
    at = [one.at_s for one in cold.samples]
    assert at == sorted(at) and len(at) >= 2 * 14, "two of each query, in their order"
    if system == "sqlite":  # one cold start for all would read each page once at the most
        # Of the samples: what is interpolated between them is less where these come late.
        first, last = cold.samples[0].sample.read_bytes, cold.samples[-1].sample.read_bytes
        assert first is not None and last is not None
        assert last - first > 1.3 * file_bytes(warm)


def file_bytes(warm: Run) -> int:
    assert warm.driven is not None and warm.driven.cache_state is not None
    return warm.driven.cache_state.file_bytes or 0

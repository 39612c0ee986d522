"""Servers that die, connection limits, many clients: the run ends with the reason."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import psutil
import pytest

from able import one_of_each_line
from assay.contracts.observation import LimitReport, UpdateReport
from assay.record import DEFAULT_FILE_NAME, Store
from assay.report.sections.outcomes import OUTCOMES
from commands import IN_MEMORY, Assay, need, why_missing
from running import server_of, started, wait_for_state
from servers import SERVERS


@pytest.mark.parametrize("system", one_of_each_line(SERVERS))
def test_a_killed_server_fails_its_run_and_leaves_the_others(
    working_folder: Path, beebe: Path, assay: Assay, system: str
) -> None:
    need(system)
    words = ("--on", system, "--bib", str(beebe / "texbook1.bib"), *IN_MEMORY)
    assert assay("run", "bibsql", *words).status == 0
    endless = ("run", "bibsql.sequential", *words, "--set", "copies=100000")
    with started(working_folder, *endless) as running:
        wait_for_state(working_folder, "driving")
        time.sleep(1)
        server_of(running).kill()
        out, err = running.communicate()
    assert running.returncode == 3, err
    with Store(working_folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        first, last = store.experiment(1).runs[0], store.experiment(2).runs[0]
    assert first.state == "done"
    assert last.state == "failed"
    assert "SIGKILL" in last.reason
    assert last.driven is not None
    outcomes = last.driven.outcomes
    assert outcomes.scheduled == sum(getattr(outcomes, name) for name in OUTCOMES)
    assert last.driven.ended_by == "lost"
    # Assay may see that the server has ended before the client's session does; it then stops the
    # client between two statements, and there is no error.
    ends = {client.state for client in last.driven.client_ends}
    assert ends <= {"lost", "interrupted"}
    assert last.driven.errors or ends == {"interrupted"}
    assert "SIGKILL" in out


@pytest.mark.parametrize("system", one_of_each_line(SERVERS))
def test_the_server_of_a_killed_assay_is_removed_at_the_next_start(
    working_folder: Path, beebe: Path, assay: Assay, system: str
) -> None:
    need(system)
    words = ("--on", system, "--bib", str(beebe / "texbook1.bib"))
    endless = ("run", "bibsql.sequential", *words, "--set", "copies=100000")
    with started(working_folder, *endless) as running:
        wait_for_state(working_folder, "driving")
        server = server_of(running)
        running.kill()
        running.communicate()
    ended = assay("run", "bibsql", "--on", "sqlite", "--bib", beebe / "texbook1.bib")
    assert ended.status == 0, ended.err
    assert not server.is_running() or server.status() == psutil.STATUS_ZOMBIE
    with Store(working_folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        assert store.experiment(1).runs[0].state == "interrupted"


@pytest.mark.parametrize("system", one_of_each_line(SERVERS))
def test_ctrl_c_takes_the_server_down(working_folder: Path, beebe: Path, system: str) -> None:
    need(system)
    words = ("--on", system, "--bib", str(beebe / "texbook1.bib"), "--set", "copies=100000")
    with started(working_folder, "run", "bibsql.sequential", *words) as running:
        wait_for_state(working_folder, "driving")
        server = server_of(running)
        running.send_signal(signal.SIGINT)
        _, err = running.communicate()
    assert running.returncode == 130, err
    assert "Traceback" not in err
    assert not server.is_running()
    with Store(working_folder / DEFAULT_FILE_NAME, must_exist=True) as store:
        assert store.latest().runs[0].state == "interrupted"


@pytest.mark.parametrize("system", one_of_each_line(SERVERS))
def test_256_clients_run_to_the_end(assay: Assay, beebe: Path, system: str) -> None:
    need(system)
    ended = assay(
        "run", "bibsql.parallel", "--on", system, "--clients", "256",
        "--bib", beebe / "texbook1.bib", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert run.driven is not None
    assert run.driven.outcomes.ok == 256 * 28
    assert len(run.driven.client_ends) == 256
    for result in run.driven.results:
        assert (result.answers, result.differing) == (256, 0)


@pytest.mark.parametrize(
    ("system", "limit", "refused_at"),
    [
        ("postgresql", 100, 98),
        ("mariadb", 151, 152),
        pytest.param("mysql", 151, 152, marks=pytest.mark.same_line),
    ],
)
def test_the_first_refused_client_is_found(
    assay: Assay, system: str, limit: int, refused_at: int
) -> None:
    """PostgreSQL keeps three of its hundred for superusers, unless the session is one."""
    need(system)
    ended = assay("run", "bibsql.limit", "--on", system, "--clients", "256", *IN_MEMORY)
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert isinstance(run.observation, LimitReport)
    default, raised = run.observation.default, run.observation.raised
    assert default.limit == limit
    assert default.refused_at is not None and refused_at <= default.refused_at <= limit + 2
    assert default.error is not None and default.error.class_ == "too many connections"
    assert (raised.opened, raised.refused_at) == (256, None)


def test_an_update_equals_a_fresh_load(
    assay: Assay, beebe: Path, available: list[str], tmp_path: Path
) -> None:
    documents = [] if why_missing("ferretdb") else ["ferretdb"]
    few = tmp_path / "few"
    few.mkdir()
    for name in ("serif", "texgraph", "texjourn", "texnique", "type"):
        (few / f"{name}.bib").symlink_to(beebe / f"{name}.bib")
    ended = assay(
        "run", "bibsql.update", "--on", ",".join([*available, *documents]), "--bib", few,
        "--set", "mariadb.engine=InnoDB,MyISAM", "--set", "changed=3", "--set", "vanished=1",
        *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    for run in ended.runs:
        assert isinstance(run.observation, UpdateReport)
        assert run.observation.equals_fresh_load is True
        assert run.observation.changed_files == 3
        assert run.observation.deleted_rows > 0


def test_after_several_updates_the_tables_equal_a_fresh_load_and_have_grown(
    assay: Assay, beebe: Path
) -> None:
    need("postgresql")
    ended = assay(
        "run", "bibsql.update", "--on", "sqlite,postgresql", "--bib", beebe / "texbook3.bib",
        "--set", "updates=3", *IN_MEMORY,
    )  # fmt: skip
    assert ended.status == 0, ended.err
    for run in ended.runs:
        found = run.observation
        assert isinstance(found, UpdateReport)
        assert (found.updates, found.changed_files) == (3, 3)
        assert found.equals_fresh_load is True
        assert found.loaded_bytes and found.updated_bytes
        # PostgreSQL keeps what was deleted until a VACUUM.
        assert run.system == "sqlite" or found.updated_bytes > 2 * found.loaded_bytes


def test_an_update_takes_entries_without_a_comma_after_their_last_field(
    assay: Assay, working_folder: Path
) -> None:
    entries = (
        f"@misc{{k{number},\n  year = 19{number}, title = {{T}}\n}}\n" for number in range(70, 74)
    )
    (working_folder / "plain.bib").write_text("\n".join(entries))
    ended = assay("run", "bibsql.update", "--on", "sqlite", "--bib", "plain.bib")
    assert ended.status == 0, ended.err
    (run,) = ended.runs
    assert isinstance(run.observation, UpdateReport)
    assert run.observation.equals_fresh_load is True


def test_format_json_is_one_document(assay: Assay, beebe: Path) -> None:
    ended = assay(
        "run", "bibsql", "--on", "sqlite", "--bib", beebe / "texbook1.bib", "--format", "json"
    )
    assert json.loads(ended.out)["experiment"]["id"] == 1

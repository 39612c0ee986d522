"""On a foreign server, tables of a killed Assay are replaced and those of others are kept."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from able import one_of_each_line
from assay import registry
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Table
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import SessionLimit
from assay.load import tables
from assay.provision.engine.engine_calls import session
from assay.systems import System
from commands import Assay, need
from running import started
from servers import ask, provisioned, url_of

SYSTEMS = [
    name
    for name in registry.systems()
    if registry.system(name).dialect.language == "sql"
    and registry.system(name).dialect.marks_query("")
]
RUN = ("run", "tpcb", "--clients", "1", "--warm-up", "0")
TABLE = "pgbench_tellers"


@pytest.fixture(params=one_of_each_line(SYSTEMS))
def system(request: pytest.FixtureRequest) -> System:
    need(request.param)
    return registry.system(request.param)


@pytest.fixture
def url(system: System, storage: StorageFacts, working_folder: Path) -> Iterator[str]:
    """The URL of a server, or of a file, that Assay did not create."""
    if not isinstance(system, SessionLimit):
        file = working_folder / "theirs.db"
        with provisioned(system, storage) as deployment:
            made = deployment.address.file
            assert made is not None
            shutil.copyfile(made, file)
        yield f"{system.url_schemes[0]}:///{file}"
        return
    with provisioned(system, storage, options={"transport": "tcp"}) as deployment:
        yield url_of(system, deployment)


def reached(system: System, url: str) -> Deployment:
    with system.attach(SystemChoice(system.name, url=url)) as deployment:
        return deployment


def kill_while_it_drives(url: str, working_folder: Path) -> None:
    with started(working_folder, *RUN, "--on", url, "--duration", "100") as process:
        output = ""
        for line in process.stderr:
            output += line
            if line.startswith("  drive"):
                process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, output


def test_only_tables_of_a_killed_assay_are_replaced(
    system: System, url: str, assay: Assay, working_folder: Path
) -> None:
    kill_while_it_drives(url, working_folder)
    deployment = reached(system, url)
    assert ask(deployment, f"SELECT count(*) FROM {TABLE}") == [("10",)]
    again = assay(*RUN, "--on", url, "--transactions", "1")
    assert again.status == 0, again.err
    warned = next(line for line in again.err.splitlines() if line.startswith("warning: "))
    assert "tables of an Assay that was killed: " in warned
    assert TABLE in warned
    with pytest.raises(Exception, match=TABLE):
        ask(deployment, f"SELECT 1 FROM {TABLE}")

    ask(deployment, f"CREATE TABLE {TABLE} (mine INTEGER)")
    ask(deployment, f"INSERT INTO {TABLE} VALUES (7)")
    refused = assay(*RUN, "--on", url, "--transactions", "1")
    assert refused.status == 2
    assert f"holds a table {TABLE} already" in refused.err
    assert ask(deployment, f"SELECT mine FROM {TABLE}") == [("7",)]
    ask(deployment, f"DROP TABLE {TABLE}")


def test_tables_of_an_assay_that_may_be_running_are_kept(
    system: System, url: str, assay: Assay
) -> None:
    deployment = reached(system, url)
    elsewhere = "loaded by Assay: host far-away, process 1 2 3"
    for text, named in (
        (tables.mark_of_process(), f"process {os.getpid()}"),
        (elsewhere, "far-away"),
    ):
        made = system.dialect.create_marked_table(_tellers(), deployment.options, text)
        with session(deployment.address) as opened:
            for statement in made:
                opened.execute(statement)
        refused = assay(*RUN, "--on", url, "--transactions", "1")
        assert (refused.status, named in refused.err) == (2, True), refused.err
        assert ask(deployment, f"SELECT count(*) FROM {TABLE}") == [("0",)]
        ask(deployment, f"DROP TABLE {TABLE}")


def test_tables_that_cannot_all_be_dropped_are_all_kept(
    storage: StorageFacts, assay: Assay, working_folder: Path
) -> None:
    system = _postgresql()
    with provisioned(system, storage, options={"transport": "tcp"}) as deployment:
        url = url_of(system, deployment)
        kill_while_it_drives(url, working_folder)
        ask(deployment, "CREATE VIEW mine AS SELECT count(*) FROM pgbench_accounts")
        refused = assay(*RUN, "--on", url, "--transactions", "1")
        assert refused.status == 2, refused.err
        assert "cannot be dropped" in refused.err
        assert "view mine depends on" in refused.err
        assert "CASCADE" not in refused.err
        for table in ("branches", "tellers", "accounts", "history"):
            ask(deployment, f"SELECT count(*) FROM pgbench_{table}")


def test_a_table_that_the_user_may_not_read_is_reported_with_a_fix(
    storage: StorageFacts, assay: Assay
) -> None:
    system = _postgresql()
    with provisioned(system, storage, options={"transport": "tcp"}) as deployment:
        ask(deployment, "CREATE TABLE pgbench_branches (mine INTEGER)")
        ask(deployment, "CREATE ROLE guest LOGIN PASSWORD 'g'")
        to = deployment.address
        url = f"{system.url_schemes[0]}://guest:g@{to.host}:{to.port}/{to.database}"
        refused = assay(*RUN, "--on", url, "--transactions", "1")
        assert refused.status == 2, refused.err
        assert "may not read the table pgbench_branches" in refused.err
        assert "log in as a user who may create tables there" in refused.err


def _postgresql() -> System:
    need("postgresql")
    return registry.system("postgresql")


def _tellers() -> Table:
    from assay.workload import reader

    tables = reader.read("tpcb").tables_for(reader.read("tpcb").with_defaults({}))
    return next(one for one in tables if one.name == TABLE)


def test_a_script_that_makes_its_own_tables_is_reported_with_the_protocol_to_use(
    storage: StorageFacts, assay: Assay, working_folder: Path
) -> None:
    system = _postgresql()
    text = "BEGIN; CREATE TEMP TABLE t (a int) ON COMMIT DROP; INSERT INTO t VALUES (1); COMMIT;"
    (working_folder / "own.sql").write_text(text)
    with provisioned(system, storage, options={"transport": "tcp"}) as deployment:
        run = ("run", "own.sql", "--on", url_of(system, deployment), "--transactions", "1")
        failed = assay(*run, "--protocol", "prepared")
        assert (failed.status, "--protocol extended" in failed.err) == (1, True), failed.err
        assert assay(*run, "--protocol", "extended").status == 0

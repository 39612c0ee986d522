"""Clients behind a pooler in transaction mode, and behind a balancer over several servers: who
answers is known, and said."""

from __future__ import annotations

import itertools
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

import servers
from assay import registry
from assay.contracts.deployment import Deployment
from assay.provision import processes
from assay.provision.directory import server_directory
from assay.provision.machine.ports import free_port
from commands import Assay, need
from programs import PGBOUNCER, PGPOOL, need_program

SYSTEM = registry.system("postgresql")
TCP = {"transport": "tcp"}


@pytest.fixture(scope="module")
def server() -> Iterator[Deployment]:
    need("postgresql")
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(SYSTEM, storage, options=TCP) as deployment,
    ):
        servers.ask(deployment, "CREATE TABLE goods AS SELECT generate_series(1, 10) AS id")
        yield deployment


@contextmanager
def pgbouncer(server: Deployment, mode: str = "transaction") -> Iterator[str]:
    """The URL of a pooler that gives each transaction, or each session, one of two sessions of the
    server."""
    program, port, to = need_program(PGBOUNCER), free_port(), server.address
    with servers.directory_for_servers() as storage, server_directory(storage) as directory:
        configuration = directory.run / "pgbouncer.ini"
        configuration.write_text(
            f"""
            [databases]
            postgres = host={to.host} port={to.port} user={to.user} password={to.password}
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = {port}
            unix_socket_dir =
            auth_type = any
            pool_mode = {mode}
            default_pool_size = 2
            max_client_conn = 300
            """.replace("            ", "")
        )
        configuration.chmod(0o644)
        with processes.start_server([program, configuration], directory) as running:
            running.wait_ready(lambda: None if _listens(port) else "it does not listen yet")
            yield f"postgresql://reader@127.0.0.1:{port}/postgres"


@contextmanager
def pgpool(server: Deployment) -> Iterator[str]:
    """The URL of a pooler that gives clients the ids of the server's own sessions."""
    program, port, to = need_program(PGPOOL), free_port(), server.address
    with servers.directory_for_servers() as storage, server_directory(storage) as directory:
        users, configuration = directory.run / "pool_passwd", directory.run / "pgpool.conf"
        users.write_text(f"{to.user}:TEXT{to.password}\n")
        configuration.write_text(
            f"""
            backend_clustering_mode = 'raw'
            backend_hostname0 = '{to.host}'
            backend_port0 = {to.port}
            listen_addresses = '127.0.0.1'
            port = {port}
            pcp_port = {free_port()}
            socket_dir = '{directory.run}'
            unix_socket_directories = '{directory.run}'
            logdir = '{directory.run}'
            pcp_socket_dir = '{directory.run}'
            pid_file_name = '{directory.run}/pgpool.pid'
            work_dir = '{directory.run}'
            pool_passwd = '{users}'
            allow_clear_text_frontend_auth = on
            num_init_children = 12
            max_pool = 1
            sr_check_period = 0
            """.replace("            ", "")
        )
        for file in (users, configuration):
            file.chmod(0o644)
        with processes.start_server([program, "-n", "-f", configuration], directory) as running:
            running.wait_ready(lambda: None if _listens(port) else "it does not listen yet")
            yield f"postgresql://{to.user}:{to.password}@127.0.0.1:{port}/postgres"


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def test_a_pooler_is_named_with_what_to_do(
    server: Deployment, assay: Assay, working_folder: Path
) -> None:
    (working_folder / "r.sql").write_text("SELECT count(*) FROM goods WHERE id > 1;\n")
    common = ("run", "r.sql", "--clients", "8", "--transactions", "50", "--on")
    with pgbouncer(server) as url:
        ended = assay(*common, url, "--protocol", "simple")
        assert ended.status == 0, ended.err
        assert "verdict      unreliable: " in ended.out
        # The first look shortens its reasons where the busy machine adds others.
        said = " ".join(assay("report", "--detail").out.split())
        assert "there is a pooler or proxy between" in said
        assert "--protocol simple, or set the pooler's max_prepared_statements" in said
        (working_folder / "r.sql").write_text("SELECT pg_sleep(0.005);\n")
        prepared = assay(*common, url, "--protocol", "prepared")
        # On a busy machine it may be enough that each statement is prepared once more.
        fix = "take the simple protocol, or set its max_prepared_statements"
        assert (fix if prepared.status else "prepared-again") in " ".join(prepared.out.split())
    direct = assay(*common, servers.url_of(SYSTEM, server))
    assert direct.status == 0 and "pooler" not in direct.out


def test_a_pooler_that_passes_ids_of_sessions_on_is_named_in_runs_that_write(
    server: Deployment, assay: Assay, working_folder: Path
) -> None:
    servers.ask(server, "CREATE TABLE IF NOT EXISTS changes (id int)")
    (working_folder / "w.sql").write_text("INSERT INTO changes VALUES (1);\n")
    (working_folder / "r.sql").write_text("SELECT count(*) FROM goods WHERE id > 1;\n")
    common = ("--clients", "4", "--transactions", "20", "--warm-up", "0", "--on")
    with pgpool(server) as url:
        for script in ("w.sql", "r.sql"):
            ended = assay("run", script, *common, url)
            assert ended.status == 0, ended.err
            assert "behind pooler" in " ".join(ended.out.split())
            (warning,) = (one for one in ended.runs[0].warnings if one.name == "behind-pooler")
            assert "Pgpool-II 4" in warning.detail
    direct = assay("run", "w.sql", *common, servers.url_of(SYSTEM, server))
    assert direct.status == 0 and "pooler" not in direct.out


def test_clients_for_whom_a_pooler_has_no_session_are_not_answered_by_another_server(
    server: Deployment, assay: Assay, working_folder: Path
) -> None:
    (working_folder / "r.sql").write_text("SELECT count(*) FROM goods;\n")
    with pgbouncer(server, "session") as url:
        ended = assay("run", "r.sql", "--clients", "4", "--on", f"{url}?connect_timeout=3")
    said = " ".join(ended.out.split())
    assert ended.status == 1, said
    assert "its first statement was not answered within 3s: a pooler" in said
    assert "several-servers" not in said
    (run,) = ended.runs
    assert run.driven is not None
    assert [server.sessions for server in run.driven.servers] == [2]


def test_the_limit_of_the_server_is_not_taken_for_that_of_the_pooler(
    server: Deployment, assay: Assay, working_folder: Path
) -> None:
    """The pooler lets in more clients than the server has sessions."""
    most = int(servers.ask(server, "SHOW max_connections")[0][0] or 0)
    (working_folder / "r.sql").write_text("SELECT 1;\n")
    common = ("--clients", str(most + 5), "--transactions", "100", "--protocol", "simple")
    with pgbouncer(server) as url:
        ended = assay("run", "r.sql", *common, "--on", url)
    assert ended.status == 0, ended.out + ended.err
    (run,) = ended.runs
    assert run.deployment is not None and run.deployment.connection_limit is None
    direct = assay("run", "r.sql", *common, "--on", servers.url_of(SYSTEM, server))
    assert direct.status == 3 and f"the server takes {most} sessions" in direct.out


@contextmanager
def balancer(ports: Sequence[int]) -> Iterator[int]:
    """A port at which each connection goes to the next of these."""
    turns = itertools.cycle(ports)
    listener = socket.create_server(("127.0.0.1", 0))

    def pipe(source: socket.socket, to: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                to.sendall(data)
        except OSError:
            pass
        for one in (source, to):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue
        source.close()

    def accept() -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", next(turns)))
            for ends in ((client, server), (server, client)):
                threading.Thread(target=pipe, args=ends, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def test_several_servers_behind_one_address_are_said_and_not_ranked(
    server: Deployment, assay: Assay, working_folder: Path
) -> None:
    (working_folder / "r.sql").write_text("SELECT count(*) FROM goods;\n")
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(SYSTEM, storage, options=TCP) as other,
    ):
        servers.ask(other, "CREATE TABLE goods AS SELECT generate_series(1, 20) AS id")
        word = "the same"
        for one in (server, other):
            servers.ask(one, f"CREATE ROLE shared LOGIN PASSWORD '{word}'")
            servers.ask(one, "GRANT SELECT ON goods TO shared")
        ports = [one.address.port or 0 for one in (server, other)]
        with balancer(ports) as port:
            url = f"postgresql://shared:the%20same@127.0.0.1:{port}/postgres"
            # One session more after the first run: each server answers one of the two looks.
            for clients in ("4", "5"):
                ended = assay(
                    "run", "r.sql", "--clients", clients, "--transactions", "20", "--on", url
                )
                assert ended.status == 0, ended.err
                assert all(one.name != "data-changed" for one in ended.runs[-1].warnings)
            ended = assay("run", "r.sql", "--clients", "4", "--transactions", "20", "--on", url)
    assert ended.status == 0, ended.err
    run = ended.runs[-1]
    assert run.driven is not None
    assert sorted((one.address, one.sessions) for one in run.driven.servers) == sorted(
        (f"127.0.0.1:{port}", 2) for port in ports
    )
    said = " ".join(ended.out.split())
    assert "several-servers" in said and "2 sessions by PostgreSQL" in said
    assert "unreliable" in said


def test_clients_that_lose_idle_sessions_keep_their_pace(
    server: Deployment, assay: Assay, working_folder: Path
) -> None:
    """The server closes each session in the middle of the pause of two seconds: the pause goes on
    while the client reconnects."""
    (working_folder / "r.sql").write_text("SELECT 1;\n")
    url = f"{servers.url_of(SYSTEM, server)}?options=-c%20idle_session_timeout=1200"
    pace = ("--clients", "2", "--think-time", "constant:1500ms", "--duration", "8")
    ended = assay("run", "r.sql", "--on", url, *pace, "--reconnect", "--warm-up", "0")
    (run,) = ended.runs
    assert run.driven is not None
    assert run.driven.reconnects >= 6
    # On a busy machine a statement may meet the end of its session; the pace is the same. Of pauses
    # that began again with the session there were six.
    assert run.driven.outcomes.attempts >= 8, ended.out
    assert run.driven.ended_by == "stop"

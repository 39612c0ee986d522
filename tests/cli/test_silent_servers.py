"""A server that completes the login and then does not answer ends the run, and its address is
reported; one that stops later ends it too, whatever the clients are."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import struct
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
import pytest

import forked_programs
from able import with_ability
from assay import _engine, registry
from assay.cli.program import run_program
from assay.contracts.deployment import Address, Deployment, Node
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import Counters, HasDefaultPort, SessionLimit
from assay.drive.monitoring import silent_server
from assay.drive.monitoring.silent_server import SilentServer
from assay.errors import SystemDied, SystemRefused
from assay.provision.engine import session
from assay.systems import first_session
from commands import IN_MEMORY, need
from step_workloads import folder_of


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!I", len(body) + 4) + body


LOGIN = (
    _message(b"R", struct.pack("!I", 0))
    + _message(b"S", b"server_version\x0015.1\0")
    + _message(b"K", bytes(8))
    + _message(b"Z", b"I")
)
NOTICES = _message(b"N", b"SNOTICE\0C00000\0Mhello\0\0") * 100


@contextlib.contextmanager
def impostor(message: bytes) -> Iterator[int]:
    """Its port. After the login it sends ``message`` repeatedly."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                client, _ = listening.accept()
                with client:
                    client.recv(9999)
                    client.sendall(LOGIN)
                    while client.recv(9999):
                        while message:
                            client.sendall(message)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            thread.join(60)
            assert not thread.is_alive()


@pytest.mark.parametrize("message", [b"", NOTICES], ids=["silence", "notices"])
def test_a_server_that_does_not_answer_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, message: bytes
) -> None:
    monkeypatch.setattr(first_session, "FIRST_ANSWER_S", 0.3)
    with impostor(message) as port:
        url = f"postgresql://u@127.0.0.1:{port}/d?sslmode=disable"
        expected = f"127.0.0.1:{port} accepted the session but did not answer a query within"
        with (
            pytest.raises(SystemDied, match=expected),
            registry.system("postgresql").attach(SystemChoice("postgresql", url=url)),
        ):
            pass


NOT_SOON = {"msql": "its session is waited for as long as any other: 30 s"}
BY_PORT = [
    name
    for name in with_ability(HasDefaultPort)
    if registry.system(name).driver not in _engine.python_drivers() and name not in NOT_SOON
]
"""Those that the engine itself reaches at a port."""


def url_of(system: str, port: int) -> str:
    user = "" if registry.system(system).driver == "mongodb" else "u@"  # who would need a password
    return f"{system}://{user}127.0.0.1:{port}/d"


@pytest.mark.parametrize("system", BY_PORT)
def test_an_http_server_is_named_soon_although_it_waits_for_a_whole_request(
    monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    monkeypatch.setattr(first_session, "SOON_S", 0.3)
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            choice = SystemChoice(system, url=url_of(system, server.server_address[1]))
            with (
                pytest.raises(SystemRefused, match="an HTTP server answers there"),
                registry.system(system).attach(choice),
            ):
                pass
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.alone
@pytest.mark.parametrize("system", BY_PORT)
def test_a_silent_port_is_given_up_soon_unless_the_url_says_for_how_long_to_wait(
    monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    monkeypatch.setattr(first_session, "SOON_S", 0.2)
    monkeypatch.setattr(first_session, "_HTTP_ANSWER_S", 0.1)
    monkeypatch.setattr(first_session, "FIRST_SESSION_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        silent = url_of(system, listening.getsockname()[1])

        def seconds_of(url: str) -> tuple[float, str]:
            """With the URL's parameter for more time."""
            began = time.monotonic()
            with (
                pytest.raises(SystemRefused, match=r"expected a .* server at") as refusal,
                registry.system(system).attach(SystemChoice(system, url=url)),
            ):
                pass
            found = re.search(r"; ([\w-]+)=60", str(refusal.value.hint))
            assert found is not None, refusal.value.hint
            return time.monotonic() - began, found[1]

        took_s, parameter = seconds_of(silent)
        assert took_s < 2
        limit = 2000 if parameter.endswith("MS") else 2
        assert seconds_of(f"{silent}?{parameter}={limit}")[0] >= 2


def test_a_server_that_is_slow_to_open_a_session_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(first_session, "SOON_S", 0.3)
    monkeypatch.setattr(first_session, "_HTTP_ANSWER_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        opened: list[socket.socket] = []

        def serve() -> None:
            for _ in range(3):  # the session that was given up, the question, the second session
                opened.append(listening.accept()[0])
            with contextlib.suppress(OSError):
                opened[-1].recv(9999)
                opened[-1].sendall(LOGIN)
                opened[-1].recv(9999)
                opened[-1].close()

        thread = threading.Thread(target=serve)
        thread.start()
        address = Address(
            "postgresql", host="127.0.0.1", port=listening.getsockname()[1], user="u", database="d"
        )
        url = f"postgresql://u@127.0.0.1:{address.port}/d?sslmode=disable"
        with (
            pytest.raises(SystemDied, match="closed"),
            registry.system("postgresql").attach(SystemChoice("postgresql", url=url)),
        ):
            pass
        thread.join(30)
        assert len(opened) == 3
        for one in opened:
            one.close()


def test_a_server_that_does_not_answer_ends_the_questions_before_and_after_a_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "BRIEF_ANSWER_S", 0.3)
    system = registry.system("postgresql")
    assert isinstance(system, Counters)
    assert isinstance(system, SessionLimit)
    for ask in (system.counters, lambda deployment: system.refuse_too_many(deployment, 1)):
        with impostor(b"") as port, pytest.raises(SystemDied, match="did not answer"):
            ask(_deployment(port))


def _deployment(port: int) -> Deployment:
    address = Address("postgresql", host="127.0.0.1", port=port, user="u", database="d")
    here = StorageFacts("here", "here", "/")
    return Deployment(
        system="postgresql",
        label="postgresql",
        nodes=(Node("node", here, None),),
        endpoints=(address,),
        version="15.1",
        options={},
        settings_asked={},
        settings={},
        connection_limit=1,
    )


def test_a_server_that_stops_answering_ends_a_run_without_a_duration(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.setattr(silent_server, "QUIET_S", 0.5)
    Path("one.sql").write_text("SELECT 1;\n")
    words = ["null-server", "--protocol", "postgresql", "--port", "0"]
    with forked_programs.start("assay", words) as server:
        try:
            url = f"postgresql://u@{server.stdout.readline().strip()}/d?sslmode=disable"
            progressed = SilentServer.progressed

            def stop_it_first(watched: SilentServer, count: int) -> None:
                if count > 0:
                    server.send_signal(signal.SIGSTOP)
                progressed(watched, count)

            monkeypatch.setattr(SilentServer, "progressed", stop_it_first)
            run = ["run", "one.sql", "--on", url, "--transactions", "1000000000"]
            assert run_program(run) == 3
        finally:
            server.kill()
    message = capfd.readouterr().err
    assert "warning: no transaction has ended for" in message
    assert "does not answer: no transaction has ended for" in message


def test_a_server_that_stops_answering_ends_a_run_of_native_clients(
    monkeypatch: pytest.MonkeyPatch, working_folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    need("postgresql")
    monkeypatch.chdir(working_folder)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(working_folder / "state"))
    monkeypatch.setattr(silent_server, "QUIET_S", 0.5)
    keys = 'scripts = ["wait.sql"]\nprotocol = "simple"\npasses = 1\nchanges_data = false\n'
    folder = folder_of(
        working_folder / "w", f"{keys}allows_native_client = true\n", wait="SELECT pg_sleep(600);\n"
    )
    begun = SilentServer.__init__

    def stop_it(watched: SilentServer, deployment: Deployment, *more: Any) -> None:
        pid = deployment.server_pid
        assert pid is not None
        server = psutil.Process(pid)
        for process in (server, *server.children(recursive=True)):
            with contextlib.suppress(psutil.NoSuchProcess):  # a worker that has ended by itself
                process.suspend()
        begun(watched, deployment, *more)

    monkeypatch.setattr(SilentServer, "__init__", stop_it)
    words = ["--client-program", "native", "--on", "postgresql", "--no-durability", *IN_MEMORY]
    assert run_program(["run", str(folder), *words]) == 3
    message = capfd.readouterr().err
    assert "does not answer: the client programs have written nothing for" in message


def test_a_long_transaction_does_not_end_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.setattr(silent_server, "QUIET_S", 0.2)
    Path("one.sql").write_text("SELECT 1;\n")
    words = ["null-server", "--protocol", "postgresql", "--delay", "constant:1200ms", "--port", "0"]
    with forked_programs.start("assay", words) as server:
        try:
            url = f"postgresql://u@{server.stdout.readline().strip()}/d?sslmode=disable"
            assert run_program(["run", "one.sql", "--on", url, "--transactions", "1"]) == 0
        finally:
            server.kill()
    assert "warning: no transaction has ended for" in capfd.readouterr().err

"""A server that completes the login and then does not answer ends the run, and its address is
reported; one that stops later ends it too, whatever the clients are."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import signal
import socket
import struct
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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
from assay.contracts.events import Sink
from assay.contracts.experiment import SystemChoice
from assay.contracts.stop import Stop, Stopped, StopReason
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.systems.abilities import Counters, HasDefaultPort, SessionLimit
from assay.drive import native_clients
from assay.errors import SystemDied, SystemRefused
from assay.provision.directory import server_directory
from assay.provision.engine import engine_calls, python_calls, silence
from assay.provision.engine.engine_programs import ChildProcess
from assay.provision.engine.silence import Silence
from assay.systems import sessions
from commands import IN_MEMORY, need
from servers import directory_for_servers
from step_workloads import folder_of
from waiting import HANG_S, wait_until


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
            thread.join(HANG_S)
            assert not thread.is_alive()


@pytest.mark.parametrize("message", [b"", NOTICES], ids=["silence", "notices"])
def test_a_server_that_does_not_answer_ends_the_run(
    monkeypatch: pytest.MonkeyPatch, message: bytes
) -> None:
    monkeypatch.setattr(sessions, "FIRST_ANSWER_S", 0.3)
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
    monkeypatch.setattr(sessions, "SOON_S", 0.3)
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
def test_a_silent_port_is_given_up_soon_unless_the_url_says_for_how_long_to_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By all systems at once, as they do nothing but wait."""
    monkeypatch.setattr(sessions, "SOON_S", 0.2)
    monkeypatch.setattr(sessions, "_HTTP_ANSWER_S", 0.1)
    monkeypatch.setattr(sessions, "FIRST_SESSION_S", 0.2)

    def given_up(system: str, port: int) -> None:
        silent = url_of(system, port)

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
        assert took_s < 2, system
        limit = 2000 if parameter.endswith("MS") else 2
        assert seconds_of(f"{silent}?{parameter}={limit}")[0] >= 2, system

    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        ThreadPoolExecutor(len(BY_PORT)) as pool,
    ):
        port = listening.getsockname()[1]
        for one in [pool.submit(given_up, system, port) for system in BY_PORT]:
            one.result()


def test_a_server_that_is_slow_to_open_a_session_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sessions, "SOON_S", 0.3)
    monkeypatch.setattr(sessions, "_HTTP_ANSWER_S", 0.2)
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
        thread.join(HANG_S)
        assert len(opened) == 3
        for one in opened:
            one.close()


def test_a_server_that_does_not_answer_ends_the_questions_before_and_after_a_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine_calls, "BRIEF_ANSWER_S", 0.3)
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
    Path("one.sql").write_text("SELECT 1;\n")
    words = ["serve", "null", "--protocol", "postgresql", "--port", "0"]
    with forked_programs.start("assay", words) as server:
        try:
            url = f"postgresql://u@{server.stdout.readline().strip()}/d?sslmode=disable"
            progressed = Silence.progressed

            def stop_it_first(watched: Silence, count: object = None) -> None:
                if count:
                    stop_server(server.pid)
                    monkeypatch.setattr(silence, "LIMIT_S", 1.5)
                progressed(watched, count)

            monkeypatch.setattr(Silence, "progressed", stop_it_first)
            run = ["run", "one.sql", "--on", url, "--transactions", "1000000000"]
            assert run_program(run) == 3
        finally:
            server.kill()
    message = capfd.readouterr().err
    assert "warning: no transaction has ended for" in message
    assert "does not answer: no transaction has ended for" in message


def stop_server(pid: int | None) -> None:
    """Returns when it stands still: a signal takes effect at each thread's next turn."""
    assert pid is not None
    server = psutil.Process(pid)
    for process in (server, *server.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):  # a worker that has ended by itself
            process.suspend()
            wait_until(functools.partial(stands_still, process.pid), "its threads stand still")


def stands_still(pid: int) -> bool:
    threads = Path(f"/proc/{pid}/task").glob("*/stat")
    return all(text.read_text().rpartition(")")[2].split()[0] in "TZ" for text in threads)


@pytest.mark.parametrize("call", ["load", "query"], ids=["load", "check"])
def test_a_server_that_stops_answering_ends_the_load_and_the_check(
    monkeypatch: pytest.MonkeyPatch,
    working_folder: Path,
    capfd: pytest.CaptureFixture[str],
    call: str,
) -> None:
    need("postgresql")
    monkeypatch.chdir(working_folder)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(working_folder / "state"))
    folder = folder_of(working_folder / "w", 'scripts = ["read.sql"]\npasses = 1\n')
    (folder / "checks").mkdir()
    (folder / "checks" / "none.sql").write_text("SELECT id FROM data WHERE value < 0;\n")
    as_before = getattr(engine_calls, call)

    def stop_it_first(*given: Any) -> object:
        (server,) = [one for one in psutil.Process().children() if one.name() == "postgres"]
        stop_server(server.pid)
        monkeypatch.setattr(silence, "LIMIT_S", 1.5)
        return as_before(*given)

    monkeypatch.setattr(engine_calls, call, stop_it_first)
    words = ["--on", "postgresql", "--no-durability", *IN_MEMORY]
    assert run_program(["run", str(folder), *words]) == 3
    assert "does not answer: no answer for" in capfd.readouterr().err


@contextlib.contextmanager
def stopped_null_server() -> Iterator[tuple[engine_calls.Session, Address]]:
    """A session of one that stands still, and its address."""
    words = ["serve", "null", "--protocol", "postgresql", "--port", "0"]
    with forked_programs.start("assay", words) as server:
        try:
            host, _, port = server.stdout.readline().strip().rpartition(":")
            address = Address("postgresql", host=host, port=int(port), user="u", database="d")
            opened = engine_calls.open_session(address.for_engine())
            stop_server(server.pid)
            yield opened, address
        finally:
            server.kill()


def test_a_session_of_a_server_that_stands_still_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(silence, "LIMIT_S", 0.6)
    for ask in ("execute", "digest"):
        with (
            stopped_null_server() as (opened, address),
            pytest.raises(SystemDied, match=f"{address.port} does not answer: no answer for"),
        ):
            getattr(opened, ask)("SELECT 1")


def test_a_system_without_a_free_session_lives_as_long_as_it_works() -> None:
    """It refuses further sessions, and so does a proxy in front of one that stands still."""
    for each_look, is_alive in ((100, True), (0, False), (None, False)):
        ticks = iter(range(0, 10_000, each_look) if each_look else [each_look] * 100)
        waited = silence.Silence("s", lambda: False, ticks.__next__)
        for _ in range(4):
            waited._look()
        with contextlib.nullcontext() if is_alive else pytest.raises(SystemDied):
            waited.progressed()


def test_a_library_that_stands_still_is_given_up_and_one_that_works_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(silence, "LIMIT_S", 1.5)
    monkeypatch.setattr(silence, "_LEAST_TICKS", 1)  # in half a second of a busy machine
    stands = Address("null", options={"delay": "constant:600s"})
    with (
        engine_calls.session(stands) as opened,
        pytest.raises(SystemDied, match=r"null does not answer: .* and it uses no CPU time"),
    ):
        opened.execute("SELECT 1")
    without_end = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    )
    stop = Stop()
    asking = threading.Timer(3 * silence.LIMIT_S, stop.ask, [StopReason("the test")])
    with (
        pytest.raises(Stopped),
        stop.guides(),
        engine_calls.session(Address("sqlite", file=":memory:")) as opened,
    ):
        asking.start()
        opened.execute(without_end)


def test_a_client_program_whose_server_stands_still_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(silence, "LIMIT_S", 0.6)
    with (
        directory_for_servers() as storage,
        server_directory(storage) as directory,
        pytest.raises(SystemDied, match="cat does not answer: it has written nothing for"),
    ):
        pipe = directory.run / "pipe"
        os.mkfifo(pipe)
        with pipe.open("r+b", buffering=0):  # who has it open and writes nothing
            silence.run_client_to_end(
                ["cat"], {}, directory, reads=pipe, writes=directory.run / "out"
            )


def test_a_process_that_calls_a_module_and_was_stopped_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(silence, "LIMIT_S", 0.5)
    options = {"module": "sqlite3", "keywords": json.dumps({"database": ":memory:"})}
    with engine_calls.session(Address("dbapi", options=options)) as opened:
        sent = ChildProcess.send

        def stop_it_first(process: ChildProcess, request: Any) -> None:
            os.kill(process._process.pid, signal.SIGSTOP)
            sent(process, request)

        monkeypatch.setattr(ChildProcess, "send", stop_it_first)
        with pytest.raises(SystemDied, match="calls the module sqlite3 was stopped by a signal"):
            opened.execute("SELECT 1")
        monkeypatch.undo()
    python_calls.end_idle()


def test_a_server_that_stops_answering_ends_a_run_of_native_clients(
    monkeypatch: pytest.MonkeyPatch, working_folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    need("postgresql")
    monkeypatch.chdir(working_folder)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(working_folder / "state"))
    keys = 'scripts = ["wait.sql"]\nprotocol = "simple"\npasses = 1\nchanges_data = false\n'
    folder = folder_of(
        working_folder / "w", f"{keys}allows_native_client = true\n", wait="SELECT pg_sleep(600);\n"
    )
    begun = native_clients.silence_of_programs

    def stop_it(deployment: Deployment, emit: Sink) -> Silence:
        stop_server(deployment.server_pid)
        monkeypatch.setattr(silence, "LIMIT_S", 1.5)
        return begun(deployment, emit)

    monkeypatch.setattr(native_clients, "silence_of_programs", stop_it)
    words = ["--client-program", "native", "--on", "postgresql", "--no-durability", *IN_MEMORY]
    assert run_program(["run", str(folder), *words]) == 3
    message = capfd.readouterr().err
    assert "does not answer: the client programs have written nothing for" in message


def test_a_long_transaction_does_not_end_the_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ASSAY_STATE_DIRECTORY", str(tmp_path / "state"))
    monkeypatch.setattr(silence, "LIMIT_S", 0.6)
    Path("one.sql").write_text("SELECT 1;\n")
    words = "serve null --protocol postgresql --delay constant:1200ms --port 0"
    with forked_programs.start("assay", words.split()) as server:
        try:
            url = f"postgresql://u@{server.stdout.readline().strip()}/d?sslmode=disable"
            assert run_program(["run", "one.sql", "--on", url, "--transactions", "1"]) == 0
        finally:
            server.kill()
    assert "warning: no transaction has ended for" in capfd.readouterr().err

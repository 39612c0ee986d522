"""The live page: what it gives of a record, each second once also where its server is killed, who
is refused, and that no reader holds anything up.

Long because each promise is tried against the same server of the page and the same record.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

import forked_programs
import programs
from assay.cli.commands import watch
from assay.cli.watching import address
from assay.errors import SystemMissing
from assay.record import DEFAULT_FILE_NAME
from commands import run_in
from running import runs_of, started, wait_for_second
from step_workloads import folder_of
from waiting import HANG_S, wait_until
from watching import Event, Watched, script, under_way, watched

DELAYED = "null[delay=constant:1ms]"


def seconds(events: list[Event]) -> list[str]:
    """Without when the experiment was begun. When a step has ended, its seconds come again."""
    return list(dict.fromkeys(one.id.rsplit(":", 1)[0] for one in events if one.name == "second"))


def recorded(folder: Path) -> list[str]:
    """The ids of all seconds of the last run."""
    run = runs_of(folder)[-1]
    assert run.driven is not None
    return [f"{run.id}:0:{one.second}" for one in run.driven.intervals]


WORDS = ("--clients", "4", "--duration", "2.2", "--offered-rate", "500", "--repetitions", "2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the record of an experiment that has ended."""
    made = tmp_path_factory.mktemp("watch")
    script(made)
    done = run_in(made, "run", "one.sql", "--on", DELAYED, *WORDS)
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Watched]:
    with watched(folder) as found:
        yield found


def test_an_experiment_that_has_ended_is_given_whole_and_the_stream_ends(
    folder: Path, server: Watched
) -> None:
    events = list(server.events())
    assert [one.name for one in events[:1]] == ["status"] and events[-1].name == "end"
    assert seconds(events) == recorded(folder)
    status = events[0].data
    assert (status["planned"], status["ended"], status["is_over"]) == (2, 2, True)
    (cell,) = status["cells"]
    assert (cell["ended"], cell["repetitions"]) == (2, 2) and cell["throughput_per_s"] > 0
    (warned,) = [one.data for one in events if one.name == "warnings"]
    assert {one["name"] for one in warned} >= {"short-measurement"}
    assert not any(one["is_under_way"] for one in warned)
    first = next(one.data for one in events if one.name == "second")
    assert first["offered"] == 500 and first["ok"] > 0
    # On a busy machine a second may have too few for a p99.
    assert 1e6 < first["p50_ns"] <= first.get("p99_ns", first["max_ns"]) <= first["max_ns"]
    assert first.get("lag_p99_ns", 1) > 0


def test_what_cannot_be_watched_is_refused_with_the_fix(folder: Path, server: Watched) -> None:
    (folder / "notes.sqlite").write_text("no record\n" * 500)
    for words, said in (
        ((DEFAULT_FILE_NAME,), f"a record file is named with --records {DEFAULT_FILE_NAME}"),
        (("no-such-file",), "found no-such-file"),
        (("--records", "notes.sqlite"), "notes.sqlite"),
        (("--port", str(server.port)), f"port {server.port}"),
        (("--port", str(server.port)), "leave --port out"),
    ):
        done = run_in(folder, "watch", *words)
        assert done.returncode == 2 and said in done.stderr, done.stderr
        assert "127.0.0.1" not in done.stdout
        assert ("a record file is named" in done.stderr) is (words == (DEFAULT_FILE_NAME,))


def test_a_record_that_is_not_there_yet_is_said(tmp_path: Path) -> None:
    with watched(tmp_path, "--records", "none.sqlite") as server:
        assert "there are no records at none.sqlite yet" in server.process.stderr.readline()


def test_the_page_asks_no_other_site_and_runs_its_own_script_only(server: Watched) -> None:
    answer = server.ask(server.path("/"))
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "connect-src 'self'" in policy
    nonce = re.search(r"script-src 'nonce-([^']+)'", policy)
    assert nonce and f'<script nonce="{nonce[1]}">' in answer.text
    assert server.ask(server.path("/")).headers["content-security-policy"] != policy
    outside = r"https?://(?!www\.w3\.org/2000/svg)|url\(|@import|<link|<iframe"
    assert not re.search(outside, answer.text)
    assert server.token not in answer.text
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"


def test_the_final_report_is_that_of_assay_report(folder: Path, server: Watched) -> None:
    answer = server.ask(server.path("/report/1"))
    file = folder / "report.html"
    done = run_in(folder, "report", "1", "--format", "html", "--output", str(file), "--force")
    assert done.returncode == 0 and answer.status == 200
    assert answer.text == file.read_text(encoding="utf-8")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert server.ask(server.path("/report/7")).status == 404


def test_two_experiments_are_compared_as_assay_compare_does(folder: Path, server: Watched) -> None:
    again = run_in(folder, "run", "one.sql", "--on", DELAYED, "--new", *WORDS)
    assert again.returncode == 0, again.stderr
    listed = server.ask(server.path("/experiments")).text
    assert "report/1?token=" in listed and "report/2?token=" in listed
    answer = server.ask(server.path("/compare", "&a=1&b=2"))
    done = run_in(folder, "compare", "1", "2", "--format", "html")
    assert answer.status == 200 and answer.text == done.stdout and "<table" in answer.text
    for sides in ("&a=1", "&a=1&b=--help", "&a=1&b=../x.sqlite", f"&a=1&b={'9' * 30}"):
        assert server.ask(server.path("/compare", sides)).status == 400
    assert server.ask(server.path("/compare", "&a=1&b=99")).status == 404


ATTACKS = {
    "no token": "GET /",
    "a wrong token": "GET /?token=wrong",
    "an empty token": "GET /events?token=",
    "the beginning of the token": "GET /events?token=BEGINNING",
    "two tokens": "GET /?token=wrong&token=TOKEN",
    "the token in a cookie": "GET /\ncookie: token=TOKEN",
    "the stream without a token": "GET /events",
    "a report without a token": "GET /report/1",
    "a foreign host": "GET /?token=TOKEN\nhost: evil.example",
    "a name that leads here": "GET /?token=TOKEN\nhost: evil.example:PORT",
    "this host with another port": "GET /?token=TOKEN\nhost: 127.0.0.1:1",
    "no host": "GET /?token=TOKEN\nhost: ",
    "a foreign origin": "GET /events?token=TOKEN\norigin: http://evil.example",
    "no origin of its own": "GET /events?token=TOKEN\norigin: null",
    "a script of another port": (
        "GET /events?token=TOKEN\nsec-fetch-site: same-site\nsec-fetch-mode: no-cors"
    ),
    "a picture in another page": (
        "GET /latest?token=TOKEN\nsec-fetch-site: cross-site\nsec-fetch-mode: no-cors"
    ),
    "a preflight": (
        "OPTIONS /stop?token=TOKEN\n"
        "origin: http://evil.example\naccess-control-request-method: POST"
    ),
    "a changing GET": "GET /stop?token=TOKEN",
    "a POST with the token in the address": "POST /stop?token=TOKEN\n\n",
    "a POST of another site": "POST /stop\norigin: http://evil.example\nx-assay-token: TOKEN\n\n",
    "a POST with a wrong token": "POST /stop\nx-assay-token: wrong\n\n",
    "another method": "PUT /?token=TOKEN\n\n",
    "a delete": "DELETE /report/1?token=TOKEN",
    "a path outside": "GET /../../etc/passwd?token=TOKEN",
    "an escaped path outside": "GET /%2e%2e/%2e%2e/etc/passwd?token=TOKEN",
    "a path in place of a number": "GET /report/..%2f..%2fetc?token=TOKEN",
    "an option in place of a number": "GET /report/--help?token=TOKEN",
    "an oversize body": "POST /stop\nx-assay-token: TOKEN\ncontent-length: 99999999999",
    "a plan of another site": "POST /plan\norigin: http://evil.example\nx-assay-token: TOKEN\n\n{}",
    "a start without a token": 'POST /start\n\n{"file": "experiment-1.toml"}',
    "a start of another file": (
        'POST /start\nx-assay-token: TOKEN\n\n{"file": "../experiment-1.toml"}'
    ),
    "a form of another site": (
        "POST /start?token=TOKEN\n"
        "origin: http://evil.example\ncontent-type: application/x-www-form-urlencoded\n\nfile=x"
    ),
    "more fields than any page has": "GET /?" + "a=1&" * 30 + "token=TOKEN",
    "a number of 5000 digits": "GET /report/" + "9" * 5000 + "?token=TOKEN",
    "a negative body": "POST /stop\nx-assay-token: TOKEN\ncontent-length: -1",
}
"""Name → request, headers and body."""


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_refused_and_learns_nothing(server: Watched, attack: str) -> None:
    real = {"BEGINNING": server.token[:20], "TOKEN": server.token, "PORT": str(server.port)}
    text = re.sub("|".join(real), lambda found: real[found[0]], ATTACKS[attack])
    head, has_body, body = text.partition("\n\n")
    (method, path), *headers = (line.split(" ", 1) for line in head.split("\n"))
    sent = {name.rstrip(":"): value for name, value in headers}
    answer = server.ask(path, method=method, body=body if has_body else None, headers=sent)
    assert 400 <= answer.status < 500
    assert "access-control-allow-origin" not in answer.headers
    assert "experiment" not in answer.text.casefold() and "root:" not in answer.text
    assert server.ask(server.path("/latest")).status == 200


def test_it_is_of_this_machine_and_its_user_alone_and_leaves_the_processor_to_the_experiment(
    folder: Path, server: Watched
) -> None:
    connections = psutil.Process(server.process.pid).net_connections("tcp")
    (listening,) = [one for one in connections if one.status == psutil.CONN_LISTEN]
    assert listening.laddr.ip == "127.0.0.1"
    (kept,) = (folder / "state" / "assay").glob("watch-*")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert len(server.token) >= 40
    headers = {"x-assay-token": server.token}
    assert server.ask("/experiments", headers=headers).status == 200, "also in the header"
    assert os.getpriority(os.PRIO_PROCESS, server.process.pid) >= 10


def test_a_killed_server_comes_back_where_it_was_and_no_second_is_missing(
    working_folder: Path,
) -> None:
    script(working_folder)
    words = ("one.sql", "--on", DELAYED, "--clients", "2", "--duration", "9", "--repetitions", "2")
    with started(working_folder, "run", *words) as run:
        wait_for_second(working_folder)
        with watched(working_folder) as server:
            url = server.url
            had = []
            for event in server.events():
                had.append(event)
                if len(seconds(had)) == 3:
                    break
            server.process.send_signal(signal.SIGKILL)
            server.process.wait()
        time.sleep(2)
        with watched(working_folder) as server:
            assert server.url == url
            (*_, last) = [one.id for one in had if one.name == "second"]
            rest = list(server.events(last=last))
        run.wait(HANG_S)
    assert rest[-1].name == "end"
    statuses = [one.data for one in rest if one.name == "status"]
    places = [(one["ended"], one["stage"]["number"], one["is_over"]) for one in statuses]
    assert places[-1] == (2, 2, True)
    if (1, 2, False) in places:  # else the first run ended before the server was back
        halfway = statuses[places.index((1, 2, False))]
        assert halfway["states"][0] in ("valid", "unreliable", "invalid")
        assert [one["ended"] for one in halfway["cells"]] == [1]
    ids = dict.fromkeys(seconds(had) + seconds(rest))
    by_run: dict[str, list[int]] = {}
    for one in ids:
        number, _, second = one.split(":")
        by_run.setdefault(number, []).append(int(second))
    # On a busy machine the first run may have ended before the server listened.
    assert list(by_run) in (["1", "2"], ["2"])
    for found in by_run.values():
        assert found == list(range(len(found))) and len(found) >= 9
    by_id = {one.id: one.data for one in had + rest if one.name == "second"}
    every = [one for one in by_id.values() if one["second"] < 9]
    assert len(every) == 9 * len(by_run) and all("machine_cpus" in one["machine"] for one in every)


def test_neither_twenty_readers_nor_one_that_never_reads_hold_anything_up(
    working_folder: Path,
) -> None:
    """Nor miss what is counted late: arrivals of a standstill are known to be skipped when it has
    ended, and count where they were due."""
    stalled = "null[protocol=postgresql,delay=constant:1ms,stall=4s@1.5s]"
    words = ("--offered-rate", "500", "--latency-limit", "0.02ms", "--duration", "8")
    found: list[list[Event]] = []
    with under_way(working_folder, "--on", stalled, *words) as (run, server):
        deaf = server.deaf_reader()
        readers = [
            threading.Thread(target=lambda: found.append(list(server.events()))) for _ in range(20)
        ]
        for reader in readers:
            reader.start()
        run.wait(HANG_S)
        for reader in readers:
            reader.join(HANG_S)
        deaf.close()
    expected = recorded(working_folder)
    assert len(expected) >= 8 and [seconds(one) for one in found] == [expected] * 20
    (ended,) = runs_of(working_folder)
    assert ended.driven is not None and ended.driven.outcomes.skipped > 500
    shown = {one.id: one.data for one in found[0] if one.name == "second"}
    for name in ("ok", "skipped"):
        total = sum(one.get(name, 0) for one in shown.values())
        assert total == getattr(ended.driven.outcomes, name), name


def test_a_reader_that_never_reads_makes_the_server_keep_nothing(
    folder: Path, tmp_path: Path
) -> None:
    """A long run that has ended, of which a stream is 20 MB: what one asks for and does not take
    must not be in the server's memory for each who asks."""
    with closing(sqlite3.connect(shutil.copy(folder / DEFAULT_FILE_NAME, tmp_path))) as record:
        record.execute(
            "UPDATE observations SET document = json_set(document, '$.intervals', "
            "(WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39999) "
            "SELECT json_group_array(json_set(document -> '$.intervals[0]', '$.second', i)) "
            "FROM n)) WHERE run_id = (SELECT max(id) FROM runs)"
        )
        record.commit()
    with watched(tmp_path) as server:
        assert len(seconds(list(server.events()))) == 40_000
        process = psutil.Process(server.process.pid)
        before = process.memory_info().rss
        deaf = [server.deaf_reader() for _ in range(20)]
        time.sleep(3)
        assert process.memory_info().rss - before < 20 * 2**20
        for one in deaf:
            one.close()


def test_the_page_stops_the_experiment_that_it_names_and_no_other_process(
    working_folder: Path,
) -> None:
    words = ("--on", DELAYED, "--duration", "300", "--repetitions", "2")
    with under_way(working_folder, *words) as (run, server):
        stream = server.events()
        # On a busy machine the first one may come without what the machine did in it.
        machines = (one.data.get("machine", {}) for one in stream if one.name == "second")
        doing = next(one for one in machines if "client_cpus" in one)
        assert 0 < doing["client_cpus"] < 1.1 * psutil.cpu_count()
        assert 0 < doing["machine_cpus"] < 1.1 * psutil.cpu_count()
        assert "client_busy" not in doing, "the system works in its threads"
        ours, other = '{"experiment": 1}', '{"experiment": 2}'
        for refused in ("", "{}", other, '{"experiment": "1"}', "x" * 5000):
            assert server.post("/stop", refused).status == 409
        assert server.post("/stop", ours, origin="http://evil.example").status == 403
        assert server.post("/stop", ours, **{"x-assay-token": "wrong"}).status == 403
        assert server.post("/stop", "x" * 70_000).status == 413
        assert run.poll() is None
        own = f"http://127.0.0.1:{server.port}"
        assert server.post("/stop", ours, origin=own).status == 202
        run.wait(HANG_S)
        assert run.returncode == 128 + signal.SIGTERM
        *_, end = stream
        assert end.name == "end"
        assert server.post("/stop", ours).status == 409
    first, second = runs_of(working_folder)
    assert (first.state, second.state) == ("interrupted", "planned")
    assert first.driven is not None and first.driven.intervals, "what was measured is kept"


def test_a_single_run_is_stopped_and_the_experiment_goes_on(working_folder: Path) -> None:
    words = ("--on", DELAYED, "--duration", "600", "--repetitions", "2")
    with under_way(working_folder, *words) as (run, server):

        def asked(number: int, experiment: int = 1) -> int:
            return server.post("/stop", {"experiment": experiment, "run": number}).status

        assert asked(2) == asked(-1) == asked(1, experiment=2) == 409, "it is not under way"
        assert asked(1) == 202
        wait_until(lambda: asked(2) == 202, "the second run is under way, too")
        *_, end = server.events()
        assert end.name == "end"
        run.wait(HANG_S)
        assert run.returncode == 1, "a run of it has failed"
        assert asked(2) == 409
    first, second = runs_of(working_folder)
    for one in (first, second):
        assert (one.state, one.verdict) == ("failed", "invalid")
        assert one.reason == one.verdict_reason == "stopped by hand"
    assert first.driven is not None and first.driven.ended_by == "interrupted"
    assert 1 <= len(first.driven.intervals) < 600, "what was measured is kept"


def test_warnings_appear_as_they_arise_with_the_words_of_the_end(working_folder: Path) -> None:
    words = ("--on", "null[delay=constant:10ms,fail=timeout@0.05]", "--clients", "2")
    words += ("--offered-rate", "400", "--duration", "600", "--warm-up", "0")
    arose = {"errors", "offered-rate-not-reached"}
    with under_way(working_folder, *words) as (run, server):
        data = (one.data for one in server.events() if one.name == "warnings")
        every = ({line["name"]: line for line in lines} for lines in data)
        first = next(one for one in every if one.keys() >= arose)
        assert server.post("/stop", {"experiment": 1, "run": 1}).status == 202
        *_, last = every
        run.wait(HANG_S)
    assert all(first[name]["is_under_way"] for name in arose)
    final = {one.name: one.detail for one in runs_of(working_folder)[-1].warnings}
    assert arose <= final.keys()
    for name in arose:
        (said,) = first[name]["details"]
        wording = re.compile(r"[\d.,]+ ?")
        assert wording.sub("", said) == wording.sub("", final[name])
        assert first[name]["cause"] == last[name]["cause"]
    assert last.keys() == final.keys()
    assert not any(one["is_under_way"] for one in last.values())


def test_nearness_to_the_calibrated_maximum_arises(working_folder: Path) -> None:
    words = ("--protocol", "postgresql", "--clients", "2", "--duration", "0.3")
    done = run_in(working_folder, "measure", "client", *words)
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(working_folder / DEFAULT_FILE_NAME)) as connection, connection:
        connection.execute("UPDATE calibrations SET statements_per_s = 100")
    words = ("--on", "null[protocol=postgresql]", "--clients", "2", "--warm-up", "0")
    words += ("--offered-rate", "700", "--duration", "600")
    with under_way(working_folder, *words) as (_, server):
        arose = next(
            line
            for one in server.events()
            if one.name == "warnings"
            for line in one.data
            if line["name"] == "near-the-client-ceiling" and line["is_under_way"]
        )
    # Also a busy machine sends more than that.
    assert re.search(r"[1-9]\d+ % of 100.*at 2 clients", arose["details"][0])


def test_a_process_that_has_the_number_of_an_ended_one_is_not_stopped(
    folder: Path, tmp_path: Path
) -> None:
    changed = "UPDATE experiments SET ended_unix_ns = NULL, process_id = ?"
    with subprocess.Popen([programs.SLEEP.name, "300"]) as other:
        with closing(sqlite3.connect(shutil.copy(folder / DEFAULT_FILE_NAME, tmp_path))) as record:
            record.execute(changed, (other.pid,))
            record.commit()
        with watched(tmp_path) as server:
            assert server.post("/stop", {"experiment": 1}).status == 409
        assert other.poll() is None
        other.kill()


def test_an_experiment_is_planned_and_started_and_goes_on_without_the_server(
    working_folder: Path,
) -> None:
    script(working_folder)
    with watched(working_folder) as server:
        # A record whose first table is still to be made is not taken for one that stays empty.
        (working_folder / DEFAULT_FILE_NAME).touch()
        assert json.loads(server.ask(server.path("/latest")).text)["experiment"] == 0
        wrong = server.post("/plan", {"on": "no-such-database", "test": "one.sql"})
        assert wrong.status == 400 and "no-such-database" in wrong.text
        for answers in ({"on": "x" * 600}, {"test": "a\nb"}, {"erase": "yes"}, {"on": "--erase"}):
            assert server.post("/plan", answers).status == 400
        assert not list(working_folder.glob("*.toml"))
        asked = {"on": "sqlite", "test": "one.sql", "clients": "1,2"}
        first = json.loads(server.post("/plan", asked).text)
        folder_of(working_folder / "long", 'scripts = ["read"]\nduration_s = 600\n')
        asked = {"on": DELAYED, "test": "long", "clients": "2", "storage": "tmpfs"}
        planned = json.loads(server.post("/plan", asked).text)
        assert "long" in planned["plan"] and "null" in planned["plan"]
        assert re.search(r"3 runs, .*\d+ min", planned["plan"]), "the estimate"
        assert [one.name for one in working_folder.glob("*.toml")] == [planned["file"]]
        assert first["file"] == planned["file"], "what was not started is not kept"
        assert server.post("/start", {"file": "experiment-9.toml"}).status == 400
        assert server.post("/start", {"file": planned["file"]}).status == 202
        wait_for_second(working_folder)
        assert server.post("/start", {"file": planned["file"]}).status == 409
        with closing(sqlite3.connect(working_folder / DEFAULT_FILE_NAME)) as record:
            ((pid,),) = record.execute("SELECT process_id FROM experiments").fetchall()
        run = psutil.Process(pid)
        assert run.nice() == 0, "the server is nice to it"
        server.process.send_signal(signal.SIGINT)
        server.process.wait(HANG_S)
    time.sleep(1)
    assert run.is_running() and run.status() != psutil.STATUS_ZOMBIE
    run.terminate()
    run.wait(HANG_S)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once_with_open_streams(
    server: Watched, tmp_path: Path, number: int
) -> None:
    """While nothing has been run in it, the stream of a record goes on."""
    with watched(tmp_path) as idle:
        stream = idle.events()
        assert next(stream).data["experiment"] == 0
        assert next(stream).data == [], "no warnings"
        idle.process.send_signal(number)
        idle.process.wait(HANG_S)
        assert list(stream) == []
    assert server.process.poll() is None, "another one goes on"


def test_a_new_record_in_place_of_one_that_was_moved_shows_its_own_seconds(tmp_path: Path) -> None:
    """Its runs have the same numbers."""
    script(tmp_path)
    words = ("run", "one.sql", "--on", DELAYED, "--warm-up", "0", "--duration")
    record = tmp_path / DEFAULT_FILE_NAME
    with watched(tmp_path) as server:
        assert run_in(tmp_path, *words, "1").returncode == 0
        (*_, old) = [one.id for one in server.events() if one.name == "second"]
        record.rename(tmp_path / "moved.sqlite")
        assert "not there any more" in next(server.events()).data["problem"]
        assert run_in(tmp_path, *words, "3", "--clients", "3").returncode == 0
        # As a page asks that had the seconds of the one before.
        events = list(server.events(last=old))
    shown = [one.data for one in events if one.name == "second"]
    assert {one["clients"] for one in shown} == {3}
    assert seconds(events) == recorded(tmp_path)


def test_what_is_no_utf_8_is_refused(server: Watched) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=HANG_S)
    with closing(connection):
        headers = {"x-assay-token": server.token}
        connection.request("POST", "/plan", body=b'{"on": "\xff"}', headers=headers)
        assert connection.getresponse().status == 400


def test_a_record_is_watched_once_and_its_address_stays(folder: Path, server: Watched) -> None:
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    done = forked_programs.run("assay", ["watch"], folder=folder, environment=environment)
    assert done.returncode == 2 and server.url in done.stderr and "--port 0" in done.stderr
    with watched(folder, "--port", "0") as second:
        assert second.port != server.port and second.token != server.token
        assert second.ask(second.path("/latest")).status == 200
    (kept,) = (folder / "state" / "assay").glob("watch-*")
    assert json.loads(kept.read_text())["port"] == server.port


@pytest.mark.parametrize("port", ["1e999", "-1", '"8000"', "9" * 500])
def test_a_kept_address_that_none_wrote_is_replaced(tmp_path: Path, port: str) -> None:
    kept = tmp_path / "kept"
    kept.write_text(f'{{"port": {port}, "token": "{"t" * 60}"}}')
    kept.chmod(0o600)
    found = address._Kept(kept)
    assert found.read()[0] == 0 and found.read()[1] != "t" * 60
    found.write(8000, "t" * 60)
    assert found.read() == (8000, "t" * 60)
    found.close()


def test_without_its_packages_the_error_has_the_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "find_spec", lambda _: None)
    with pytest.raises(SystemMissing) as raised:
        watch.command.callback(None, Path("records.sqlite"))  # type: ignore[misc]
    assert raised.value.hint == "pip install 'assay-db[live]'"

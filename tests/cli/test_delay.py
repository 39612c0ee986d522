"""A server can be put at a distance: clients wait for each round trip, and the record says so."""

from __future__ import annotations

import re
import signal
import socket
import time
from pathlib import Path

import forked_programs
from commands import Assay
from waiting import HANG_S


def test_the_clients_of_a_distant_server_wait_for_each_round_trip(
    assay: Assay, tmp_path: Path
) -> None:
    (tmp_path / "two.sql").write_text("SELECT 1;\nSELECT 2;\n")
    words = ["--on", "null[protocol=postgresql]", "--rtt", "0,30ms", "--transactions", "5"]
    ended = assay("run", "two.sql", *words, "--format", "json")
    assert ended.status == 0, ended.err
    near, far = ended.runs
    assert (near.server_machine.rtt_s, far.server_machine.rtt_s) == (0, 0.03)
    assert far.system_label == "null protocol=postgresql rtt=30ms"
    assert near.deployment is not None
    assert near.deployment.delay is None
    assert far.deployment is not None
    assert far.deployment.delay is not None
    assert 0.03 <= far.deployment.delay.measured_rtt_s < 0.3
    assert far.deployment.delay.round_trip_cpu_s > 0
    assert near.driven is not None
    assert far.driven is not None
    # Two statements, each a round trip.
    assert near.driven.all_ok.latency.min_ns < 60_000_000 <= far.driven.all_ok.latency.min_ns
    rows = ended.document["tables"]["runs"]
    assert [row["rtt_s"] for row in rows] == [0, 0.03]
    measured = [None, far.deployment.delay.measured_rtt_s]
    assert [row["measured_rtt_s"] for row in rows] == measured
    assert "(30 ms asked; by a proxy" in assay("report", "--detail", "--format", "markdown").out


def test_a_storage_has_a_round_trip_time_of_its_own(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "s.sql").write_text("SELECT 1;\n")
    (tmp_path / "e.toml").write_text(
        'script = "s.sql"\nsystems = "null[protocol=postgresql]"\nstorages = ["here", "san"]\n'
        'rtt = [0, "10ms"]\n[drive]\ntransactions = 5\n'
        '[storage.san]\nkind = "here"\nrtt = "30ms"\nrole = "solid-state"\n'
    )
    ended = assay("run", "e.toml", "--format", "json")
    assert ended.status == 0, ended.err
    delays = [
        (run.storage, run.deployment.delay.rtt_s if run.deployment.delay else 0)
        for run in ended.runs
        if run.deployment
    ]
    assert delays == [("here", 0), ("san", 0.03), ("here", 0.01)]
    assert len({run.cell_fingerprint for run in ended.runs}) == 3
    rows = ended.document["tables"]["runs"]
    assert [(row["rtt_s"], row["storage_in_force"]) for row in rows] == [
        (0, []), (0.03, ["rtt=30ms", "role=solid-state"]), (0.01, []),
    ]  # fmt: skip
    for form in ("table", "markdown", "html"):
        assert "30ms" in assay("report", "--detail", "--format", form).out
    between = assay("compare", "latest", "--between", "storage", "--format", "json").document
    assert (
        len({one["cell"] for one in between["ratios"]}) == 1
    )  # with no round-trip time, and with that of the storage
    refused = assay("run", "s.sql", "--on", "sqlite", "--storage", "here[rtt=1ms]")
    assert (refused.status, "no connection to delay" in refused.err) == (2, True)


def test_a_proxy_by_itself_says_what_it_adds_and_ends_in_order() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        words = ["delay-proxy", "--to", f"127.0.0.1:{server.getsockname()[1]}", "--rtt", "20ms"]
        with forked_programs.start("assay", words) as proxy:
            line = proxy.stdout.readline()
            found = re.match(r"127\.0\.0\.1:(\d+), round trip 2\d(\.\d+)? ms ", line)
            assert found, line
            with socket.create_connection(("127.0.0.1", int(found[1]))) as client:
                client.sendall(b"x")
                behind, _ = server.accept()
                with behind:
                    assert behind.recv(1) == b"x"
                    began = time.monotonic()
                    behind.sendall(b"y")
                    assert client.recv(1) == b"y"
                    assert time.monotonic() - began >= 0.01
            proxy.send_signal(signal.SIGTERM)
            _, said = proxy.communicate(timeout=HANG_S)
    assert "1 connection" in said

"""Two servers of one host and a dead one: three rows with three names, and answers that differ."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import servers
from assay import registry
from commands import run_in

SYSTEM = registry.system("postgresql")


def test_two_servers_of_one_host_and_a_dead_one(tmp_path: Path) -> None:
    (tmp_path / "s.sql").write_text("SELECT count(*) FROM goods;\n")
    tcp = {"transport": "tcp"}
    with (
        servers.directory_for_servers() as storage,
        servers.provisioned(SYSTEM, storage, options=tcp) as first,
        servers.provisioned(SYSTEM, storage, options=tcp) as second,
    ):
        for deployment, rows in ((first, 10), (second, 20)):
            servers.ask(deployment, f"CREATE TABLE goods AS SELECT generate_series(1, {rows}) x")
        urls = [servers.url_of(SYSTEM, one) for one in (first, second)]
        ports = [one.address.port for one in (first, second)]
        dead = f"postgresql://u@{first.address.host}:1/d"
        common = ("s.sql", "--transactions", "20", "--records", "r.sqlite")
        on = f"{urls[0]},{urls[1]},{dead}"
        ended = run_in(
            tmp_path, "run", *common, "--on", on, "--repetitions", "2", "--format", "json"
        )
        names = [f"postgresql at {first.address.host}:{port}" for port in (*ports, 1)]
        runs = json.loads(ended.stdout)["tables"]["runs"]
        states = {(run["system"], run["state"]) for run in runs}
        assert states == set(zip(names, ("done", "done", "failed"), strict=True)), ended.stderr
        assert "answers-differ" in ended.stdout
        for shown in (
            run_in(tmp_path, "plan", "s.sql", "--on", on),
            run_in(tmp_path, "list", "runs", "--records", "r.sqlite"),
            run_in(tmp_path, "report", "latest", "--records", "r.sqlite"),
            run_in(
                tmp_path, "report", "latest", "--records", "r.sqlite", "--format", "openmetrics"
            ),
        ):
            assert all(name.split()[-1] in shown.stdout for name in names), shown.stdout
            assert f":{first.address.password}@" not in shown.stdout
        between = f"system={names[0]},{names[1]}"
        words = ("compare", "latest", "--between", between, "--records", "r.sqlite")
        compared = json.loads(run_in(tmp_path, *words, "--format", "json").stdout)
        verdicts = [ratio["verdict"] for ratio in compared["ratios"]]
        assert verdicts and all(
            one.startswith("not comparable: rows of goods: 10 → 20; answers to") for one in verdicts
        )
        named = run_in(
            tmp_path, "run", *common, "--on", f"old={urls[0]},new={urls[1]}", "--format", "csv"
        )
        rows = csv.DictReader(io.StringIO(named.stdout))
        assert {row["system"] for row in rows} == {"old", "new"}

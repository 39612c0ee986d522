"""Whole commands of other tools and of Assay, as a person types them, alternately on one MariaDB:
throughput, and the client's CPU time for each transaction.

Each side makes its own tables, in a database of its own, and connects over TCP. The server's
settings are its defaults. CPU time is that of the client, user and system: of Assay as its record
has it, of the other tool of its whole process as the kernel counts it, start-up included, which a
long run makes small.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import structs

from assay import registry
from assay.contracts.deployment import Address
from assay.contracts.systems.abilities import OwnClient
from assay.experiment import StorageChoice, SystemChoice
from assay.provision.machine.program import Program
from assay.provision.running_system import provision
from benches._client_peers import SYSBENCH
from benches._process import run

ROUNDS = 5
SECONDS = 20
WARM_UP_S = 5
"""Before each measurement, of either side: the other has used the server's memory meanwhile."""
SYSTEM = SystemChoice("mariadb", options={"transport": "tcp"})


@dataclass(frozen=True)
class Tool:
    """Another tool. In its words ``{host}``, ``{port}``, ``{user}``, ``{password}``,
    ``{database}``, ``{clients}``, ``{work}``, ``{seconds}`` and ``{operations}`` are replaced."""

    program: Program
    how_to_get: str
    prepare: str
    drive: str
    transactions: re.Pattern[str]
    """Finds how many it says it did, or how many for each minute."""
    per_minute: bool = False
    seconds: re.Pattern[str] | None = None
    """Finds how long it says it took; None: as long as it was asked to."""


@dataclass(frozen=True)
class Case:
    """The same work as two commands."""

    name: str
    tool: Tool
    ours: str
    clients: int
    work: str = ""
    """Of the other tool, where it has several."""


_SYSBENCH = (
    "--db-driver=mysql --mysql-host={host} --mysql-port={port} --mysql-user={user} "
    "--mysql-password={password} --mysql-db={database} --tables=1 --table-size=100000"
)
SYSBENCH_OLTP = Tool(
    SYSBENCH,
    "apt-get install sysbench",
    f"{{work}} {_SYSBENCH} prepare",
    f"{{work}} {_SYSBENCH} --threads={{clients}} --time={{seconds}} run",
    re.compile(r"transactions: +(\d+)"),
)
_GO_TPC = (
    "-H {host} -P {port} -U {user} -p {password} -D {database} --warehouses 2 -T {clients} "
    "--max-procs 2"
)
GO_TPC = Tool(
    Program("go-tpc", None),
    "go install github.com/pingcap/go-tpc/cmd/go-tpc@v1.0.12",
    f"tpcc prepare --no-check {_GO_TPC}",
    f"tpcc run {_GO_TPC} --time {{seconds}}s",
    re.compile(r"tpmTotal: (\d+)"),
    per_minute=True,
)
_GO_YCSB = (
    "mysql -p mysql.host={host} -p mysql.port={port} -p mysql.user={user} "
    "-p mysql.password={password} -p mysql.db={database} -p workload=core -p recordcount=100000 "
    "-p requestdistribution=zipfian {work} -p threadcount={clients}"
)
GO_YCSB = Tool(
    Program("go-ycsb", None),
    "make, in a copy of github.com/pingcap/go-ycsb v1.0.1",
    f"load {_GO_YCSB}",
    # It ends by a number of operations, not by time.
    f"run {_GO_YCSB} -p operationcount={{operations}}",
    re.compile(r"Run finished.*TOTAL\s+- Takes\(s\): [\d.]+, Count: (\d+)", re.DOTALL),
    seconds=re.compile(r"Run finished.*TOTAL\s+- Takes\(s\): ([\d.]+)", re.DOTALL),
)
_OPERATIONS_PER_S = 10_000
"""Of a tool that ends by their number, for each second that it is to take."""
_OLTP = "--set tables=1 --set table_size=100000"
CASES = (
    *(
        Case(f"{name}, {clients}", SYSBENCH_OLTP, f"{ours} {_OLTP}", clients, work)
        for name, ours, work in (
            ("point select", "oltp.point-select", "oltp_point_select"),
            ("read/write", "oltp.read-write", "oltp_read_write"),
        )
        for clients in (8, 32)
    ),
    Case("TPC-C-like, 8", GO_TPC, "tpcc --set warehouses=2 --set home=random", 8),
    *(
        Case(
            f"YCSB {name}, 8",
            GO_YCSB,
            f"ycsb.{name} --set recordcount=100000",
            8,
            f"-p readproportion={reads} -p updateproportion={1 - reads:g}",
        )
        for name, reads in (("a", 0.5), ("c", 1))
    ),
)


@dataclass(frozen=True)
class Result:
    """One run of one side."""

    rate_per_s: float
    cost_us: float


def main(rounds: int = ROUNDS, seconds: int = SECONDS, only: Sequence[str] = ()) -> None:
    """Prints one row for each case whose tool is here."""
    names = [case.name for case in CASES]
    for name in only:
        if name not in names:
            raise SystemExit(f"error: no case is {name!r}\n\nhint: there are {'; '.join(names)}")
    print(
        f"medians of {rounds} alternating rounds of {seconds} s; cost is the client's CPU time "
        "for each transaction; ratios are ours ÷ theirs (least – most)\n"
    )
    print(
        "| work, clients | other tool | ours, /s | theirs, /s | ours ÷ theirs "
        "| ours, µs | theirs, µs | cost ÷ theirs |"
    )
    print("|---|---|" + "---:|" * 6)
    for case in CASES:
        if only and case.name not in only:
            continue
        if case.tool.program.find_anywhere() is None:
            print(f"{case.tool.program.name} is not here: {case.tool.how_to_get}")
            continue
        with provision(SYSTEM, StorageChoice(), connections=case.clients + 8) as deployment:
            print(_row(case, *_alternate(case, deployment.address, rounds, seconds)), flush=True)


def _alternate(
    case: Case, address: Address, rounds: int, seconds: int
) -> tuple[list[Result], list[Result]]:
    """Ours and theirs, in turns."""
    _make_database(address, "theirs")
    _make_database(address, "ours")
    theirs = structs.replace(address, database="theirs")
    _run(_theirs(case, theirs, case.tool.prepare, seconds))
    results: tuple[list[Result], list[Result]] = ([], [])
    for number in range(rounds):
        for side in (0, 1) if number % 2 else (1, 0):
            results[side].append(
                _drive_theirs(case, theirs, seconds)
                if side
                else _drive_ours(case, structs.replace(address, database="ours"), seconds)
            )
    return results


def _theirs(case: Case, address: Address, words: str, seconds: int) -> list[str]:
    known = {
        "host": address.host,
        "port": address.port,
        "user": address.user,
        "password": address.password or "",
        "database": address.database,
        "work": case.work,
        "clients": case.clients,
        "seconds": seconds,
        "operations": seconds * _OPERATIONS_PER_S,
    }
    program = case.tool.program.find_anywhere() or case.tool.program.name
    return [program, *(word.format(**known) for word in words.split())]


def _drive_theirs(case: Case, address: Address, seconds: int) -> Result:
    for length_s in (WARM_UP_S, seconds):
        done = run(_theirs(case, address, case.tool.drive, length_s), case.tool.transactions)
    transactions = done.transactions * (seconds / 60 if case.tool.per_minute else 1)
    found = case.tool.seconds.search(done.printed) if case.tool.seconds else None
    took_s = float(found[1]) if found else seconds
    return Result(transactions / took_s, done.cpu_s * 1e6 / transactions)


def _drive_ours(case: Case, address: Address, seconds: int) -> Result:
    login = f"{address.user}:{quote(address.password or '', safe='')}"
    url = f"{SYSTEM.name}://{login}@{address.host}:{address.port}/{address.database}"
    with tempfile.TemporaryDirectory() as folder:
        printed = _run(
            [
                *(sys.executable, "-m", "assay", "run", *case.ours.split(), "--on", url),
                *("--clients", str(case.clients), "--warm-up", str(WARM_UP_S)),
                *("--duration", str(seconds)),
                *("--no-durability", "--format", "json"),
                *("--records", str(Path(folder) / "records.sqlite")),
            ]
        )
    ended: dict[str, Any] = json.loads(printed)["tables"]["runs"][-1]
    if ended["state"] != "done" or ended["checks_wrong"]:
        raise SystemExit(f"error: Assay's run: {ended['state']}, {ended['verdict_reason']}")
    return Result(ended["throughput_per_s"], ended["client_cpu_per_transaction_ns"] / 1e3)


def _make_database(address: Address, name: str) -> None:
    system = registry.system(SYSTEM.name)
    assert isinstance(system, OwnClient)
    arguments, environment = system.client_command(address)
    _run(arguments, f"create database {name}", environment)


def _run(
    command: Sequence[str], given: str = "", environment: Mapping[str, str] | None = None
) -> str:
    done = subprocess.run(
        command,
        input=given,
        env={"PATH": "/usr/bin:/bin", **environment} if environment else None,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"error: {command[0]} failed\n\n{done.stdout}{done.stderr}")
    return done.stdout


def _row(case: Case, ours: Sequence[Result], theirs: Sequence[Result]) -> str:
    def ratio(of: str) -> str:
        each = [getattr(a, of) / getattr(b, of) for a, b in zip(ours, theirs, strict=True)]
        return f"{statistics.median(each):.2f} ({min(each):.2f} – {max(each):.2f})"

    def median(results: Sequence[Result], of: str) -> str:
        return f"{statistics.median(getattr(one, of) for one in results):,.0f}"

    cells = [case.name, f"{case.tool.program.name} {case.work}".strip()]
    cells += [median(ours, "rate_per_s"), median(theirs, "rate_per_s"), ratio("rate_per_s")]
    cells += [median(ours, "cost_us"), median(theirs, "cost_us"), ratio("cost_us")]
    return f"| {' | '.join(cells)} |"

"""The other tools of `client_cost` and `sysbench_cost`: how they are started on a deployment, and
how their output is read."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from assay.contracts.deployment import Address
from assay.provision.machine.program import Program
from assay.systems.postgresql.installation import PACKAGED

PGBENCH = Program("pgbench", "postgresql", (f"{PACKAGED}/*/bin",))
SYSBENCH = Program("sysbench", "sysbench")

SCALE = 10
"""Of pgbench's tables: 100,000 accounts each."""
ROWS = 100_000
"""Of sysbench's table."""
THREADS = 2
"""Of pgbench and of the floor, at most one for each client; sysbench has one for each client."""


@dataclass(frozen=True)
class Work:
    """One transaction type, as a peer and as a script of Assay."""

    name: str
    peer: str
    """How the table names what it is compared with."""
    arguments: tuple[str, ...]
    """The other tool's options, for this work."""
    path: Traversable
    """The script."""
    variables: dict[str, int]
    floor: str | None = None
    """What the floor calls it; None: it does not do this work."""

    @property
    def script(self) -> str:
        return self.path.read_text()


_PGBENCH = files("assay.workloads") / "tpcb"
_SYSBENCH = files("benches") / "sysbench"
_SCALED = {"scale": SCALE}
_ROWED = {"rows": ROWS}

SELECT_ONLY = Work(
    "select only",
    "pgbench -S -M prepared",
    ("-S", "-Mprepared"),
    _PGBENCH / "select-only.sql",
    _SCALED,
    "select",
)
TPCB_LIKE = Work(
    "TPC-B-like",
    "pgbench -M prepared",
    ("-Mprepared",),
    _PGBENCH / "tpcb-like.sql",
    _SCALED,
    "tpcb",
)
POINT_SELECT = Work(
    "point select",
    "sysbench oltp_point_select",
    ("oltp_point_select",),
    _SYSBENCH / "point-select.sql",
    _ROWED,
)
READ_WRITE = Work(
    "read/write",
    "sysbench oltp_read_write",
    ("oltp_read_write",),
    _SYSBENCH / "read-write.sql",
    _ROWED,
)


def pgbench(address: Address) -> list[str]:
    """The command, without the work."""
    socket = Path(address.unix or "")
    port = socket.name.rpartition(".")[2]
    place = ["-h", str(socket.parent), "-p", port, "-U", address.user]
    return [PGBENCH.find_anywhere() or PGBENCH.name, *place]


def pgbench_run(
    address: Address, work: Work, clients: int, stop: Sequence[str]
) -> tuple[list[str], re.Pattern[str]]:
    """The command of one run, and the pattern of its transaction count."""
    many = [f"-c{clients}", f"-j{min(THREADS, clients)}", "-n", f"-Dscale={SCALE}"]
    command = [*pgbench(address), *work.arguments, *many, *stop, address.database]
    return command, re.compile(r"transactions actually processed: (\d+)")


def sysbench(address: Address, script: str) -> list[str]:
    """The command, without the work."""
    return [
        SYSBENCH.find_anywhere() or SYSBENCH.name,
        script,
        "--db-driver=mysql",
        f"--mysql-socket={address.unix}",
        f"--mysql-user={address.user}",
        f"--mysql-db={address.database}",
        "--tables=1",
        f"--table-size={ROWS}",
        # As in our scripts.
        "--rand-type=uniform",
    ]


def sysbench_run(
    address: Address, work: Work, clients: int, stop: Sequence[str]
) -> tuple[list[str], re.Pattern[str]]:
    """The command of one run, and the pattern of its transaction count."""
    command = [*sysbench(address, work.arguments[0]), f"--threads={clients}", *stop, "run"]
    return command, re.compile(r"transactions: +(\d+)")


def fill_postgresql(address: Address) -> None:
    """pgbench's own tables, used by both sides."""
    _run([*pgbench(address), "-i", "-q", f"-s{SCALE}", address.database])


def fill_mariadb(address: Address) -> None:
    """sysbench's own table, used by both sides."""
    _run([*sysbench(address, "oltp_read_write"), "prepare"])


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: {command[0]} failed\n\n{done.stdout}{done.stderr}")

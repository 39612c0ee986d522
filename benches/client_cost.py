"""``assay run`` compared with pgbench and with the floor on one PostgreSQL, at 1, 8, 32 and 128
clients: throughput, the client's CPU time, and latency at a fifth of the highest rate.

Ours is the command that users run, with the number of threads that it chooses; its CPU time is that
of its record. pgbench and the floor (`benches/floor`: the same system calls and nothing else) have
two threads, and one for one client; their CPU time is that of the whole process, less that of a run
of one transaction for each client. Each counts all its transactions, over the time until the last
of them ended. In each round the sides take turns, the first one changes from
round to round, and ratios are formed within the rounds. Durability is off, so that the client is a
large part of the whole.

Cost is not bought with throughput: each has bounds of its own, and the benchmark fails on either.
"""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import assay
from assay.contracts.deployment import Address
from assay.experiment import StorageChoice, SystemChoice
from assay.provision.running_system import provision
from benches import _client_peers as peers
from benches import _floor as floor
from benches._bounds import Bound, Measured, Rounds, Verdict, costs_at_most, judge
from benches._client_peers import SCALE, SELECT_ONLY, TPCB_LIKE, Work
from benches._process import Run, run

ROUNDS = 9
SECONDS = 2
START_RUNS = 3
SHARE_OF_HIGHEST = 0.2
"""The rate at which latency is compared, as a share of pgbench's throughput without one."""

_SYSTEM = SystemChoice(
    "postgresql", settings={"fsync": "off", "synchronous_commit": "off", "shared_buffers": "512MB"}
)
_LATENCY = re.compile(r"latency average = ([\d.]+) ms")
_RATE = re.compile(r"tps = ([\d.]+) \(without")

OURS, PGBENCH, FLOOR, OURS_PACED, PGBENCH_PACED = (
    "ours",
    "pgbench",
    "floor",
    "paced",
    "paced pgbench",
)


def _rate(side: Measured) -> float:
    return side.rate_per_s


def _cost(side: Measured) -> float:
    return side.cost_us


def _latency(side: Measured) -> float:
    return side.latency_ms


PGBENCH_COST = Bound("cost", _cost, PGBENCH, 0.75)
"""Asked for only where the floor reaches it."""
BOUNDS = (
    Bound("throughput", _rate, PGBENCH, 1.0, is_least=True),
    Bound("throughput", _rate, FLOOR, 0.95, is_least=True),
    Bound("cost", _cost, FLOOR, 1.15),
    PGBENCH_COST,
)
LATENCY = Bound("latency", _latency, PGBENCH_PACED, 1.0)


@dataclass(frozen=True)
class Cell:
    """A row of the table."""

    work: Work
    clients: int

    @property
    def name(self) -> str:
        """By which ``--only`` asks for it."""
        return f"{self.work.name}, {self.clients}".lower()


CELLS = tuple(
    Cell(work, clients) for work in (SELECT_ONLY, TPCB_LIKE) for clients in (1, 8, 32, 128)
)


def main(rounds: int = ROUNDS, seconds: int = SECONDS, only: Sequence[str] = ()) -> list[str]:
    """Prints one row for each cell (``only`` these, if it names any); returns the missed bounds."""
    unknown = [name for name in only if name not in [cell.name for cell in CELLS]]
    if unknown:
        there_are = "; ".join(cell.name for cell in CELLS)
        raise SystemExit(f"error: no cell is called {unknown[0]!r}\n\nhint: there are {there_are}")
    if rounds < 2:
        raise SystemExit("error: expected two rounds at least, found 1")
    cells = [cell for cell in CELLS if not only or cell.name in only]
    if peers.PGBENCH.find_anywhere() is None:
        print("pgbench is not on this machine")
        return []
    print(
        f"{rounds} alternating rounds of {seconds} s; medians; ratios are ours ÷ the other's, with "
        "their 95 % intervals; cost is CPU time for each transaction\n"
    )
    bounds = [bound.name for bound in (*BOUNDS, LATENCY)]
    sides = [f"{side}: tps; µs" for side in (OURS, PGBENCH, FLOOR)]
    print(f"| cell | {' | '.join([*sides, *bounds])} |")
    print(f"|---|{'---:|' * len([*sides, *bounds])}", flush=True)
    misses = []
    most = max(cell.clients for cell in cells)
    with (
        provision(_SYSTEM, StorageChoice(), connections=most) as deployment,
        tempfile.TemporaryDirectory(prefix="assay-bench-") as folder,
    ):
        peers.fill_postgresql(deployment.address)
        for cell in cells:
            measured = alternate(Sides(deployment.address, cell, seconds, Path(folder)), rounds)
            verdicts = verdicts_of(measured)
            print(row(cell, measured, verdicts), flush=True)
            misses += missed(cell.name, verdicts)
    return misses


def verdicts_of(measured: dict[str, Rounds]) -> list[Verdict | None]:
    """Of each bound, and of that of latency; None: it is not asked for."""
    verdicts: list[Verdict | None] = []
    for bound in BOUNDS:
        is_reached = costs_at_most(bound.limit, measured[FLOOR], measured[PGBENCH])
        is_asked_for = bound is not PGBENCH_COST or is_reached
        verdicts.append(
            judge(bound, measured[OURS], measured[bound.peer]) if is_asked_for else None
        )
    return [*verdicts, judge(LATENCY, measured[OURS_PACED], measured[PGBENCH_PACED])]


def missed(cell: str, verdicts: Sequence[Verdict | None]) -> list[str]:
    """One line for each missed bound."""
    return [
        f"{cell}: {verdict.bound.name}: {_interval(verdict)}"
        for verdict in verdicts
        if verdict is not None and verdict.is_missed
    ]


def row(cell: Cell, measured: dict[str, Rounds], verdicts: Sequence[Verdict | None]) -> str:
    """The medians, and each ratio with its verdict."""
    cells = [cell.name]
    for side in (OURS, PGBENCH, FLOOR):
        rates, costs = (map(of, measured[side]) for of in (_rate, _cost))
        cells.append(f"{statistics.median(rates):,.0f}; {statistics.median(costs):.2f}")
    for verdict in verdicts:
        cells.append("floor above" if verdict is None else f"{_interval(verdict)} {verdict.word}")
    return f"| {' | '.join(cells)} |"


def _interval(verdict: Verdict) -> str:
    lower, upper = verdict.interval
    return f"{verdict.ratio:.2f} ({lower:.2f}–{upper:.2f})"


def alternate(sides: Sides, rounds: int) -> dict[str, Rounds]:
    """What each side measures in each round."""
    sides.pgbench()  # so that the server's memory is warm for the first side
    order: list[tuple[str, Callable[[], Measured]]] = [
        (OURS, sides.ours),
        (PGBENCH, sides.pgbench),
        (FLOOR, sides.floor),
        (OURS_PACED, sides.ours_paced),
        (PGBENCH_PACED, sides.pgbench_paced),
    ]
    measured: dict[str, list[Measured]] = {name: [] for name, _ in order}
    for number in range(rounds):
        first = number % len(order)
        for name, measure in order[first:] + order[:first]:
            measured[name].append(measure())
    return dict(measured)


class Sides:
    """The programs that are compared in one cell, each as a function that runs it once."""

    def __init__(self, address: Address, cell: Cell, seconds: int, folder: Path) -> None:
        self._address, self._cell, self._seconds = address, cell, seconds
        self._records = folder / "records.sqlite"
        self._pgbench_start_s = self._start_s(lambda: self._run_pgbench("-t1"))
        self._floor_start_s = self._start_s(lambda: self._run_floor("transactions", 1))
        highest = self.pgbench().rate_per_s
        self._paced_per_s = max(1, round(SHARE_OF_HIGHEST * highest))

    @staticmethod
    def _start_s(run_few: Callable[[], Run]) -> float:
        return min(run_few().cpu_s for _ in range(START_RUNS))

    def ours(self, *options: str) -> Measured:
        """``assay run`` on the server that is running."""
        address, cell = self._address, self._cell
        socket = Path(address.unix or "")
        place = f"host={quote(str(socket.parent), safe='')}&port={socket.name.rpartition('.')[2]}"
        url = f"postgresql://{address.user}@/{address.database}?{place}"
        command = [str(Path(sys.executable).with_name("assay")), "run", str(cell.work.path)]
        command += ["--on", url, "--set", f"scale={SCALE}", "--protocol", "prepared"]
        command += ["--clients", str(cell.clients), "--duration", str(self._seconds), *options]
        command += ["--no-probe", "--no-durability", "--new"]
        command += ["--records", str(self._records), "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"error: assay run failed\n\n{done.stderr}")
        (figures,) = json.loads(done.stdout)["tables"]["runs"]
        (run,) = assay.open(self._records).latest.runs
        assert run.observation is not None
        # Of the transactions that ended, as pgbench's: reports have no mean where one did not end.
        mean_ns = run.observation.all_ok.latency.mean_ns
        return Measured(
            figures["throughput_per_s"],
            figures["client_cpu_per_transaction_ns"] / 1e3,
            mean_ns / 1e6,
        )

    def pgbench(self, *options: str) -> Measured:
        """The rate is that without the time of connecting."""
        done = self._run_pgbench(f"-T{self._seconds}", *options)
        latency, rate = _LATENCY.search(done.printed), _RATE.search(done.printed)
        if latency is None or rate is None:
            raise SystemExit(f"error: pgbench printed no rate\n\n{done.printed}")
        return Measured(
            float(rate[1]), self._cost_us(done, self._pgbench_start_s), float(latency[1])
        )

    def floor(self) -> Measured:
        done = self._run_floor("seconds", self._seconds)
        seconds = floor.SECONDS.search(done.printed)
        if seconds is None:
            raise SystemExit(f"error: the floor printed no seconds\n\n{done.printed}")
        rate_per_s = done.transactions / float(seconds[1])
        return Measured(rate_per_s, self._cost_us(done, self._floor_start_s))

    def ours_paced(self) -> Measured:
        """An open loop, as that of pgbench: latency begins at the instant of the schedule."""
        return self.ours("--offered-rate", str(self._paced_per_s), "--arrival", "poisson")

    def pgbench_paced(self) -> Measured:
        return self.pgbench(f"--rate={self._paced_per_s}")

    def _run_pgbench(self, *stop: str) -> Run:
        cell = self._cell
        return run(*peers.pgbench_run(self._address, cell.work, cell.clients, stop))

    def _run_floor(self, kind: str, number: int) -> Run:
        cell = self._cell
        threads = min(peers.THREADS, cell.clients)
        return run(*floor.command(self._address, cell.work, cell.clients, threads, (kind, number)))

    @staticmethod
    def _cost_us(done: Run, start_s: float) -> float:
        return (done.cpu_s - start_s) * 1e6 / done.transactions

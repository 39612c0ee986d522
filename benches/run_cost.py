"""What a fleet of one generator, and a page that watches, cost a run: CPU time of the client for
each transaction, and throughput, beside those of the plain command.

The same command works on a null server of its own, alternately in four ways: plain; plain once more
(A/A: what two equal sides differ by); with ``--generators 1``, whose coordinator is part of the
cost; and plain while the live page is read by a bare HTTP client, whose server and client share the
machine but are no part of the cost. Cost is the CPU time of the command and its child processes for
each transaction; what a command of one transaction takes, with its start and its report, is taken
off. The server takes a constant time for each statement, which leaves a part of both processors
free: without it two equal commands differed by a quarter, as client and server compete for them.
"""

from __future__ import annotations

import http.client
import re
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from benches._alternation import Cost, Side, alternate, ratios
from benches._process import Run, run

ROUNDS, SECONDS = 9, 10
_ASSAY = (sys.executable, "-m", "assay")
_COUNT = re.compile(r"(\d+) transactions in ")
_CLIENTS = "16"
_DELAY = ("--delay", "constant:1ms")
WORK = {"closed loop": (), "open loop": ("--offered-rate", "10000")}


def main(rounds: int = ROUNDS, seconds: int = SECONDS, only: Sequence[str] = ()) -> None:
    """Prints one row for each loop and way (``only`` these loops, if it names any)."""
    print(
        f"medians of {rounds} alternating rounds of {seconds} s; ratios are to the plain command\n"
    )
    print("| loop | beside the plain command | cost, µs | cost (least – most) | throughput |")
    print("|---|---|---:|---|---|")
    with tempfile.TemporaryDirectory() as made, null_server(*_DELAY) as url:
        folder = Path(made)
        (folder / "one.sql").write_text("select 1;\n")
        for loop, words in WORK.items():
            if only and loop not in only:
                continue
            command = ["run", "one.sql", "--on", url, "--clients", _CLIENTS, *words]
            ways = {
                "plain": _side(folder, command),
                "plain once more": _side(folder, command),
                "--generators 1": _side(folder, [*command, "--generators", "1"]),
                "watched": _side(folder, command, is_watched=True),
            }
            plain, *others = alternate(list(ways.values()), rounds, seconds)
            for name, found in zip(list(ways)[1:], others, strict=True):
                print(_row(loop, name, plain, found), flush=True)


def _row(loop: str, name: str, plain: Sequence[Cost], found: Sequence[Cost]) -> str:
    cost = statistics.median(one.cost_us for one in found)
    cells = [loop, name, f"{cost:.3f}"]
    cells += [spread_of(ratios(found, plain, what)) for what in ("cost_us", "rate_per_s")]
    return f"| {' | '.join(cells)} |"


def spread_of(values: Sequence[float]) -> str:
    """The median and its range; a thousandth matters here."""
    return f"{statistics.median(values):.3f} ({min(values):.3f}–{max(values):.3f})"


def _side(folder: Path, words: Sequence[str], *, is_watched: bool = False) -> Side:
    def measured(*stop: str) -> Run:
        with tempfile.TemporaryDirectory(dir=folder) as state:
            record = ("--records", f"{state}/records.sqlite")
            environment = ("env", "-C", str(folder), f"XDG_STATE_HOME={state}")
            with _watcher([*environment, *_ASSAY, "watch", *record], is_watched):
                return run(
                    [*environment, *_ASSAY, *words, "--warm-up", "0", *record, *stop], _COUNT
                )

    return Side(
        lambda: measured("--transactions", "1"),
        lambda seconds: measured("--duration", f"{seconds}"),
    )


@contextmanager
def _watcher(command: Sequence[str], is_wanted: bool) -> Iterator[None]:
    """The server of the page and a client that reads all that it sends."""
    if not is_wanted:
        yield
        return
    with _started(command) as address:
        threading.Thread(target=_read, args=(address,), daemon=True).start()
        yield


def _read(address: str) -> None:
    parts = urlsplit(address)
    while True:
        connection = http.client.HTTPConnection(parts.netloc)
        try:
            connection.request("GET", f"/events?{parts.query}")
            stream = connection.getresponse()
            while stream.read1():
                pass
        except (OSError, http.client.HTTPException):
            return


@contextmanager
def null_server(*delay: str) -> Iterator[str]:
    words = [*_ASSAY, "serve", "null", "--protocol", "postgresql", "--port", "0", *delay]
    with _started(words) as address:
        yield f"postgresql://{address}/null"


@contextmanager
def _started(command: Sequence[str]) -> Iterator[str]:
    """A program, with the address that it prints first."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()

"""What a command costs that does next to nothing: CPU time from its start to its end, and the time
from its start to the first transaction, beside the same work of other tools, which are run in
alternation.

Ours writes a record, judges and reports; pgbench and sysbench send the same ten statements to a
null server of PostgreSQL's protocol. The first transaction begins when its statement passes a proxy
before that server; on SQLite by the log of transactions. Tools that are not on this machine are
left out.
"""

from __future__ import annotations

import contextlib
import csv
import re
import shutil
import socket
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from benches._alternation import spread
from benches._process import run
from benches.run_cost import null_server

ROUNDS = 15
_ASSAY = (sys.executable, "-m", "assay")
_ENDS = ("--transactions", "10", "--no-probe")
_ANYTHING = re.compile("()")
_STATEMENT = "select 1"
_FILES = {
    "one.sql": f"{_STATEMENT};\n",
    "one.lua": "function thread_init() connection = sysbench.sql.driver():connect() end\n"
    f'function event() connection:query("{_STATEMENT}") end\n',
}


class _Proxy:
    """Before a server; notes when the statement passes for the first time."""

    def __init__(self, url: str) -> None:
        server = urlsplit(url)
        self._server = (server.hostname, server.port)
        self._listening = socket.create_server(("127.0.0.1", 0))
        port = self._listening.getsockname()[1]
        self.url = server._replace(netloc=f"me@127.0.0.1:{port}").geturl()
        self.port = str(port)
        self.first_s: float | None = None
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listening.accept()
            server = socket.create_connection(self._server)
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._copy, args=(source, sink), daemon=True).start()

    def _copy(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError), source, sink:  # the other direction has closed both
            while data := source.recv(65536):
                if self.first_s is None and _STATEMENT.encode() in data:
                    self.first_s = time.time()
                sink.sendall(data)
            sink.shutdown(socket.SHUT_RDWR)


def main(rounds: int = ROUNDS) -> None:
    """Prints one row for each command."""
    with tempfile.TemporaryDirectory() as made, null_server() as server:
        proxy = _Proxy(server)
        url = proxy.url
        for name, text in _FILES.items():
            (Path(made) / name).write_text(text)
        connect = ("--db-driver=pgsql", "--pgsql-host=127.0.0.1", f"--pgsql-port={proxy.port}")
        commands = {
            "Python with click alone": (sys.executable, "-c", "import click"),
            "assay --version": (*_ASSAY, "--version"),
            "assay --help": (*_ASSAY, "--help"),
            "assay run one.sql --on sqlite": (
                *_ASSAY, "run", "one.sql", "--on", "sqlite", *_ENDS, "--log", "log.csv",
            ),
            "assay run one.sql --on URL": (*_ASSAY, "run", "one.sql", "--on", url, *_ENDS),
            "pgbench -f one.sql -t 10": ("pgbench", "-n", "-f", "one.sql", "-t", "10", url),
            "sysbench one.lua run": ("sysbench", *connect, "--events=10", "one.lua", "run"),
            "hyperfine --runs 10 true": ("hyperfine", "--shell=none", "--runs", "10", "true"),
            "k6 version": ("k6", "version"),
        }  # fmt: skip
        found = {name: words for name, words in commands.items() if shutil.which(words[0])}
        costs: dict[str, list[float]] = {name: [] for name in found}
        firsts: dict[str, list[float]] = {name: [] for name in found}
        for _ in range(rounds):
            for name, words in found.items():
                with tempfile.TemporaryDirectory(dir=made) as folder:
                    for file in _FILES:
                        shutil.copy(Path(made) / file, folder)
                    state = f"XDG_STATE_HOME={folder}"
                    proxy.first_s, began_s = None, time.time()
                    ended = run(["env", "-C", folder, state, *words], _ANYTHING)
                    costs[name].append(ended.cpu_s * 1e3)
                    first_s = proxy.first_s or _first_in(Path(folder) / "log.csv")
                    if first_s is not None:
                        firsts[name].append((first_s - began_s) * 1e3)
    print("| command | CPU, ms (least – most) | to pgbench | first transaction after, ms |")
    print("|---|---:|---:|---:|")
    peer = next((costs[name] for name in costs if name.startswith("pgbench")), None)
    for name, each in costs.items():
        ratio = statistics.median(each) / statistics.median(peer) if peer else None
        first = spread(firsts[name]) if firsts[name] else ""
        print(
            f"| `{name}` | {spread(each)} | {'' if ratio is None else f'{ratio:.1f}'} | {first} |"
        )


def _first_in(log: Path) -> float | None:
    if not log.exists():
        return None
    with log.open(encoding="utf-8") as file:
        first = next(csv.DictReader(file))
    return (int(first["begun_unix_ns"]) + int(first["start_ns"])) / 1e9

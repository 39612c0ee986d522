"""What a command costs that does next to nothing: CPU time from its start to its end, and how long
it takes to its first transaction, beside the same work of other tools, which are run in
alternation.

Ours writes a record, judges and reports; pgbench sends the same ten statements to a null server of
its protocol. The first transaction says itself when it begins. Tools that are not on this machine
are left out.
"""

from __future__ import annotations

import re
import shutil
import statistics
import sys
import tempfile
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
_FIRST = "date +%s.%N >>first"
_FILES = {
    "one.sql": "select 1;\n",
    "first.sql": f"\\shell {_FIRST}\nselect 1;\n",
    "first.lua": "function thread_init() server = sysbench.sql.driver():connect() end\n"
    f'function event() os.execute("{_FIRST}") server:query("select 1") end\n',
}


def main(rounds: int = ROUNDS) -> None:
    """Prints one row for each command."""
    with tempfile.TemporaryDirectory() as made, null_server() as url:
        for name, text in _FILES.items():
            (Path(made) / name).write_text(text)
        port = f"--pgsql-port={urlsplit(url).port}"
        driver = ("--db-driver=pgsql", "--pgsql-host=127.0.0.1", port)
        first = (*_ASSAY, "run", "first.sql", "--allow-shell", *_ENDS, "--on")
        commands = {
            "Python with click alone": (sys.executable, "-c", "import click"),
            "assay --version": (*_ASSAY, "--version"),
            "assay --help": (*_ASSAY, "--help"),
            "assay run one.sql --on sqlite": (*_ASSAY, "run", "one.sql", "--on", "sqlite", *_ENDS),
            "assay run one.sql --on URL": (*_ASSAY, "run", "one.sql", "--on", url, *_ENDS),
            "pgbench -f one.sql -t 10": ("pgbench", "-n", "-f", "one.sql", "-t", "10", url),
            "sysbench cpu run": ("sysbench", "cpu", "--events=10", "run"),
            "hyperfine --runs 10 true": ("hyperfine", "--shell=none", "--runs", "10", "true"),
            "k6 version": ("k6", "version"),
            "assay run first.sql --on sqlite": (*first, "sqlite"),
            "assay run first.sql --on URL": (*first, url),
            "pgbench -f first.sql -t 10": ("pgbench", "-n", "-f", "first.sql", "-t", "10", url),
            "sysbench first.lua run": ("sysbench", *driver, "--events=10", "first.lua", "run"),
        }
        found = {name: words for name, words in commands.items() if shutil.which(words[0])}
        costs: dict[str, list[float]] = {name: [] for name in found}
        firsts: dict[str, list[float]] = {name: [] for name in found}
        for _ in range(rounds):
            for name, words in found.items():
                with tempfile.TemporaryDirectory(dir=made) as folder:
                    for file in _FILES:
                        shutil.copy(Path(made) / file, folder)
                    state, began_s = f"XDG_STATE_HOME={folder}", time.time()
                    ended = run(["env", "-C", folder, state, *words], _ANYTHING)
                    costs[name].append(ended.cpu_s * 1e3)
                    if (said := Path(folder) / "first").exists():
                        began = float(said.read_text().split()[0])
                        firsts[name].append((began - began_s) * 1e3)
    print("| command | CPU, ms (least – most) | to pgbench | first transaction after, ms |")
    print("|---|---:|---:|---:|")
    peer = next((costs[name] for name in costs if name.startswith("pgbench")), None)
    for name, each in costs.items():
        ratio = statistics.median(each) / statistics.median(peer) if peer else None
        after = spread(firsts[name]) if firsts[name] else ""
        print(
            f"| `{name}` | {spread(each)} | {'' if ratio is None else f'{ratio:.1f}'} | {after} |"
        )

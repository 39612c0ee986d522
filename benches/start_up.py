"""What a command costs that does next to nothing: CPU time from its start to its end, beside the
same work of other tools, which are run in alternation.

Ours writes a record, judges and reports; pgbench sends the same ten statements to a null server of
its protocol. Tools that are not on this machine are left out.
"""

from __future__ import annotations

import re
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from benches._alternation import spread
from benches._process import run
from benches.run_cost import null_server

ROUNDS = 15
_ASSAY = (sys.executable, "-m", "assay")
_ENDS = ("--transactions", "10", "--no-probe")
_ANYTHING = re.compile("()")


def main(rounds: int = ROUNDS) -> None:
    """Prints one row for each command."""
    with tempfile.TemporaryDirectory() as made, null_server() as url:
        (Path(made) / "one.sql").write_text("select 1;\n")
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
        }
        found = {name: words for name, words in commands.items() if shutil.which(words[0])}
        costs: dict[str, list[float]] = {name: [] for name in found}
        for _ in range(rounds):
            for name, words in found.items():
                with tempfile.TemporaryDirectory(dir=made) as folder:
                    shutil.copy(Path(made) / "one.sql", folder)
                    state = f"XDG_STATE_HOME={folder}"
                    ended = run(["env", "-C", folder, state, *words], _ANYTHING)
                    costs[name].append(ended.cpu_s * 1e3)
    print("| command | CPU, ms (least – most) | to pgbench |")
    print("|---|---:|---:|")
    peer = next((costs[name] for name in costs if name.startswith("pgbench")), None)
    for name, each in costs.items():
        ratio = statistics.median(each) / statistics.median(peer) if peer else None
        print(f"| `{name}` | {spread(each)} | {'' if ratio is None else f'{ratio:.1f}'} |")

"""Records anew what pgbench makes of the expressions in expressions.txt.

    PGHOST=... PGPORT=... PGUSER=... python3 record.py

One expression a line, a tab, and what `debug()` prints, or `error`. The first were written by hand;
the others were put together at random, once, from numbers of all magnitudes and every operator. A
new one is a line without a tab.
"""

import re
import subprocess
import tempfile
from pathlib import Path

FILE = Path(__file__).with_name("expressions.txt")


def printed(expression: str, script: Path) -> str:
    script.write_text(f"\\set x debug({expression})\n")
    command = ["pgbench", "-n", "-t1", "-f", str(script), "postgres"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.findall(r"debug\(script=0,command=1\): (.*)", ran.stderr)
    return found[-1] if found and ran.returncode == 0 else "error"


def main() -> None:
    expressions = [line.split("\t")[0] for line in FILE.read_text().splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "x.sql")
        FILE.write_text("".join(f"{one}\t{printed(one, script)}\n" for one in expressions))


main()

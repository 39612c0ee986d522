"""One run of DuckDB's Python package, as a process: LIBRARY FILE STATEMENT, then ``transactions N``
or ``seconds S``.

One connection executes the statement again and again and fetches its rows, as a program in Python
does. Prints ``operations: N``.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

ROWS = 10_000


def main() -> None:
    """Opens the file, and runs until the end that was asked for."""
    library, file, statement, unit, amount = sys.argv[1:]
    sys.path.insert(0, str(Path(library).parent))
    import duckdb

    connection = duckdb.connect(file)
    end_s = time.monotonic() + float(amount) if unit == "seconds" else None
    done = 0
    while time.monotonic() < end_s if end_s is not None else done < int(amount):
        connection.execute(statement, [random.randint(1, ROWS)]).fetchall()
        done += 1
    print(f"operations: {done}")
    connection.close()


if __name__ == "__main__":
    main()

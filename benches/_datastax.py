"""One run of the DataStax Python driver, as a process: HOST PORT CLIENTS STATEMENT, then
``transactions N`` or ``seconds S``.

So many requests are always under way, each answer's callback sends the next: the cheapest way that
the driver has. Prints ``operations: N``.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from typing import Any

USER = "cassandra"
KEYSPACE = "assay_bench"
ROWS = 10_000
TEXT = "x" * 60


def main() -> None:
    """Connects, prepares, and runs until the end that was asked for."""
    from cassandra.auth import PlainTextAuthProvider
    from cassandra.cluster import Cluster

    host, port, clients, statement, unit, amount = sys.argv[1:]
    login = PlainTextAuthProvider(USER, USER)
    cluster = Cluster([host], port=int(port), protocol_version=5, auth_provider=login)
    session = cluster.connect(KEYSPACE)
    prepared = session.prepare(statement)
    is_write = statement.startswith("INSERT")
    end_s = time.monotonic() + float(amount) if unit == "seconds" else None
    left = int(amount) if unit == "transactions" else None
    done = 0
    busy = int(clients)
    lock = threading.Lock()
    is_over = threading.Event()

    def send() -> None:
        number = random.randint(1, ROWS)
        values = (number, TEXT) if is_write else (number,)
        session.execute_async(prepared, values).add_callbacks(answered, failed)

    def answered(_: Any) -> None:
        nonlocal done, busy
        with lock:
            done += 1
            goes_on = time.monotonic() < end_s if end_s is not None else done < (left or 0)
            if not goes_on:
                busy -= 1
                if busy <= 0:
                    is_over.set()
        if goes_on:
            send()

    def failed(error: Exception) -> None:
        print(error, file=sys.stderr)
        is_over.set()

    for _ in range(int(clients)):
        send()
    is_over.wait()
    print(f"operations: {done}")
    cluster.shutdown()


if __name__ == "__main__":
    main()

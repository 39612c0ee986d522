"""One run of pymongo, as a process: HOST PORT CLIENTS WORK, then ``transactions N`` or
``seconds S``.

Each client is a thread of one `MongoClient`, whose pool gives each a connection of its own. WORK is
``find`` or ``insert``. Prints ``operations: N``.
"""

from __future__ import annotations

import random
import sys
import threading
import time

DATABASE = "assay_bench"
ROWS = 10_000
TEXT = "x" * 60


def main() -> None:
    """Connects, and runs until the end that was asked for."""
    from pymongo import MongoClient

    host, port, clients, work, unit, amount = sys.argv[1:]
    count = int(clients)
    client = MongoClient(host, int(port), maxPoolSize=count)  # type: ignore[var-annotated]
    point, log = client[DATABASE]["point"], client[DATABASE]["log"]
    end_s = time.monotonic() + float(amount) if unit == "seconds" else None
    each = max(1, int(amount) // count) if unit == "transactions" else 0
    done = [0] * count

    def run(number: int) -> None:
        while time.monotonic() < end_s if end_s is not None else done[number] < each:
            key = random.randint(1, ROWS)
            if work == "find":
                point.find_one({"_id": key}, {"_id": 0, "c": 1})
            else:
                log.insert_one({"id": key, "c": TEXT})
            done[number] += 1

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"operations: {sum(done)}")
    client.close()


if __name__ == "__main__":
    main()

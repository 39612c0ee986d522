"""On which processors the engine's threads work."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from running import started
from waiting import wait_until

pytestmark = pytest.mark.slow

ALLOWED = sorted(os.sched_getaffinity(0))


def processors_of_threads(process: int) -> Iterator[str]:
    """As ``0``, ``0-1``: what each thread of it may use."""
    for status in Path(f"/proc/{process}/task").glob("*/status"):
        with contextlib.suppress(OSError):  # it has ended
            for line in status.read_text("utf-8").splitlines():
                if line.startswith("Cpus_allowed_list:"):
                    yield line.split()[1]


@pytest.mark.skipif(len(ALLOWED) < 2, reason="there is one processor")
def test_a_thread_with_few_clients_stays_on_a_processor_of_its_own(tmp_path: Path) -> None:
    threads = str(len(ALLOWED))
    (tmp_path / "one.sql").write_text("SELECT 1;\n")
    words = ("run", "one.sql", "--on", "null[protocol=postgresql]", "--duration", "60")
    with started(tmp_path, *words, "--clients", threads, "--threads", threads) as run:
        wanted = {str(one) for one in ALLOWED}
        wait_until(
            lambda: wanted <= set(processors_of_threads(run.pid)),
            "each of its threads has a CPU of its own",
            goes_on=lambda: run.poll() is None,
        )

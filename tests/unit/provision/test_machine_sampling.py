"""The machine's processor states, load and page cache, as the kernel writes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.provision.machine import machine_sampling
from assay.provision.machine.machine_sampling import sample_machine

TICK_NS = machine_sampling._TICK_NS


def test_states_are_summed_as_top_shows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat, load, memory = (tmp_path / name for name in ("stat", "loadavg", "meminfo"))
    stat.write_text(
        "cpu  100 20 30 400 50 6 7 8 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5 1 4\nctxt 77\n"
    )
    load.write_text("1.05 3.59 19.00 2/300 4711\n")
    memory.write_text(
        "MemTotal: 16000 kB\nMemFree: 4536 kB\nMemAvailable: 5000 kB\nBuffers: 732 kB\n"
        "Cached:  7182 kB\nSwapCached: 1 kB\nDirty:  3 kB\nShmem: 1344 kB\nSwapTotal: 100 kB\n"
        "SwapFree: 60 kB\nHugePages_Total: 0\n"
    )
    monkeypatch.setattr(machine_sampling, "_STAT", stat)
    monkeypatch.setattr(machine_sampling, "_LOAD", load)
    monkeypatch.setattr(machine_sampling, "_MEMORY", memory)
    found = sample_machine()
    assert found is not None
    states = (found.user_ns, found.system_ns, found.idle_ns, found.iowait_ns, found.steal_ns)
    # Guests (the last two) are in user and nice already.
    assert states == tuple(ticks * TICK_NS for ticks in (120, 43, 400, 50, 8))
    assert (found.load_1min, found.cached_bytes, found.dirty_bytes) == (1.05, 7182 * 1024, 3072)
    assert (found.load_5min, found.load_15min) == (3.59, 19.0)
    sizes = (found.used_bytes, found.free_bytes, found.buffers_bytes, found.shared_bytes)
    assert sizes == (11000 * 1024, 4536 * 1024, 732 * 1024, 1344 * 1024)
    assert found.swap_used_bytes == 40 * 1024
    assert (found.context_switches, found.interrupts) == (77, 5)
    memory.unlink()
    assert sample_machine() is None, "a part that is missing is not zero"


def test_this_machine_is_seen() -> None:
    before, after = sample_machine(), sample_machine()
    assert before is not None and after is not None
    assert after.user_ns >= before.user_ns > 0
    assert after.cached_bytes > 0

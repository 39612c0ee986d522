"""Takes what a run observed of the machine; says where its processor states cannot be right: the
sampled ones are interpolated between samples, and on some virtual machines and in some containers
the kernel's own do not add up.
"""

from __future__ import annotations

from assay.contracts.observation.parts.costs import TICK_NS
from assay.judge.run import Run
from assay.text import units

_TOLERANCE = 0.05
"""Share of the time of all processors by which counts may differ."""
_TICKS = 2
"""Of each processor, at the beginning and at the end of the measurement."""


def contradiction(run: Run) -> str:
    """``user and system were 3.1 s, by the kernel's ticks 7.8 s``; empty: no
    contradiction is known."""
    driven, processors = run.driven, run.machine.get("processors")
    cost = driven.machine_cost if driven else None
    if driven is None or cost is None or not processors or not driven.elapsed_ns:
        return ""
    whole_ns = driven.elapsed_ns * processors
    allowed_ns = _TOLERANCE * whole_ns + _TICKS * TICK_NS * processors
    busy_ns = cost.user_ns + cost.system_ns
    found = []
    if abs(cost.capacity_ns - whole_ns) > allowed_ns:
        found.append(
            f"all states together were {_s(cost.capacity_ns)} of the {_s(whole_ns)} that "
            f"{units.counted(processors, 'processor')} had"
        )
    ticks_ns = driven.client_cost.machine_busy_ns
    if ticks_ns is not None and abs(busy_ns - ticks_ns) > allowed_ns:
        found.append(f"user and system were {_s(busy_ns)}, by the kernel's ticks {_s(ticks_ns)}")
    server_ns = driven.server_cost.cpu_ns if driven.server_cost else 0
    own_ns = driven.client_cost.cpu_ns + server_ns
    if own_ns - busy_ns > allowed_ns:
        found.append(
            f"user and system were {_s(busy_ns)}, client and server alone used {_s(own_ns)}"
        )
    return "; ".join(found)


def _s(time_ns: int) -> str:
    return f"{time_ns / 1e9:.1f} s"

"""Takes a system that works in the client's own process, and the memory that it is given; refuses a
limit at which the kernel might end this process: one that is too little for its sessions, or that
its data would count against, too.

The plan asks, and so does a run before it enters the limit: both get the same answer.
"""

from __future__ import annotations

from assay import registry
from assay.contracts.experiment import SystemChoice
from assay.contracts.storage_facts import IN_MEMORY
from assay.contracts.systems.abilities import BoundedInProcess, WorksInProcess
from assay.errors import ArgumentError
from assay.text.mentions import Mention, phrase
from assay.text.sizes import size_word
from assay.text.units import counted

_CLIENT_BYTES = 32 << 20
"""What the clients may take in this process while they work, beside the system in it."""


def is_limited(choice: SystemChoice) -> bool:
    """Whether this process has a memory limit while the system works."""
    system = registry.system(choice.name)
    is_given = choice.url is None and choice.machine.memory_bytes is not None
    is_in_process = isinstance(system, WorksInProcess) and system.is_in_process(choice)
    return is_given and is_in_process and isinstance(system, BoundedInProcess)


def refuse_too_little(
    choice: SystemChoice, storage_name: str, file_system: str, sessions: int
) -> None:
    """Raises `ArgumentError`. ``file_system``: of the data; empty: not known."""
    system, limit = registry.system(choice.name), choice.machine.memory_bytes
    if limit is None or not isinstance(system, BoundedInProcess) or not is_limited(choice):
        return
    if file_system in IN_MEMORY:
        raise ArgumentError(
            f"{choice.label}: data on {storage_name} count as memory of the process that writes "
            "them, here Assay's own, which the limit would end",
            hint=phrase("{--memory none}, or a storage on a disk"),
        )
    needed = system.most_memory_bytes(choice, sessions) + _CLIENT_BYTES
    needed = -(-needed >> 20) << 20
    if needed > limit:
        raise ArgumentError(
            f"{choice.label}: {counted(sessions, 'session')} may need {size_word(needed)} of this "
            f"process, and its limit is {size_word(limit)}",
            hint=phrase(
                "{} or more, a smaller buffer, or fewer clients",
                Mention("memory", size_word(needed)),
            ),
        )

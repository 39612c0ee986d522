"""`SHARED_OPTIONS`: the options that every storage has whatever its kind, also the one of a server
by URL. `StorageChoice` has a field for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypedDict

from assay.contracts.experiment import StorageChoice
from assay.contracts.option_spec import OptionSpec
from assay.text.quantities import RTT_S
from assay.text.units import exact_duration

RTT: Final = OptionSpec(
    name="rtt",
    default="0",
    levels=(),
    help="Round-trip time that is added between clients and a server on this storage (1ms), as "
    "--rtt does for all: that of a network disk, or of another machine. 0: none of its own.",
    quantity=RTT_S,
    spelling=lambda word: exact_duration(RTT_S.of_word(word)),
)
ROLE: Final = OptionSpec(
    name="role",
    default="",
    levels=("", "disk", "solid-state", "memory"),
    help="What it is: the column of a paper's table in which it stands. Empty: what its model or "
    "the kernel says, which is often wrong on a virtual machine.",
)
SHARED_OPTIONS: Final = (RTT, ROLE)


class SharedFields(TypedDict, total=False):
    """Fields of `StorageChoice`."""

    rtt_s: float
    role: str


def fields_of(options: Mapping[str, str]) -> SharedFields:
    """The fields of `StorageChoice` for those of the options that every storage has, as they were
    checked."""
    fields = SharedFields()
    if RTT.name in options:
        fields["rtt_s"] = RTT_S.of_word(options[RTT.name])
    if ROLE.name in options:
        fields["role"] = options[ROLE.name]
    return fields


def options_of(choice: StorageChoice) -> dict[str, str]:
    """What was asked for: of its kind, and of every storage, as it is written."""
    shared = {
        **({RTT.name: exact_duration(choice.rtt_s)} if choice.rtt_s else {}),
        **({ROLE.name: choice.role} if choice.role else {}),
    }
    return {**choice.options, **shared}

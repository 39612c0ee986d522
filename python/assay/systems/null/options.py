"""The options of the null system: in this process, by URL, or behind a protocol."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from assay import _engine
from assay.contracts.deployment import Address
from assay.contracts.systems.protocol import OptionSpec
from assay.errors import ArgumentError, SystemRefused
from assay.provision.engine.session import session
from assay.systems.options import TRANSPORT
from assay.text.quantities import ROWS_ANSWERED, SEED, SESSIONS_TAKEN


def _by_the_engine(name: str) -> Callable[[str], None]:
    """Refuses what the engine, which knows the forms, does not understand."""

    def refuse(value: str) -> None:
        try:
            with session(Address(driver="null", options={name: value, "deployment": "check"})):
                pass
        except SystemRefused as error:
            raise ArgumentError(error.message.removeprefix("opening a session: ")) from error

    return refuse


ENGINE_OPTIONS: Final[tuple[OptionSpec, ...]] = (
    OptionSpec(
        "delay",
        "",
        (),
        "Time that each statement takes: constant:1ms, uniform:1ms..3ms, exponential:1ms (mean), "
        "lognormal:1ms,0.5 (median, deviation of the logarithm).",
        refuse=_by_the_engine("delay"),
    ),
    OptionSpec(
        "stall",
        "",
        (),
        "When it stops answering: 1.4s@5s (the whole system, from 5 s on), 1.4s@#1000 (each "
        "session's statement of that number), 1.4s@0.01 (a share of the statements).",
        refuse=_by_the_engine("stall"),
    ),
    OptionSpec(
        "fail",
        "",
        (),
        "Errors to return: deadlock@#10, timeout@0.01; separate several with commas.",
        refuse=_by_the_engine("fail"),
    ),
    OptionSpec(
        "unknown",
        "",
        (),
        "Errors after which it is unknown whether the statement took effect: timeout@#10.",
        refuse=_by_the_engine("unknown"),
    ),
    OptionSpec(
        "lose",
        "",
        (),
        "When a session is lost: #100, 0.001 or 5s.",
        refuse=_by_the_engine("lose"),
    ),
    OptionSpec("rows", "0", (), "Rows returned by each SELECT.", ROWS_ANSWERED),
    OptionSpec(
        "refuse_after", "", (), "Most sessions at a time; more are refused.", SESSIONS_TAKEN
    ),
    OptionSpec("seed", "1", (), "Seed of its random choices.", SEED),
)
"""Passed to the engine, which checks and documents them in ``crates/drivers/src/null``."""

IN_PROCESS: Final = "none"

PROTOCOL: Final = OptionSpec(
    "protocol",
    IN_PROCESS,
    (IN_PROCESS, *_engine.null_protocols()),
    "The protocol that it speaks as a server, a process of its own; none: it lives in this one.",
)

REACHED_BY: Final = replace(
    TRANSPORT, help="How clients reach it behind a protocol: its Unix socket, or 127.0.0.1."
)

OPTIONS: Final = (*ENGINE_OPTIONS, PROTOCOL, REACHED_BY)

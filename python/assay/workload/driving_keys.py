"""Declares the keys of `Driving`, which tests, steps, groups and experiment files share, and those
of a drive step. Without a help of its own, a key has that of the setting in experiment files."""

from __future__ import annotations

from assay.contracts.driving import ARRIVALS, CONNECTIONS, ISOLATION_LEVELS, READS
from assay.text import quantities
from assay.text.files.keys import (
    FLAG,
    SCALAR,
    TEXT,
    TEXTS,
    Key,
    Keys,
    Kind,
    Listed,
    NumberWithin,
    OneOf,
)
from assay.workload.driving import RETRY_CLASSES
from assay.workload.tests.declared_scripts import ORDERS

_HELP = {
    "passes": "How often each client runs all scripts in their order; the end of the measurement.",
    "queue": "Transactions that all clients share: whichever client is free takes the next one.",
}
_RETRIES = Keys(
    (
        Key("most", NumberWithin(quantities.RETRIES), "Retries of a transaction, at most.",
            is_required=True),
        Key("classes", Listed(OneOf(RETRY_CLASSES)),
            "Classes of errors after which a transaction is tried again."),
    )
)  # fmt: skip
_RECONNECT = Keys(
    (
        Key("timeout_s", NumberWithin(quantities.WAIT_S),
            "Seconds for which a client that has lost its connection tries to reconnect."),
    )
)  # fmt: skip
_BY_SYSTEM = Keys(of_any_name=Key("", OneOf(ISOLATION_LEVELS)))
_BY_SCRIPT = Keys(of_any_name=Key("", OneOf(READS)))


def driving(*, names_parameters: bool) -> tuple[Key, ...]:
    """``names_parameters``: whether a number may be the name of a parameter, as in workloads."""

    def number(name: str) -> Kind | tuple[Kind, ...]:
        kind = NumberWithin(quantities.DRIVING[name])
        return (TEXT, kind) if names_parameters else kind

    numbers = [
        Key(name, number(name), _HELP.get(name, ""))
        for name in quantities.DRIVING
        if name != "retries"
    ]
    retries = number("retries")
    return (
        *numbers,
        Key("retries", retries, below=_RETRIES),
        Key("arrival", OneOf(ARRIVALS)),
        Key("think_time", TEXT),
        Key("keying_time", TEXT),
        Key("reconnect", FLAG, below=_RECONNECT),
        Key("isolation", OneOf(ISOLATION_LEVELS), below=_BY_SYSTEM),
        Key("connection", OneOf(CONNECTIONS)),
        Key("read", OneOf(READS), below=_BY_SCRIPT),
        Key("per_statement", FLAG),
    )


_MIX = Keys(of_any_name=Key("", (TEXT, NumberWithin(quantities.WEIGHT_IN_A_MIX))))
SCRIPTS = (
    Key("mix", help="Script file → its weight: clients choose at random.", below=_MIX),
    Key("scripts", TEXTS, "Script files, in their order; * stands for any letters."),
    Key("order", OneOf(ORDERS),
        "`sequence`: each client runs the scripts in their order; `mix`: at random by weight; "
        "`deck`: as many of each as its weight, shuffled, until none is left, and again."),
)  # fmt: skip
"""Of a test, a drive step, a group."""
IN_WORKLOADS = driving(names_parameters=True)
_CLIENTS = (TEXT, NumberWithin(quantities.CLIENTS))
_GROUP = Keys(
    (
        *SCRIPTS,
        *IN_WORKLOADS,
        Key("name", TEXT, "The name of the group, for --clients NAME=N.", is_required=True),
        Key("clients", _CLIENTS, "The number of its clients, or the parameter or constant that "
            "holds it; where that is 0, the group is left out."),
        Key("ends_with", TEXT, "The group of the step with whose last client these clients end, "
            "each after its transaction; otherwise they end by themselves."),
    )
)  # fmt: skip
DRIVE_STEP = (
    *SCRIPTS,
    Key("groups", help="[[…groups]]: clients that run the same scripts at the same pace; groups "
        "run at the same time.", below=_GROUP, is_list=True),
    Key("clients", _CLIENTS,
        "The number of clients, or the parameter or constant that holds it; otherwise that of the "
        "run."),
    Key("one_client", FLAG, "One client does the work of all."),
    Key("result", FLAG, "The numbers of the run are those of this step; otherwise of its last "
        "step that measures."),
    *IN_WORKLOADS,
)  # fmt: skip
STEP = (
    Key("name", TEXT, "The name under which other steps and reports refer to its results."),
    Key("parameters", help="Parameters that differ in this step: expressions of the run's.",
        below=Keys(of_any_name=Key("", SCALAR))),
)  # fmt: skip
"""Of every step."""

"""Declares the keys of `Driving`, which tests, steps, groups and experiment files share, and those
of a drive step. Without a help of its own, a key has that of the setting in experiment files."""

from __future__ import annotations

from assay.contracts.driving import ISOLATION_LEVELS, OF_FILES, READS, RETRY_CLASSES, SETTINGS
from assay.contracts.setting import Choice, Flag, Route, Setting
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
from assay.workload.tests.declared_scripts import ORDERS

_TABLES = {
    "retries": Keys(
        (
            Key("most", NumberWithin(quantities.RETRIES), "Retries of a transaction, at most.",
                is_required=True),
            Key("classes", Listed(OneOf(RETRY_CLASSES)), SETTINGS["retry_classes"].help),
        )
    ),
    "reconnect_timeout_s": Keys(
        (
            Key("timeout_s", NumberWithin(quantities.WAIT_S),
                "Seconds for which a client that has lost its connection tries to reconnect."),
        )
    ),
    "isolation": Keys(of_any_name=Key("", OneOf(ISOLATION_LEVELS))),
    "read": Keys(of_any_name=Key("", OneOf(READS))),
}  # fmt: skip
"""Of those that may be a table as well."""


def driving(*, is_of_workload: bool) -> tuple[Key, ...]:
    """``is_of_workload``: then a number may be the name of a parameter."""
    return tuple(
        Key(
            setting.name,
            _kinds(setting, is_of_workload),
            "" if setting.heading else setting.help,
            below=_TABLES.get(field),
        )
        for field, setting in OF_FILES.items()
        if setting.workloads_say or not is_of_workload
    )


def _kinds(setting: Setting, names_parameters: bool) -> Kind | tuple[Kind, ...]:
    if setting.quantity is not None:
        kind = NumberWithin(setting.quantity)
        return (TEXT, kind) if names_parameters else kind
    match setting.kind:
        case Choice(levels=words) | Route(words=words):
            return OneOf(words)
        case Flag():
            return FLAG
    return TEXT


_MIX = Keys(of_any_name=Key("", (TEXT, NumberWithin(quantities.WEIGHT_IN_A_MIX))))
SCRIPTS = (
    Key("mix", help="Script file → its weight: clients choose at random.", below=_MIX),
    Key("scripts", TEXTS, "Script files, in their order; * stands for any letters."),
    Key("order", OneOf(ORDERS),
        "`sequence`: each client runs the scripts in their order; `mix`: at random by weight; "
        "`deck`: as many of each as its weight, shuffled, until none is left, and again."),
)  # fmt: skip
"""Of a test, a drive step, a group."""
IN_WORKLOADS = driving(is_of_workload=True)
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

"""What every command with ``--format json`` prints: typed values, null for what is not known, and
no number that a reader of JSON would round."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from assay.cli.program import COMMANDS, group
from assay.probe import fio
from assay.storages.loop import LOOP
from commands import Assay

RUN = ("run", "one.sql", "--on", "null,null[protocol=postgresql]", "--transactions", "9")
OUTPUTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "run": (RUN[1:],),
    "plan": (RUN[1:], ("tpcb", "--on", "null", "--set", "scale=2", "--duration", "2.5")),
    "report": ((),),
    "compare": (("latest", "--between", "system"),),
    "trend": (("one.sql",),),
    "explain": (("tpcb", "--on", "null"),),
    "list": (
        ("systems",), ("workloads",), ("storages",), ("storages", "--detail"), ("runs",),
    ),
    "parts": ((),),
    "limits": ((), ("bibsql",)),
    "show": (("latest",),),
    "calibrate": (("--protocol", "none", "--clients", "1", "--duration", "0.2"),),
    "probe": (("--probe-seconds", "0.5"),),
    "verify": (("null",),),
    "durability": (("--on", "sqlite", "--storage", "loop[fs=ext4,size=64M]"),),
}  # fmt: skip
"""Command → words with which it prints JSON."""
EXACT = 2**53
"""Greater whole numbers are rounded by readers that have doubles only."""
TIMES = re.compile(r"_unix_ns$|\.stages\b")
"""Nanoseconds, of which such a reader loses less than one in a million million."""
OF_A_RECORD = ("report", "compare", "trend", "list", "show")
"""What they print is of an experiment that has been run."""
STORED = ("show",)
"""What a system, a script or a machine said is printed as it was."""
NAMES = re.compile(r"\.group$")
"""Of a single group of clients, empty."""
TEXTS = re.compile(
    r"seed$|version$|\.(machines?|build|installed)\b|default$|values$|options\b|latest_year$"
)
"""Texts that may look like numbers."""


def values(value: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield from values(one, f"{place}.{key}")
    elif isinstance(value, list):
        for one in value:
            yield from values(one, place)
    else:
        yield place, value


def test_every_command_with_json_is_tried() -> None:
    def has_json(name: str) -> bool:
        command = group.get_command(click.Context(group), name)
        assert command is not None
        return any(
            isinstance(one.type, click.Choice) and "json" in one.type.choices
            for one in command.params
        )

    served = {"delay-proxy"}  # prints its address as long as it runs
    assert {name for name in COMMANDS if has_json(name)} == {*OUTPUTS, *served}


@pytest.mark.parametrize("name", OUTPUTS)
def test_values_are_typed_and_exact_and_null_if_unknown(
    name: str, assay: Assay, tmp_path: Path
) -> None:
    (tmp_path / "one.sql").write_text("SELECT 1;\nSELECT nothing;\n")
    if name == "probe" and not fio.is_installed():
        pytest.skip("fio is not installed")
    if name == "durability" and LOOP.why_unavailable() is not None:
        pytest.skip("needs root and loop devices")
    if name in OF_A_RECORD:
        ran = assay(*RUN)
        assert ran.status == 0, ran.err
    wrong = []
    for words in OUTPUTS[name]:
        ended = assay(name, *words, "--format", "json")
        assert ended.status == 0, ended.err
        for place, value in values(ended.document):
            if isinstance(value, int) and abs(value) >= EXACT and not TIMES.search(place):
                wrong.append(f"{place}: readers round {value}")
            if place.endswith(".seed") and not isinstance(value, str):
                wrong.append(f"{place}: a text elsewhere, here {value!r}")
            if name in STORED or not isinstance(value, str):
                continue
            if value == "" and not NAMES.search(place):
                wrong.append(f"{place}: empty, not null")
            if re.fullmatch(r"-?[\d.,]+( of \d+| ?%)?|-|None", value) and not TEXTS.search(place):
                wrong.append(f"{place}: a number as the text {value!r}")
    assert not wrong, "\n".join(dict.fromkeys(wrong))

"""Settings of a real system in a full grid: the report's effects are those of its own runs."""

from __future__ import annotations

import json
from itertools import product
from statistics import fmean

import numpy as np
import pytest

from commands import Assay

SETTINGS = {
    "synchronous": ("full", "off"),
    "journal_mode": ("delete", "wal"),
    "cache_size": ("-2000", "-64000"),
}


@pytest.mark.slow
def test_effects_of_three_settings_of_sqlite(assay: Assay) -> None:
    given = [
        word
        for name, levels in SETTINGS.items()
        for word in ("--set", f"sqlite.{name}={','.join(levels)}")
    ]
    ended = assay(
        "run", "tpcb.simple-update", "--on", "sqlite", *given, "--repetitions", "2",
        "--clients", "1", "--duration", "0.25", "--warm-up", "0",
    )  # fmt: skip
    assert ended.status == 0, ended.err
    assert "settings     " in ended.out and "synchronous" in ended.out
    document = json.loads(assay("report", "latest", "--format", "json").out)
    (found,) = document["effects"]
    assert found["cells"] == 8
    # On a busy machine a cell may have a run that does not count.
    left_out = {cell.partition(":")[0] for cell in found["left_out"]}
    runs: dict[tuple[str, ...], list[float]] = {}
    for row in document["tables"]["runs"]:
        levels = dict(_settings(row))
        if ", ".join(f"{name} {levels[name]}" for name in sorted(levels)) not in left_out:
            at = tuple(levels[name] for name in SETTINGS)
            runs.setdefault(at, []).append(np.log(row["throughput_per_s"]))
    assert len(runs) == 8 - len(left_out)
    ratios = {}
    for effect in found["effects"]:
        changes = {change["factor"]: change for change in effect["of"]}
        contrasts = []
        for others in product(*(SETTINGS[name] for name in SETTINGS if name not in changes)):
            fixed = dict(zip((n for n in SETTINGS if n not in changes), others, strict=True))
            corners = [
                (np.prod(sides), _corner(changes, sides, fixed))
                for sides in product((1, -1), repeat=len(changes))
            ]
            if all(corner in runs for _, corner in corners):
                contrasts.append(sum(sign * fmean(runs[corner]) for sign, corner in corners))
        assert effect["combinations"] == len(contrasts)
        assert effect["ratio"] == pytest.approx(np.exp(fmean(contrasts)))
        ratios[tuple(changes)] = effect["ratio"]
    assert ratios["synchronous",] > 1, "without flushes it is faster"
    table = assay("report", "latest").out
    assert "cache_size  journal_mode  synchronous" in table
    compared = assay(
        "compare", "latest", "--between", "sqlite.synchronous", "--despite", "durability"
    )
    assert compared.status == 0, compared.err


def _settings(row: dict[str, object]) -> list[tuple[str, str]]:
    words = [word.partition("=") for word in str(row["system"]).split()[1:]]
    return [(name, value) for name, _, value in words]


def _corner(
    changes: dict[str, dict[str, str]], sides: tuple[int, ...], fixed: dict[str, str]
) -> tuple[str, ...]:
    """The levels of all settings."""
    sided = zip(changes.items(), sides, strict=True)
    at = {name: of["level" if side == 1 else "compared_with"] for (name, of), side in sided}
    return tuple({**fixed, **at}[name] for name in SETTINGS)

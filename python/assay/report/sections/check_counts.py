"""Takes runs; returns how many of their result checks were right, wrong, counted, compared, or
not run.

A check counts once for each system that it was run on, however often. Answers without an expected
result are compared with those of other runs and systems instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from assay.judge.check.answers import Check, is_counted, is_not_run, not_applicable
from assay.record import Run
from assay.text.units import counted

_REAL = "real"
"""The source of data that others have published."""
_DIGEST_SHOWN = 12


class CheckCounts(Struct):
    right: int = 0
    wrong: dict[str, None] = field(default_factory=dict)
    """``rows``; where there are several systems, ``rows (SYSTEM)``."""
    wrong_count: int = 0
    alike: int = 0
    """Answers without an expected result that are the same in all runs."""
    different: dict[str, None] = field(default_factory=dict)
    """Names of those that are not."""
    alone: int = 0
    """Those that only one run gave."""
    not_run: dict[tuple[str, str], int] = field(default_factory=dict)
    """(system, reason) → how many."""
    counted: dict[str, list[int]] = field(default_factory=dict)
    """As `wrong`; the rows that each run found."""
    not_decided: dict[str, None] = field(default_factory=dict)
    """As `wrong`; those whose right answer depends on the order of clients."""
    are_repeated: bool = False
    """Whether one with an expected result was run several times on a system."""
    compared_systems: int = 0

    @property
    def compared(self) -> int:
        return self.alike + len(self.different)


def counts_of(runs: Sequence[Run]) -> CheckCounts:
    by_system: dict[tuple[str, str], list[Check]] = {}
    unrated: dict[str, list[tuple[str, Check]]] = {}
    for run in runs:
        for check in run.checks:
            if check["expected"] is None:
                unrated.setdefault(check["id"], []).append((run.system_on_machine, check))
            else:
                by_system.setdefault((run.system_on_machine, check["id"]), []).append(check)
    found = CheckCounts()
    are_several = len({label for label, _ in by_system}) > 1
    for (label, id_), checks in by_system.items():
        name = f"{id_} ({label})" if are_several else id_
        missing = [check for check in checks if is_not_run(check)]
        if missing:
            key = (label, missing[0]["note"].removeprefix("not run: "))
            found.not_run[key] = found.not_run.get(key, 0) + 1
        elif any(check["ok"] is False for check in checks):
            found.wrong[name] = None
            found.wrong_count += 1
        elif any(map(is_counted, checks)):
            found.counted[name] = [check["found"] or 0 for check in checks]
        elif all(check["ok"] is True for check in checks):
            found.right += 1
            found.are_repeated |= len(checks) > 1
        else:
            found.not_decided[name] = None
    for id_, answers in unrated.items():
        if any(check["ok"] is False for _, check in answers):
            found.different[id_] = None
        elif len(answers) > 1:
            found.alike += 1
        else:
            found.alone += 1
    found.compared_systems = len({label for one in unrated.values() for label, _ in one})
    return found


def _unknown_editions(runs: Sequence[Run]) -> list[str]:
    """Why real data have no expected results, which are known by the digest of an edition, and for
    some values of parameters."""
    editions = {
        run.data.fingerprint: run.data.items
        for run in runs
        if run.data
        and run.data.source == _REAL
        and sum(map(_is_unrated, run.checks)) > len(not_applicable(run.checks))
    }
    return [
        *dict.fromkeys(why for run in runs for why in not_applicable(run.checks)),
        *(
            f"none is known for this edition of the data ({counted(items, 'item')}, "
            f"digest {digest[:_DIGEST_SHOWN]})"
            for digest, items in editions.items()
        ),
    ]


def _is_unrated(check: Check) -> bool:
    return check["expected"] is None and not is_not_run(check)


def words(runs: Sequence[Run]) -> str:
    """``6 of 6 right; SYSTEM: 2 not run: REASON``; empty where there were no checks."""
    found = counts_of(runs)
    parts = []
    if rated := found.right + found.wrong_count:
        each = ", each in all its runs" if found.are_repeated else ""
        parts.append(f"{found.right} of {rated} right{each}")
    if found.wrong:
        parts.append(f"wrong: {', '.join(found.wrong)}")
    if found.counted:
        each_counted = (f"{name} {_range(rows)}" for name, rows in found.counted.items())
        parts.append(f"{len(found.counted)} only counted: {', '.join(each_counted)}")
    if found.not_decided:
        parts.append(f"{len(found.not_decided)} not decided: {', '.join(found.not_decided)}")
    several = f"on all {found.compared_systems} systems" if found.compared_systems > 1 else ""
    where = f"the same {several or 'in all runs'}"
    if found.different:
        parts.append(f"{found.alike} of {counted(found.compared, 'compared answer')} {where}")
        parts.append(f"different: {', '.join(found.different)}")
    elif found.alike:
        parts.append(f"{counted(found.alike, 'answer')} compared: {where}")
    if found.alone:
        parts.append(f"{found.alone} without an expected result")
    if found.compared or found.alone:
        parts += _unknown_editions(runs)
    for (label, why), number in found.not_run.items():
        parts.append(f"{label}: {number} not run: {why}")
    return "; ".join(parts)


def _range(rows: Sequence[int]) -> str:
    """``14``; of runs that differ ``0 to 14``."""
    least, most = min(rows), max(rows)
    return str(least) if least == most else f"{least} to {most}"

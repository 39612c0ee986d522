"""Takes the verdicts of cells; returns the lines that say them, with as many whole reasons as there
is room for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from assay.judge import Verdict
from assay.judge.run import EXCEEDED, WORDS
from assay.report.summaries.cell_summary import CellSummary
from assay.report.summaries.named_line import named_line
from assay.text import units

LEAST = 2
"""Lines that a verdict on numbers that are not usable needs at least."""
_ORDER = ("", *WORDS[:1], EXCEEDED, "interrupted", "refused", *WORDS[1:])


def of_one(verdict: Verdict, width: int, room: int) -> list[str]:
    """With as many whole reasons as there is room for."""
    word = verdict.word or "none"
    if not verdict.reasons:
        return named_line("verdict", word, width)
    reasons = [reason.text for reason in verdict.reasons]
    for most in range(len(reasons), -1 if len(reasons) > 1 else 0, -1):
        lines = named_line("verdict", f"{word}: {_some(reasons, most)}", width)
        if len(lines) <= room:
            return lines
    cause, _, fix = _some(reasons, 1).partition("; fix: ")
    if not fix or room < LEAST:
        return named_line("verdict", f"{word}: {cause}", width, most=room)
    of_fix = room // 2
    return [
        *named_line("verdict", f"{word}: {cause}", width, most=room - of_fix),
        *named_line("", f"fix: {fix}", width, most=of_fix),
    ]


def of_several(summaries: Sequence[CellSummary], width: int, room: int) -> list[str]:
    """With as many whole reasons as there is room for."""
    most = max(len(_reasons(summaries, word)) for word in _ORDER)
    for number in range(most, -1 if are_usable(summaries) else 0, -1):
        lines = named_line("verdict", _with(summaries, number), width)
        if len(lines) <= room:
            return lines
    return named_line("verdict", _with(summaries, 1), width, most=room)


def _with(summaries: Sequence[CellSummary], most: int) -> str:
    """``2 valid, 1 refused: no restart; 1 indicative: one repetition``: the reasons of the worst,
    and of those without a number because they were refused; so many of each."""
    verdicts = [cell.verdict for cell in summaries]
    worst = max(verdicts, key=lambda verdict: _ORDER.index(verdict.word)).word
    plain, explained = [], []
    for word, count in counts(summaries).items():
        reasons = _reasons(summaries, word) if word in (worst, "refused") else []
        if reasons:
            explained.append(f"{count} {word}: {_some(reasons, most)}")
        else:
            plain.append(f"{count} {word}")
    return ", ".join([*plain, *(["; ".join(explained)] if explained else [])])


def counts(summaries: Iterable[CellSummary]) -> Counter[str]:
    """How many cells have each verdict, or why none."""
    without = {True: "without a verdict", False: "without a number"}
    return Counter(one.verdict.word or without[bool(one.numbers)] for one in summaries)


def _some(reasons: Sequence[str], most: int) -> str:
    """So many of them, and the number of the others."""
    left_out = len(reasons) - most
    if left_out <= 0:
        return "; ".join(reasons)
    if most == 0:
        return units.counted(left_out, "reason")
    return "; ".join([*reasons[:most], f"and {units.counted(left_out, 'more reason')}"])


def _reasons(summaries: Sequence[CellSummary], word: str) -> list[str]:
    """Each once, those of ``indicative`` with the cell or the number of cells that have them."""
    cells = [cell for cell in summaries if cell.verdict.word == word and cell.verdict.reason]
    if word != "indicative":
        return list(dict.fromkeys(cell.verdict.reason for cell in cells))
    holders: dict[str, list[str]] = {}
    for cell in cells:
        for reason in cell.verdict.reasons:
            holders.setdefault(reason.text, []).append(cell.name_among(summaries))
    most_first = sorted(holders, key=lambda reason: -len(holders[reason]))
    return [_held(reason, holders[reason], len(cells)) for reason in most_first]


def _held(reason: str, names: Sequence[str], of: int) -> str:
    if len(names) == of:
        return reason
    return f"{reason} ({names[0] if len(names) == 1 else f'{len(names)} of them'})"


def are_usable(summaries: Sequence[CellSummary]) -> bool:
    """Whether each has a number that is not invalid."""
    return all(
        cell.verdict.word in ("valid", "indicative") or bool(not cell.verdict.word and cell.numbers)
        for cell in summaries
    )

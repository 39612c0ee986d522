"""Takes the runs of each cell of a test, and the cells' verdicts; gives cells that asked the
same and got different answers a limited verdict and a warning, and says how far the others
agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from assay.comparison.sides.differences import asked
from assay.judge import CellVerdict, RunWarning, differing_statements, verdict
from assay.judge.differing_statements import AnsweringRun
from assay.judge.run import Verdict
from assay.judge.warnings.kinds import WarningKind
from assay.record import Run

Runs = Sequence[Run]
"""Of one cell."""
_MOST_STATEMENTS = 3


def judged(
    cells: Sequence[Runs], names: Sequence[str], verdicts: Sequence[CellVerdict]
) -> list[CellVerdict]:
    """In their order; each of those that differ with the reason not to rank it with the other."""
    found = list(verdicts)

    for first, other, of_first, of_other in _pairs(cells):
        differing = differing_statements.differing_statements(of_first, of_other)
        if not differing:
            continue
        sentences = [one.sentence for one in differing[:_MOST_STATEMENTS]]
        left = len(differing) - len(sentences)
        more = [f"and {left} more"] if left else []
        detail = f"compared with {names[first]}: {'; '.join([*sentences, *more])}"
        warning = RunWarning(WarningKind.ANSWERS_DIFFER.id, detail)
        found[other] = _limited(found[other], warning)
        found[first] = _limited(found[first])
    return found


def lines(cells: Sequence[Runs], verdicts: Sequence[CellVerdict]) -> Iterator[str]:
    """One where all agree, or where some do not."""
    warnings = (one for judged in verdicts for one in judged.warnings)
    if any(one.name == WarningKind.ANSWERS_DIFFER.id for one in warnings):
        yield "answers differ: these numbers are not ranked (see the warnings)"
        return

    agreed = (differing_statements.agreement(first, other) for *_, first, other in _pairs(cells))
    for words in dict.fromkeys(filter(None, agreed)):
        yield f"answers are the same: {words}"


def _pairs(
    cells: Sequence[Runs],
) -> Iterator[tuple[int, int, list[AnsweringRun], list[AnsweringRun]]]:
    """Each cell with the first that asked the same: seeds are equal where only systems, storages
    and the like differ."""
    if len(cells) < 2:
        return
    firsts: dict[tuple[str, int], tuple[int, list[AnsweringRun]]] = {}

    for place, runs in enumerate(cells):
        known = asked([run for run in runs if run.is_measured])
        if not known:
            continue
        first = firsts.setdefault((runs[0].full_test_name, runs[0].seed), (place, known))
        if first[0] != place:
            yield first[0], place, first[1], known


def _limited(own: CellVerdict, *warnings: RunWarning) -> CellVerdict:
    limit = Verdict.because("indicative", "answers differ")
    word = verdict.worst([limit, own.verdict])
    return replace(own, verdict=word, warnings=(*own.warnings, *warnings))

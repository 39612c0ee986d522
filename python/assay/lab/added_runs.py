"""Takes runs of an experiment that is under way; adds runs to its plan: further repetitions, and
disturbed repetitions that are measured again. Record, pool and judge know them from then on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from assay import env_vars
from assay.errors import ArgumentError
from assay.lab.run_context.context import Context
from assay.plan import PlannedRun, layout
from assay.plan.content import Content

_WORDS = {"yes": True, "no": False}


class AddedRuns:
    """Those of one experiment."""

    def __init__(
        self, context: Context, content: Content, seed: int, runs: Iterable[PlannedRun]
    ) -> None:
        """``seed``: of the experiment; ``runs``: all that it has, those that an earlier process
        added too."""
        self._context, self._content, self._seed = context, content, seed
        self._last: dict[str, int] = {}
        """Fingerprint of a cell → its last repetition."""
        for run in runs:
            self._know(run)

    def further(self, run: PlannedRun) -> PlannedRun:
        """Another repetition of the cell of this run."""
        return self._add(
            run, lambda repetition, at: layout.further(run, self._seed, repetition, at)
        )

    def in_place_of(self, run: PlannedRun) -> PlannedRun:
        """The same repetition once more, as other programs disturbed this run."""
        return self._add(run, lambda repetition, at: layout.in_place(run, repetition, at))

    def _add(self, run: PlannedRun, made: Callable[[int, int], PlannedRun]) -> PlannedRun:
        repetition = self._last[run.cell.fingerprint] + 1

        def planned(position: int) -> PlannedRun:
            found = made(repetition, position)
            return replace(found, content=self._content.of_run(found))

        found = self._context.store.plan_again(planned)
        self._know(found)
        self._context.known.cells.add(found)
        self._context.pool.add(found)
        return found

    def _know(self, run: PlannedRun) -> None:
        cell = run.cell.fingerprint
        self._last[cell] = max(self._last.get(cell, 0), run.repetition)


def are_disturbed_repeated() -> bool:
    """Whether runs that other programs disturbed are measured again. Raises `ArgumentError`."""
    word = env_vars.REPEAT_DISTURBED.get() or "yes"
    if word not in _WORDS:
        raise ArgumentError(
            f"{env_vars.REPEAT_DISTURBED.name}: expected {' or '.join(_WORDS)}, found {word!r}"
        )
    return _WORDS[word]

"""Ends the run under way, alone, as soon as its clients have taken far longer than the limit of the
goal that is searched.

It looks at the time of the step whose numbers are those of the run, from the beginning of its
measurement.
"""

from __future__ import annotations

from assay.contracts.engine.drive import DriveDocument
from assay.contracts.events import ClientsAtWork, Event, Sink, ignored
from assay.contracts.stop import StopReason
from assay.lab.run_context.context import RunState
from assay.record.runs.step_of_numbers import gives_the_numbers
from assay.workload.steps import Step

_NAME = "the limit of the goal"


class EarlyEnd:
    """Of one step."""

    def __init__(self, state: RunState, step: Step) -> None:
        self._stop, self._run = state.context.stop, state.context.store.run_id()
        excess = state.context.excess
        self._excess = excess if gives_the_numbers(state.test.steps, step) else None

    def look(self, elapsed_ns: float) -> None:
        """``elapsed_ns``: how long the clients of the step have been measured."""
        if self._excess is not None and elapsed_ns > self._excess.beyond_ns:
            self._stop.ask(StopReason(_NAME, run=self._run, exceeded=self._excess.reason))

    def during(self, document: DriveDocument, before_ns: int = 0) -> Sink:
        """A sink that looks while the document is driven. ``before_ns``: what earlier parts of the
        same step took."""
        if self._excess is None:
            return ignored
        unmeasured_s = (document.ramp_up_s or 0.0) + document.warm_up_s
        is_measured = False

        def tell(event: Event) -> None:
            nonlocal is_measured
            if not isinstance(event, ClientsAtWork):
                return
            report = event.report
            # Until a client begins, the time is that of connecting.
            is_measured = is_measured or report.done > 0 or bool(report.seconds)
            if is_measured:
                self.look(before_ns + (report.elapsed_s - unmeasured_s) * 1e9)

        return tell

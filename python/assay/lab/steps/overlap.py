"""Starts clients one after the other, so that several work at once and none overtakes another.

The reliability test of E831 (Kreymer 1995): sets of updates are started so that at least three run
at once, and the rows of each are compared with those that a single client leaves on a small table.
The interval between two starts is the time that a client takes alone, divided by the number that
must work at once. As long as no client overtakes the one before it, the rows that they leave are
known; a pause after each transaction keeps them in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated

from msgspec import structs

from assay.contracts.driving import DrivingChanges
from assay.contracts.observation import Observation, ReferenceReport
from assay.drive import observe as pacing
from assay.drive.document import document_of, scripts_of
from assay.drive.observe import Pace, first_error
from assay.errors import RunFailed
from assay.judge.result_checks import Check
from assay.lab.measurement import DrivenDocument, keep_samples
from assay.lab.run_context.context import RunState
from assay.lab.steps.drive import observe
from assay.lab.steps.load import keep, load
from assay.plan.drives import PlannedDrive, weights
from assay.text import quantities
from assay.text.keys import TEXT, NumberWithin, in_file
from assay.workload import steps
from assay.workload.steps import Drive, Step


@dataclass(frozen=True)
class Overlap(Step):
    """Clients start one after the other, each on its share of the work, so that at least
    ``at_once`` work at once and none overtakes another."""

    do = "overlap"
    changes_data = True
    has_clients = True
    staggers_clients = True
    found_as = "drive"
    alone: Annotated[
        str,
        in_file(
            TEXT,
            "The drive by one client, which measures how long the work takes.",
            steps.earlier_of_key("drive"),
        ),
    ] = field(kw_only=True)
    stagger: Annotated[
        str,
        in_file(
            TEXT,
            "The parameter that holds the seconds between the starts of two clients.",
            steps.seconds_of_key,
        ),
    ] = field(kw_only=True)
    """0: computed, as the time
    that one client takes alone divided by `at_once`."""
    pause: Annotated[
        str,
        in_file(
            TEXT,
            "The parameter that holds the seconds of pause after a transaction.",
            steps.seconds_of_key,
        ),
    ] = field(kw_only=True)
    """0: computed; on a fast system a short stall of the machine could otherwise make clients
    overtake one another."""
    at_once: Annotated[
        int, in_file(NumberWithin(quantities.CLIENTS), "Clients that must work at the same time.")
    ] = field(kw_only=True)

    def take(self, state: RunState) -> None:
        """Loads and drives until enough clients work at once; keeps the last of these drives.

        Raises `RunFailed` where the single client before it did not finish its work.
        """
        alone = state.driven(self.alone)
        if alone.outcomes.ok < alone.outcomes.scheduled:
            raise RunFailed(f"the single client failed{first_error(alone)}")
        cell = state.planned.cell
        asked = _Asked(state, self)
        expected = min(self.at_once, cell.clients)
        given = Pace(float(cell.parameters[self.stagger]), float(cell.parameters[self.pause]))
        # Tables grow with the clients' work: the last of them has more to do than the first.
        one_ns = max(asked.one_alone_ns(), 2 * alone.elapsed_ns // cell.clients)
        longest_ns = max(kind.latency.max_ns for kind in alone.transactions)
        apart_s = pacing.least_stagger_s(longest_ns / 1e9)
        pace = pacing.found_pace(given, one_ns / 1e9, asked.transactions, expected, apart_s)
        for attempt in range(1, pacing.MOST_ATTEMPTS + 1):
            observation = asked.drive(cell.clients, asked.transactions, pace)
            ends_ns = [end.elapsed_ns for end in observation.client_ends]
            together = pacing.at_work(ends_ns, round(pace.stagger_s * 1e9), expected)
            if min(together) >= expected or given.stagger_s or attempt == pacing.MOST_ATTEMPTS:
                break
            pace = structs.replace(pace, stagger_s=pace.stagger_s / 2)
        report = ReferenceReport(
            alone_elapsed_ns=alone.elapsed_ns,
            one_alone_ns=one_ns,
            stagger_ns=round(pace.stagger_s * 1e9),
            pause_ns=round(pace.pause_s * 1e9),
            least_at_once=min(together),
            most_at_once=max(together),
        )
        asked.keep(structs.replace(observation, reference=report))
        state.checked([_check(report, expected)])


class _Asked:
    """The data of the run, and drives of clients on them."""

    def __init__(self, state: RunState, step: Overlap) -> None:
        self._state = state
        self._step = step
        self.transactions = int(state.planned.cell.driving.stop["transactions"])
        """Of each client."""

    def one_alone_ns(self) -> int:
        """The time that one client takes alone for all of its transactions."""
        some = min(pacing.TRIED_TRANSACTIONS, self.transactions)
        elapsed_ns = self.drive(1, some, Pace()).elapsed_ns
        return round(elapsed_ns * self.transactions / some)

    def drive(self, clients: int, transactions: int, pace: Pace) -> Observation:
        """Drives ``clients`` on fresh data, with ``transactions`` each."""
        state, step, cell = self._state, self._step, self._state.planned.cell
        workload, dialect = state.workload, state.up().system.dialect
        self._dataset = load(state, cell.parameters, is_wanted_again=True)
        paced = {step.stagger: pace.stagger_s, step.pause: pace.pause_s}
        changed = replace(
            cell,
            clients=clients,
            driving=cell.driving.changed(DrivingChanges(transactions=transactions)),
            parameters={**cell.parameters, **paced},
        )
        run = replace(state.planned, cell=changed)
        test = state.test
        mix = weights(test.mix, workload.with_defaults(changed.parameters))
        planned = PlannedDrive(Drive(step.alone), run, test.scripts, test.order, mix)
        scripts = scripts_of(workload, planned, dialect)
        self._document = document_of(workload, planned, dialect, scripts)
        named = replace(step, name=f"{clients} at once")
        observation, self._samples = observe(state, named, planned, self._document)
        state.context.stop.check()
        return observation

    def keep(self, observation: Observation) -> None:
        """Records the last load and the last drive."""
        store = self._state.context.store
        keep(self._state, self._dataset)
        store.driving(self._document.plain)
        self._state.observed(self._step.label, observation)
        keep_samples(self._state, [DrivenDocument(observation, self._samples)])


def _check(report: ReferenceReport, expected: int) -> Check:
    """Whether as many clients worked at the same time as the test requires."""
    at_once = report.least_at_once or 0
    is_enough = at_once >= expected
    note = "" if is_enough else f"clients started too far apart: {expected} at once expected"
    return Check(
        id="at once",
        title="clients at work whenever one starts",
        expected=expected,
        found=at_once,
        ok=is_enough,
        note=note,
    )

"""Starts clients one after the other, so that several are at work together and none overtakes
another.

The reliability test of E831 (Kreymer 1995): sets of updates are started so that at least three are
at work at once, and the rows of each are compared with those that a single client leaves on a small
table. Clients start one after the other, apart by what one takes alone divided by how many must be
together; as long as none overtakes the one before it, all that they leave is known. So that none
does, each rests behind each transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

from msgspec import structs

from assay.check.concurrency import check_concurrency
from assay.drive import pacing
from assay.drive.document import document_of, scripts_of
from assay.drive.pacing import Pace
from assay.drive.transactions import first_error
from assay.errors import RunFailed
from assay.files.toml_file import Section
from assay.observation import Observation, ReferenceReport
from assay.plan.drives import PlannedDrive
from assay.steps.context import RunState
from assay.steps.drive import observe
from assay.steps.load import keep, load
from assay.text import quantities
from assay.workload import step_keys
from assay.workload.declared_steps import earlier
from assay.workload.steps import Drive, Names, Step, common


@dataclass(frozen=True)
class Overlap(Step):
    """Clients start one after the other, each on its share of the work, so that at least some are
    at work together and none overtakes another."""

    do: ClassVar[str] = "overlap"
    changes_data: ClassVar[bool] = True
    has_clients: ClassVar[bool] = True
    staggers_clients: ClassVar[bool] = True
    found_as: ClassVar[str] = "drive"
    alone: str = field(kw_only=True)
    """The drive by one client, which measures how long the work takes."""
    stagger: str = field(kw_only=True)
    """The parameter that holds the seconds between two clients' starts. Where it is 0 they are
    found: what one client takes by itself, divided by `at_once`."""
    pause: str = field(kw_only=True)
    """The parameter that holds the seconds a client rests behind each transaction. Where it is 0
    they are found too: a system may be so fast that a hiccup of the machine would make clients
    overtake one another."""
    at_once: int = field(kw_only=True)
    """How many clients must be at work together."""

    @classmethod
    def read(cls, section: Section, names: Names) -> Self:
        return cls(
            alone=earlier(section, "alone", "drive", names),
            stagger=step_keys.seconds(section, "stagger", names.parameters),
            pause=step_keys.seconds(section, "pause", names.parameters),
            at_once=section.whole("at_once", quantities.CLIENTS),
            **common(section, names),
        )

    def take(self, state: RunState) -> None:
        """Loads and drives until enough clients are together; keeps the last of these drives.

        Raises `RunFailed` where the single client before it did not end its work.
        """
        alone = state.driven(self.alone)
        if alone.outcomes.ok < alone.outcomes.scheduled:
            raise RunFailed(f"the single client failed{first_error(alone)}")
        cell = state.planned.cell
        asked = _Asked(state, self)
        wanted = min(self.at_once, cell.clients)
        given = Pace(float(cell.parameters[self.stagger]), float(cell.parameters[self.pause]))
        # Tables grow with the clients' work: the last of them has more to do than the first.
        one_ns = max(asked.one_alone_ns(), 2 * alone.elapsed_ns // cell.clients)
        longest_ns = max(one.latency.max_ns for one in alone.transactions)
        apart_s = pacing.least_stagger_s(longest_ns / 1e9)
        pace = pacing.found_pace(given, one_ns / 1e9, asked.transactions, wanted, apart_s)
        for attempt in range(1, pacing.MOST_ATTEMPTS + 1):
            observation = asked.drive(cell.clients, asked.transactions, pace)
            ends_ns = [end.elapsed_ns for end in observation.client_ends]
            together = pacing.at_work(ends_ns, round(pace.stagger_s * 1e9), wanted)
            if min(together) >= wanted or given.stagger_s or attempt == pacing.MOST_ATTEMPTS:
                break
            pace = replace(pace, stagger_s=pace.stagger_s / 2)
        report = ReferenceReport(
            alone_elapsed_ns=alone.elapsed_ns,
            one_alone_ns=one_ns,
            stagger_ns=round(pace.stagger_s * 1e9),
            pause_ns=round(pace.pause_s * 1e9),
            least_at_once=min(together),
            most_at_once=max(together),
        )
        asked.keep(structs.replace(observation, reference=report))
        state.checked([check_concurrency(report, wanted)])


class _Asked:
    """The data that the run asks for, and clients at work on them."""

    def __init__(self, state: RunState, step: Overlap) -> None:
        self._state = state
        self._step = step
        self.transactions = int(state.planned.cell.driving.stop["transactions"])
        """Of each client."""

    def one_alone_ns(self) -> int:
        """What one client takes for all of its transactions, by itself."""
        some = min(pacing.TRIED_TRANSACTIONS, self.transactions)
        elapsed_ns = self.drive(1, some, Pace()).elapsed_ns
        return round(elapsed_ns * self.transactions / some)

    def drive(self, clients: int, transactions: int, pace: Pace) -> Observation:
        """So many clients on fresh data, each with so many transactions."""
        state, step, cell = self._state, self._step, self._state.planned.cell
        workload, dialect = state.workload, state.up().system.dialect
        self._dataset = load(state, cell.parameters, is_wanted_again=True)
        paced = {step.stagger: pace.stagger_s, step.pause: pace.pause_s}
        changed = replace(
            cell,
            clients=clients,
            driving=cell.driving.changed({"transactions": transactions}),
            parameters={**cell.parameters, **paced},
        )
        run = replace(state.planned, cell=changed)
        test = state.test
        planned = PlannedDrive(Drive(step.alone), run, test.scripts, test.order, test.mix)
        scripts = scripts_of(workload, planned, dialect)
        self._document = document_of(workload, planned, dialect, scripts)
        named = replace(step, name=f"{clients} at once")
        observation, self._samples = observe(state, named, planned, self._document)
        return observation

    def keep(self, observation: Observation) -> None:
        """Puts the last load and the last drive on record."""
        store = self._state.context.store
        keep(self._state, self._dataset)
        store.driving(self._document)
        self._state.observed(self._step.label, observation)
        store.sampled(self._samples)

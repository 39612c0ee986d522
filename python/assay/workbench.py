"""Takes planned runs; keeps the sites they share, and what each site holds, until nobody needs
them.

A site is brought up when the first run wants it and stays until the last one has ended: with
interleaved repetitions several systems are up at once, of which one works and the others wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import astuple
from types import TracebackType
from typing import Self

from assay import registry
from assay.dialects.protocol import Table
from assay.load.dataset import DataRequest, Dataset
from assay.load.stage import OnProgress, drop, load, refuse_foreign_tables
from assay.plan import Plan, PlannedRun
from assay.provision.site import Site
from assay.provision.stage import provision
from assay.systems.protocol import System


class Workbench:
    """A site that is up, and the data set it holds."""

    def __init__(self, site: Site, system: System, teardown: ExitStack) -> None:
        self.site = site
        self.system = system
        self._teardown = teardown
        self._held: Dataset | None = None
        self._claimed: tuple[Table, ...] = ()

    def load(
        self, tables: Sequence[Table], request: DataRequest, progress: OnProgress | None = None
    ) -> Dataset:
        """The data set of ``request``: the one that is here already, or loaded now."""
        if self._held is None or self._held.request.key != request.key:
            self._claim(tables)
            self.forget()
            self._held = load(self.site, self.system, tables, request, progress)
        return self._held

    def forget(self) -> None:
        """What the site holds is no longer what was loaded."""
        self._held = None

    def close(self) -> None:
        """Takes the site down; a server that is not ours is left as it was found."""
        with self._teardown:
            if self._claimed and not self.site.is_private:
                drop(self.site, self.system.dialect, self._claimed)

    def _claim(self, tables: Sequence[Table]) -> None:
        """From here on the tables are ours to replace; whose they were is asked once."""
        if not self._claimed and not self.site.is_private:
            refuse_foreign_tables(self.site, self.system.dialect, tables)
        self._claimed = tuple(tables)


class Workbenches:
    """All sites of one experiment; those still up are taken down at the end of the block."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._up: dict[str, Workbench] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with ExitStack() as all_of_them:
            for bench in self._up.values():
                all_of_them.callback(bench.close)
            self._up.clear()

    def bench(self, planned: PlannedRun) -> Workbench:
        """The site of this run, brought up if it is not."""
        place = _place(planned)
        if place not in self._up:
            cell = planned.cell
            with ExitStack() as stack:
                connections = self._plan.connections_needed(cell.system)
                site = stack.enter_context(
                    provision(cell.system, cell.storage, connections=connections)
                )
                self._up[place] = Workbench(
                    site, registry.system(cell.system.name), stack.pop_all()
                )
        return self._up[place]

    def release(self, planned: PlannedRun) -> None:
        """Takes the site down if no later run wants it."""
        later = self._plan.runs[planned.position + 1 :]
        if all(_place(run) != _place(planned) for run in later):
            self.discard(planned)

    def discard(self, planned: PlannedRun) -> None:
        """Takes the site down; a later run gets a fresh one."""
        bench = self._up.pop(_place(planned), None)
        if bench is not None:
            bench.close()


def _place(run: PlannedRun) -> str:
    return repr((astuple(run.cell.system), astuple(run.cell.storage)))

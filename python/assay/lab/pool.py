"""Takes planned runs; returns each the deployment it needs, shared with runs that need the same."""

from __future__ import annotations

import itertools
import math
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from msgspec import structs

from assay import registry
from assay.contracts.deployment import Deployment
from assay.contracts.dialects import Table
from assay.contracts.durability import NO_SETTINGS, Durability, SessionSettings, not_measured
from assay.contracts.events import Events, FilesCopied
from assay.contracts.experiment import brief
from assay.contracts.storages.abilities import AccountedSecond, OwnDevice
from assay.contracts.systems.abilities import BufferSize
from assay.contracts.systems.protocol import ServerDirectory, System
from assay.errors import ArgumentError, NotRemoved, SystemUnderTestError
from assay.load.dataset import DEFAULT_LOADING, Loading
from assay.plan import Plan, PlannedRun
from assay.probe.durability import measure_durability
from assay.provision import page_cache
from assay.provision.running_system import RunningSystem, on_storage
from assay.provision.space import Space
from assay.text.phrases import reason_with_more

if TYPE_CHECKING:
    from assay.load.copies import Copies, Copy, CopyFacts
    from assay.load.dataset import Dataset
    from assay.load.row_sources.protocol import DataRequest
    from assay.provision.copying import OnCopied


class _DataUses:
    """Of the runs left on a deployment, which of them may change its data."""

    def __init__(self, positions: Iterable[int], changing: set[int]) -> None:
        self._positions = dict.fromkeys(positions)
        self._changing = changing

    def are_needed_again(self, position: int) -> bool:
        """Whether a run is left behind the one at this position that may change them, or behind
        another: the last one of the others is taken to have none."""
        others = [one for one in itertools.islice(reversed(self._positions), 2) if one != position]
        if not others:
            return False
        return not self._changing <= {others[0]}

    def drop(self, position: int) -> None:
        self._positions.pop(position, None)
        self._changing.discard(position)


class Pool:
    """All deployments of one experiment; those still up are taken down at the end of the block."""

    def __init__(
        self,
        plan: Plan,
        loading: Loading = DEFAULT_LOADING,
        runs: Iterable[PlannedRun] | None = None,
        *,
        warning: Callable[[str], None] = lambda _: None,
        stage: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``runs``: those of the plan that are executed; None: all. A server is started for the
        clients of the whole plan, so that it is the same whichever of them are executed now.
        ``warning`` gets a sentence where something of a deployment cannot be removed; the next
        command tries again. ``stage`` gets the name of what takes time."""
        self._plan = plan
        self._left: dict[str, dict[int, PlannedRun]] = {}
        """Place of a deployment → its runs that have not ended, by position; each place is asked
        for once a run. Which of them is next is not known: a goal decides it."""
        for run in sorted(plan.runs if runs is None else runs, key=lambda run: run.position):
            self._left.setdefault(place_of(run), {})[run.position] = run
        self._data_uses: dict[str, _DataUses] = {}
        self._loading = loading
        self._up: dict[str, PooledSystem] = {}
        self._made: dict[str, PooledSystem] = {}
        """Whose storage is there, and which were not started yet."""
        self._warning = warning
        self._stage = stage

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with ExitStack() as all_of_them:
            for pooled in (*self._up.values(), *self._made.values()):
                all_of_them.callback(self._close, pooled)
            self._up.clear()
            self._made.clear()

    def made(self, planned: PlannedRun) -> PooledSystem:
        """The deployment of this run; if it is not up, its storage is made."""
        place = place_of(planned)
        if place in self._up:
            return self._up[place]
        cell = planned.cell
        is_made = cell.system.url is None
        if is_made and isinstance(registry.storage(cell.storage.kind), OwnDevice):
            self._stage(f"make the storage {cell.storage.name}")
        with ExitStack() as stack:
            connections = self._plan.connections_needed(cell.system)
            on_its_storage = on_storage(cell.system, cell.storage, connections=connections)
            running = stack.enter_context(on_its_storage)
            self._made[place] = PooledSystem(running, stack.pop_all(), self._loading)
        return self._made[place]

    def start(self, planned: PlannedRun) -> None:
        """Brings the deployment up that was `made`; looks again at one that is up."""
        place = place_of(planned)
        if place in self._up:
            self._up[place].look_again()
            return
        pooled = self._made.pop(place)
        with ExitStack() as undo:
            undo.callback(self._close, pooled)
            pooled.start()
            undo.pop_all()
        self._up[place] = pooled

    def add(self, run: PlannedRun) -> None:
        """One that the plan did not have is executed as well."""
        place = place_of(run)
        self._left.setdefault(place, {})[run.position] = run
        self._data_uses.pop(place, None)  # which runs need the data again is looked at anew

    def runs_with(self, planned: PlannedRun) -> list[PlannedRun]:
        """The runs that share its deployment and have not ended, itself too."""
        return list(self._left.get(place_of(planned), {}).values())

    def needs_data_again(
        self,
        planned: PlannedRun,
        is_executed: Callable[[PlannedRun], bool],
        may_change: Callable[[PlannedRun], bool],
    ) -> bool:
        """Whether a later run on the deployment of this one needs its data after this run, or one
        between them, may have changed them. The runs are looked at once, not once for each run."""
        place = place_of(planned)
        if place not in self._data_uses:
            executed = [run for run in self._left.get(place, {}).values() if is_executed(run)]
            changing = {run.position for run in executed if may_change(run)}
            self._data_uses[place] = _DataUses([run.position for run in executed], changing)
        return self._data_uses[place].are_needed_again(planned.position)

    def least_space(self, planned: PlannedRun) -> Space | None:
        """The least free space that the storage of this run had lately; None: not known."""
        pooled = self._up.get(place_of(planned))
        return None if pooled is None else pooled.least_space()

    def resource_failure(self, planned: PlannedRun) -> str | None:
        """Why the storage or the memory limit of this run's deployment has failed it, or None."""
        pooled = self._up.get(place_of(planned))
        return None if pooled is None else pooled.resource_failure()

    def release(self, planned: PlannedRun) -> None:
        """It has ended: takes the deployment down if no other run needs it."""
        self.spare([planned])

    def spare(self, runs: Sequence[PlannedRun]) -> None:
        """These have ended, or will not be executed. Takes down deployments that no other run
        needs."""
        for run in runs:
            place = place_of(run)
            left = self._left.get(place, {})
            left.pop(run.position, None)
            if place in self._data_uses:
                self._data_uses[place].drop(run.position)
            if not left:
                self._discard(place)

    def discard(self, planned: PlannedRun) -> None:
        """Takes the deployment down; a later run gets a fresh one."""
        self._discard(place_of(planned))

    def _discard(self, place: str) -> None:
        for pooled in (self._up.pop(place, None), self._made.pop(place, None)):
            if pooled is not None:
                self._close(pooled)

    def _close(self, pooled: PooledSystem) -> None:
        if pooled.is_up and pooled.deployment.is_private and not pooled.deployment.is_embedded:
            self._stage(f"stop {brief(pooled.deployment.label)}")
        try:
            pooled.close()
        except NotRemoved as error:
            self._warning(reason_with_more(error.message, error.hint or ""))


def place_of(run: PlannedRun) -> str:
    """Equal for runs that share a deployment."""
    return repr((astuple(run.cell.system), astuple(run.cell.storage)))


Made = TypeVar("Made")


class PooledSystem:
    """A deployment that is up, and the data set it holds."""

    def __init__(
        self, running: RunningSystem, teardown: ExitStack, loading: Loading = DEFAULT_LOADING
    ) -> None:
        self._running = running
        self._teardown = teardown
        self._loading = loading
        self._held: tuple[str, Dataset] | None = None
        self._tables: tuple[Table, ...] = ()
        """Of the last load, which may have been of other tables."""
        self._claimed: tuple[Table, ...] = ()
        self._buffer: str | None = None
        self._sound: set[Path] = set()
        """Folders of copies that outlive the experiment, once they were found to be whole."""

    def plain_directories(self) -> list[AbstractContextManager[ServerDirectory]]:
        """On each of its storages before it is up; none where it is reached by URL."""
        return self._running.plain_directories()

    def start(self) -> None:
        """Brings it up for the first time, on the storage that is there."""
        self._teardown.enter_context(self._running.up())

    @property
    def deployment(self) -> Deployment:
        """As it is up now."""
        return self._running.deployment

    def note_durability(self, durability: Durability) -> None:
        """That of the commits of the next run's sessions."""
        self._running.note_durability(durability)

    def note_lowered_durability(self, lowered: Mapping[str, str]) -> None:
        """What lowers that of the next run beside the settings → what to do about it."""
        self._running.note_lowered_durability(lowered)

    @property
    def is_up(self) -> bool:
        """Whether there is a deployment: not between a stop and a start that failed."""
        return self._running.is_up

    @property
    def system(self) -> System:
        return self._running.system

    @property
    def reports_its_death(self) -> bool:
        """Whether `why_it_died` can ever give a reason."""
        return self._running.reports_its_death

    def why_it_died(self) -> str | None:
        """None while the system, its storage and its memory limit let it live."""
        return self._running.why_it_died()

    def resource_failure(self) -> str | None:
        """Why its storage or its memory limit has failed it, or None."""
        return self._running.resource_failure()

    def least_space(self) -> Space | None:
        """The least free space that its storage had lately; None where that is not known."""
        return self._running.least_space()

    def look_again(self) -> None:
        """Reads the version and the settings of a server that is not Assay's again."""
        self._running.look_again()

    def in_its_memory(self, sessions: int) -> AbstractContextManager[None]:
        """A block in which this process has the memory limit of a system that works in it."""
        return self._running.in_its_memory(sessions)

    def accounted(self, from_unix_ns: int, to_unix_ns: int) -> tuple[AccountedSecond, ...]:
        """What its storage says of each second of a period; nothing where it keeps no account."""
        return self._running.accounted(from_unix_ns, to_unix_ns)

    def load(
        self,
        tables: Sequence[Table],
        request: DataRequest,
        events: Events,
        *,
        is_wanted_again: bool = False,
    ) -> Dataset:
        """The data set of ``request``: the one that is here already, or restored from a copy of it,
        or loaded now. A copy is made where copies outlive the experiment, and where the data are
        ``is_wanted_again`` after a run that changes them."""
        from assay.load.copies import facts_of

        facts = facts_of(self.deployment, self.system, tables, request)
        expected = repr(facts)
        if self._held is None or self._held[0] != expected:
            self._claim(tables, events)
            self.forget()
            copy = self._copy_of(facts, events)
            if copy is not None:
                dataset = self._restore(copy, tables, request, events)
                self._verify(dataset, tables, events)
            else:
                self._clear()
                self._tables = tuple(tables)
                from assay.load.load import load

                dataset = load(
                    self.deployment, self.system, tables, request, events.emit, self._loading
                )
                if self._running.can_restart and (is_wanted_again or self._loading.datasets):
                    self._keep(facts, dataset, events)
            self._held = (expected, dataset)
        return self._held[1]

    def forget(self) -> None:
        """What the deployment holds is no longer what was loaded."""
        self._held = None

    def size_buffer(self, dataset: Dataset, data_to_buffer: float | None) -> Dataset:
        """Starts the server again with a buffer of which the data are so many times the size; None:
        with its default one. A system without a buffer, or one by URL, stays as it is. Returns the
        data set with what came of it.

        Raises `ArgumentError` where the system is not started by Assay again, or holds no data.
        """
        buffer_size = None
        if not self.deployment.is_private:
            return self._with_own_buffer(dataset, data_to_buffer)
        if data_to_buffer is not None and self._buffer_bytes() is not None:
            if not (self._running.can_restart and dataset.data_bytes):
                raise ArgumentError(
                    f"{self.deployment.label}: data_to_buffer needs data in a private system",
                    hint="leave it out, or name a system that Assay starts",
                )
            buffer_size = str(math.ceil(dataset.data_bytes / data_to_buffer))
        if buffer_size != self._buffer:
            self._running.stop()
            self._running.start(buffer=buffer_size)
            self._buffer = buffer_size
        if buffer_size is None:
            return dataset
        effective = self._buffer_bytes()
        return structs.replace(
            dataset,
            buffer_bytes=effective,
            data_to_buffer=dataset.data_bytes / effective if effective else None,
        )

    def _with_own_buffer(self, dataset: Dataset, asked: float | None) -> Dataset:
        """Of a server that cannot be started again: how it is, beside what was asked."""
        if asked is None:
            return dataset
        found = self._buffer_bytes()
        ratio = dataset.data_bytes / found if found and dataset.data_bytes else None
        return structs.replace(
            dataset, buffer_bytes=found, data_to_buffer=ratio, data_to_buffer_asked=asked
        )

    def _buffer_bytes(self) -> int | None:
        system = self.system
        return system.buffer_bytes(self.deployment) if isinstance(system, BufferSize) else None

    def restart(self, drop: Callable[[Path], int] | None) -> Deployment:
        """Stops the system and starts it again on what it wrote. ``drop``: of
        `assay.provision.page_cache`, called between stop and start with each folder, device or
        image that holds its data.

        Raises `ArgumentError` where Assay did not start it, or keeps nothing.
        """
        if not self._running.can_restart:
            raise ArgumentError(
                f"{self.deployment.label} cannot be restarted: expected a private server that "
                "keeps its data in files",
                hint="name a system that Assay starts",
            )
        caches = self._cached_at()
        self._running.stop()
        kept = sum(map(drop, caches)) if drop is not None else None
        return replace(self._running.start(buffer=self._buffer), page_cache_kept_bytes=kept)

    @property
    def directory(self) -> ServerDirectory | None:
        """Where a private server writes; None: it is reached by URL."""
        return self._running.directory

    def while_stopped(self, work: Callable[[Path], Made]) -> Made:
        """Stops the system, has ``work`` done with the folder of its data, and starts it again,
        also after an error, where it can be. Raises `ArgumentError` where not all of its data are
        in a folder of its own."""
        data = self._running.data
        if data is None:
            raise ArgumentError(
                f"{self.deployment.label}: its data are not in a folder of Assay's",
                hint="name a system that Assay starts, on a storage with a file system",
            )
        self._running.stop()
        try:
            made = work(data)
        except Exception:
            with suppress(SystemUnderTestError):  # the first error is the one to be reported
                self._running.start(buffer=self._buffer)
            raise
        self._running.start(buffer=self._buffer)
        return made

    def _cached_at(self) -> list[Path]:
        """What is in the page cache of its data: files, a raw device, and the image of a storage
        on a loop device without direct I/O."""
        nodes, directory = self.deployment.nodes, self._running.directory
        folders = (one for node in nodes for one in (node.directory, node.log_directory))
        found = [one for one in folders if one is not None]
        if directory is not None and directory.raw_device is not None:
            found.append(directory.raw_device)
        on = [storage for node in nodes for storage in (node.storage, node.log_storage) if storage]
        images = (page_cache.image_below(storage.device) for storage in on)
        return list(dict.fromkeys([*found, *(image for image in images if image is not None)]))

    def close(self) -> None:
        """Takes the deployment down; a server that Assay did not start is left as it was found."""
        with self._teardown:
            if self._claimed and not self.deployment.is_private:
                from assay.load.tables import drop

                drop(self.deployment, self.system.dialect, self._claimed)

    def _claim(self, tables: Sequence[Table], events: Events) -> None:
        """From here on the tables may be replaced; whose they were is asked once."""
        if self.deployment.is_private:
            return
        mine = {table.name for table in self._claimed}
        new = [table for table in tables if table.name not in mine]
        from assay.load.tables import refuse_foreign_tables

        if left := refuse_foreign_tables(self.deployment, self.system.dialect, new):
            events.warning(
                f"{self.deployment.label} holds tables of an Assay that was killed: "
                f"{', '.join(left)}; they are removed"
            )
        self._claimed = (*self._claimed, *new)

    def _clear(self) -> None:
        """Takes away what another load left: it would count as data of this one."""
        data = self._running.data
        if self._running.can_restart and self.deployment.is_embedded and data is not None:
            # In this process a new file costs nothing, and one that held more would stay as large.
            self._running.stop()
            shutil.rmtree(data, ignore_errors=True)
            self._running.start(buffer=self._buffer)
        else:
            from assay.load.tables import drop

            drop(self.deployment, self.system.dialect, self._tables)

    def _copies(self) -> list[Copies]:
        """Where copies are looked for; they are made in the first."""
        found = []
        from assay.load.copies import Copies

        if self._loading.datasets is not None:
            found.append(Copies(self._loading.datasets, is_kept=True))
        if self._running.directory is not None:
            found.append(Copies(self._running.directory.root / "copies", is_kept=False))
        return found

    def _copy_of(self, facts: CopyFacts, events: Events) -> Copy | None:
        """The first copy that is whole; one that is damaged is reported and left to be replaced."""
        if self._running.data is None:
            return None
        for copies in self._copies():
            copy = copies.find(facts)
            if copy is None:
                continue
            if copy.folder in self._sound or not copies.is_kept:
                return copy
            events.stage("verify the copy of the data")
            if (damage := copy.damage()) is None:
                self._sound.add(copy.folder)
                return copy
            events.warning(
                f"the copy of the data in {copy.folder} is damaged: {damage}; the data are loaded "
                "again, and the copy is replaced"
            )
        return None

    def _keep(self, facts: CopyFacts, dataset: Dataset, events: Events) -> None:
        """Stops the server, copies what it wrote, and starts it again. Without room for a copy the
        data are loaded again when they are wanted again."""
        data = self._running.data
        if data is None:
            return
        events.stage("copy the data")
        is_whole = self._running.stop()
        try:
            if is_whole:
                from assay.provision.copying import allocated_bytes

                on_copied = _copy_progress(events, allocated_bytes(data))
                self._copies()[0].make(facts, data, dataset, on_copied)
            else:
                events.warning(
                    f"{self._running.choice.label} did not stop in order: its data are not copied"
                )
        except SystemUnderTestError as error:
            events.warning(f"{error.message}; the data will be loaded again instead")
        self._running.start(buffer=self._buffer)

    def _restore(
        self, copy: Copy, tables: Sequence[Table], request: DataRequest, events: Events
    ) -> Dataset:
        events.stage("restore the data")
        data = self._running.data
        began_ns = time.monotonic_ns()
        self._running.stop()
        if data is not None:
            from assay.load.copies import restore

            restore(copy, data, _copy_progress(events, copy.bytes))
        self._tables = tuple(tables)
        deployment = self._running.start(buffer=self._buffer)
        from assay.load.load import files_on_disk, size_on_disk_bytes

        return structs.replace(
            copy.dataset(request),
            restore_ns=time.monotonic_ns() - began_ns,
            size_on_disk_bytes=size_on_disk_bytes(self.system, deployment),
            files_on_disk=files_on_disk(deployment),
            options=deployment.options,
        )

    def _verify(self, dataset: Dataset, tables: Sequence[Table], events: Events) -> None:
        if not self._loading.is_verified:
            return
        checksums = dataset.checksums
        if not checksums and dataset.request.checksums is not None:
            checksums = dataset.request.checksums()
        if not checksums:
            return
        from assay.load.tables import verify_rows

        verify_rows(self.deployment, self.system.dialect, tables, checksums, events.stage)


def _copy_progress(events: Events, bytes_total: int) -> OnCopied:
    """At most ten times a second, as the engine reports a load."""
    last_s = 0.0

    def on_copied(bytes_copied: int) -> None:
        nonlocal last_s
        if time.monotonic() - last_s >= 0.1:
            last_s = time.monotonic()
            events.emit(FilesCopied(bytes_copied, bytes_total))

    return on_copied


_NOTHING_COMMITS = not_measured("no run on it commits anything")


class CommitDurability:
    """What is known of an experiment."""

    def __init__(
        self,
        *,
        is_measured: bool,
        may_commit: Callable[[PlannedRun], bool],
        session_settings: Callable[[PlannedRun], SessionSettings],
        again: bool = False,
    ) -> None:
        """``may_commit``: whether a run may commit anything. ``session_settings``: what its
        sessions set. ``again``: measures what the user's cache has."""
        self.is_measured = is_measured
        self._again = again
        self._may_commit = may_commit
        self._session_settings = session_settings
        self._known: dict[tuple[str, SessionSettings], Durability] = {}
        self._complete: set[str] = set()
        """Deployments of which that of all runs is known."""

    def measure(self, pooled: PooledSystem, runs: Iterable[PlannedRun], events: Events) -> None:
        """With the settings of the sessions of each of these runs, which share the deployment,
        before any of them has filled it: later commits would change what the next run finds."""
        deployment = pooled.deployment
        for run in runs:
            place = place_of(run)
            if place in self._complete:
                return
            if not self._may_commit(run):  # of one that is refused the scripts may not compile
                continue
            settings = self._settings_of(run, deployment)
            if (place, settings) in self._known:
                continue
            self._known[place, settings] = measure_durability(
                deployment,
                pooled.system,
                settings,
                again=self._again,
                say=events.stage,
                warn=events.warning,
            )
        self._complete.update(map(place_of, runs))

    def of(self, run: PlannedRun, deployment: Deployment) -> Durability:
        """That of the commits of its sessions."""
        settings = self._settings_of(run, deployment)
        return self._known.get((place_of(run), settings), _NOTHING_COMMITS)

    def _settings_of(self, run: PlannedRun, deployment: Deployment) -> SessionSettings:
        """`NO_SETTINGS` where no durability can be measured: the scripts are not searched then."""
        has_device = deployment.commit_storage.is_own_device
        return self._session_settings(run) if has_device else NO_SETTINGS


__all__ = ["CommitDurability", "Pool", "PooledSystem"]

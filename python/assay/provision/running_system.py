"""Takes a system and a storage; returns the `RunningSystem` they share: a directory on which its
server is started, stopped, and started again; or its `Deployment`, as clients at a distance
find it where there is a delay."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path

import msgspec
from msgspec import structs

from assay import env_vars, registry
from assay.contracts.deployment import Address, Delay, Deployment, Node, host_and_port
from assay.contracts.documents import read_answer
from assay.contracts.durability import Durability
from assay.contracts.experiment import BY_URL, StorageChoice, SystemChoice
from assay.contracts.factors import ServerMachine
from assay.contracts.storage_facts import StorageFacts
from assay.contracts.storages.abilities import (
    Accounted,
    AccountedSecond,
    LimitsProcesses,
    RawDevice,
    StorageCrashReport,
)
from assay.contracts.storages.protocol import PreparedStorage, Storage, asked_options_of
from assay.contracts.systems.abilities import CrashReport, ReachedByUrl, Restartable, SessionPowers
from assay.contracts.systems.protocol import ServerDirectory, System
from assay.errors import (
    ArgumentError,
    Bug,
    PluginFailed,
    SystemDied,
    SystemRefused,
    SystemUnderTestError,
)
from assay.experiment.choices import profiles
from assay.provision import confinement, limits, page_cache
from assay.provision.directory import WHOLE_MACHINE, server_directory
from assay.provision.install import builds, cache
from assay.provision.machine.mounts import MOUNT_TABLE, every_mount
from assay.provision.processes import has_stopped_cleanly, why_out_of_memory
from assay.provision.space import Space, SpaceWatch, name_full_storage
from assay.text import units
from assay.text.phrases import phrase, reason_with_log, reason_with_more


class RunningSystem:
    """A system running on its storage. Made by `running_system`, and stopped at the end of its
    block."""

    def __init__(
        self, choice: SystemChoice, storage: StorageChoice, connections: int | None
    ) -> None:
        self.choice = choice
        self._on = choice.stands_on if choice.url is not None else storage
        """The storage that it is on; None: of a server by URL without `storage=`."""
        self.system: System = registry.system(choice.name)
        self._connections = connections
        self.storage: Storage | None = None
        """The kind of storage it is on, and with it `prepared`; None: it is reached by URL."""
        self.prepared: PreparedStorage | None = None
        self.of_log: tuple[Storage, PreparedStorage] | None = None
        """The same of its log's; None: that is with its data."""
        self._directory: ServerDirectory | None = None
        self._up = ExitStack()
        self._deployment: Deployment | None = None
        self._as_started: Deployment | None = None
        """Without what lowers the durability of the current run alone."""
        self._lowered_in_run: dict[str, str] = {}
        self._durability: Durability | None = None
        self._creation_ns: int | None = None
        self._space: SpaceWatch | None = None

    @property
    def deployment(self) -> Deployment:
        """The current deployment: after a restart the server has another process and port."""
        if self._deployment is None:
            raise Bug(f"{self.choice.label} is not running")
        return self._deployment

    def why_it_died(self) -> str | None:
        """None while its storage and every process of it live, as far as they tell. What it stands
        on is asked first: a system often dies of it."""
        if (failed := self.resource_failure()) is not None:
            return failed
        if isinstance(self.system, CrashReport):
            return self.system.why_it_died(self.deployment)
        return None

    def resource_failure(self) -> str | None:
        """Why what the system was given has failed: its storage has died or takes no more changes,
        or is full and the system waited for space; or the kernel has ended a process at the memory
        limit (the others may go on, but are nothing to measure)."""
        of_data = (self.storage, self.prepared)
        for kind, prepared in (of_data, *([self.of_log] if self.of_log else [])):
            if isinstance(kind, StorageCrashReport) and prepared is not None:
                died = kind.why_it_died(prepared)
                if died is not None:
                    return died
        if self._space is not None and self._space.reason is not None:
            return self._space.reason
        if self._directory is not None:
            for folder, storage in self._folders:
                failed = why_failed(folder, storage.name)
                if failed is not None:
                    return failed
        return None if self._deployment is None else why_out_of_memory(self._deployment)

    def accounted(self, from_unix_ns: int, to_unix_ns: int) -> tuple[AccountedSecond, ...]:
        """What its storage says of each second of a period; nothing where it keeps no account."""
        if not isinstance(self.storage, Accounted) or self.prepared is None:
            return ()
        return self.storage.seconds(self.prepared, from_unix_ns, to_unix_ns)

    def least_space(self) -> Space | None:
        """The least free space that its storage had lately; None where that is not known."""
        return None if self._space is None else self._space.least()

    @property
    def reports_its_death(self) -> bool:
        """Whether `why_it_died` can ever give a reason."""
        return self._directory is not None or isinstance(self.system, CrashReport)

    @property
    def _folders(self) -> list[tuple[Path, StorageFacts]]:
        """The folders of a private server on its storages: of its data, and of its log."""
        on = self._directory
        if on is None:
            return []
        log = [(on.log, on.log_storage)] if on.log and on.log_storage else []
        return [(on.root, on.storage), *log]

    @property
    def is_up(self) -> bool:
        return self._deployment is not None

    @property
    def directory(self) -> ServerDirectory | None:
        """Where a private server writes; None: it is reached by URL."""
        return self._directory

    @property
    def can_restart(self) -> bool:
        """Whether the system keeps its data over a restart: it is private, and its data are in
        files."""
        is_ours = self._directory is not None and self.deployment.data_directory is not None
        return is_ours and isinstance(self.system, Restartable)

    @property
    def data(self) -> Path | None:
        """The folder that holds the data of all nodes; None where a restart would not keep them, or
        where a part of them is elsewhere: on a raw device, or in a log on another storage."""
        directory = self._directory
        if directory is None or directory.raw_device or directory.log or not self.can_restart:
            return None
        return directory.data

    def plain_directories(self) -> list[AbstractContextManager[ServerDirectory]]:
        """A directory on each of its storages like its own, but with the memory and the processors
        of the whole machine; none where it is reached by URL."""
        if self.storage is None or self.prepared is None:
            return []
        both = ((self.storage, self.prepared), *([self.of_log] if self.of_log else []))
        return [directory_on(kind, prepared) for kind, prepared in both]

    @contextlib.contextmanager
    def up(self) -> Iterator[None]:
        """Starts it, on a directory of its storage; at the end it is stopped."""
        with ExitStack() as stack:
            if self.storage is not None and self.prepared is not None:
                machine, of_log = self.choice.machine, self.of_log
                own = directory_on(self.storage, self.prepared, machine, of_log)
                self._directory = stack.enter_context(own)
            stack.callback(self.stop)
            self.start()
            yield

    def start(self, *, buffer: str | None = None) -> Deployment:
        """Brings the system up on the directory as it is; ``buffer`` wins over the option of that
        name. Raises as `System.provision` does."""
        choice = self.choice
        if buffer is not None:
            choice = replace(choice, options={**choice.options, "buffer": buffer})
        groups = () if self._directory is None else self._directory.control_groups
        killed_before = limits.memory_kills(groups)
        try:
            with ExitStack() as up:
                self._drop_page_cache()
                self._space = self._watched(up)
                is_new, begun_ns = self._is_new, time.monotonic_ns()
                deployment = _entered(up, self._system_up(choice), self.system)
                _refuse_powers(self.system, deployment)
                if is_new:
                    self._creation_ns = time.monotonic_ns() - begun_ns
                deployment = self._on_its_machine(up, deployment)
                self._up = up.pop_all()
        except SystemUnderTestError as error:
            ended = limits.why_killed(groups, killed_before)
            if ended is not None and ended not in error.message:
                self._name_too_little_memory(error, ended)
            elif self.choice.machine.cpus is not None and isinstance(error, SystemDied):
                given = units.counted(self.choice.machine.cpus, "processor")
                error.hint = error.hint or f"it was given {given}"
            if self._space is not None and self._space.reason is not None:
                error.message = reason_with_more(self._space.reason, error.message)
            if self._directory is not None:
                name_full_storage(error, self._directory.storage.name, self.least_space())
            raise
        if self.choice.build:
            deployment = builds.with_its_build(deployment, self.choice)
        self._as_started = replace(
            deployment,
            label=self.choice.label,
            durability=self._durability,
            creation_ns=self._creation_ns,
            durability_promised=profiles.durability(choice, deployment.durability_lowered_by),
        )
        self._deployment = self._with_lowered(self._as_started)
        return self._deployment

    def look_again(self) -> None:
        """Takes version, settings and address of a server by URL as they are now: others may have
        changed them since the last run. A private one stays as it is. Of both, what lowered the
        durability of the last run's commits is forgotten. Raises as `start` does, and keeps what
        was known then."""
        self._lowered_in_run = {}
        if self._directory is not None:
            self._deployment = self._as_started if self.is_up else None
        else:
            self._up.close()
            self._up = ExitStack()
            self.start()

    @property
    def _is_new(self) -> bool:
        """Whether its data directory is made now, and not as a copy of one."""
        on = self._directory
        return on is not None and not on.data.exists() and env_vars.NEW_DATA.get() is None

    def _name_too_little_memory(self, error: SystemUnderTestError, ended: str) -> None:
        """What its programs say of such an end is advice on anything but the memory; it stays below
        the reason, as their log."""
        said = f"{self.choice.label}: {ended} while it was started"
        if error.message.strip():
            said = reason_with_log(said, error.message)
        error.message, error.hint = said, phrase("give it more {--memory}, or a smaller buffer")

    def _watched(self, up: ExitStack) -> SpaceWatch | None:
        """From before its first program until its last one has ended."""
        if self._directory is None:
            return None
        return up.enter_context(SpaceWatch(self.system, self._directory, self.choice.label))

    def note_durability(self, durability: Durability) -> None:
        """Of its commits, also after a restart."""
        self._durability = durability
        if self._as_started is not None:
            self._as_started = replace(self._as_started, durability=durability)
        self._deployment = replace(self.deployment, durability=durability)

    def note_lowered_durability(self, lowered: Mapping[str, str]) -> None:
        """What lowers that of the current run beside the settings → what to do about it; until
        `look_again`."""
        self._lowered_in_run |= lowered
        self._deployment = self._with_lowered(self.deployment)

    def _with_lowered(self, known: Deployment) -> Deployment:
        lowered = (*known.durability_lowered_by, *self._lowered_in_run)
        return replace(
            known,
            durability_lowered_by=tuple(dict.fromkeys(lowered)),
            durable_instead={**known.durable_instead, **self._lowered_in_run},
        )

    @contextlib.contextmanager
    def in_its_memory(self, sessions: int) -> Iterator[None]:
        """While the block runs, this process has the memory limit of a system that works in it;
        that of a server is its own. Raises `ArgumentError` where the kernel might end this
        process."""
        directory = self._directory
        if directory is None or not limits.is_client_memory_limited(self.choice):
            yield
            return
        storage = self.deployment.storage
        limits.refuse_too_little_client_memory(
            self.choice, storage.name, storage.file_system, sessions
        )
        with limits.clients_within(directory.control_groups):
            yield

    def _drop_page_cache(self) -> None:
        """Pages of its files that others have read or written would be memory beyond its limit."""
        is_limited = self.choice.machine.memory_bytes is not None
        if is_limited and self._directory is not None and self._directory.data.is_dir():
            page_cache.drop_cached(self._directory.data)

    def _on_its_machine(self, up: ExitStack, deployment: Deployment) -> Deployment:
        """The deployment as its clients find it, with the limits in effect."""
        from assay.provision.machine.ports import with_listeners

        if self._directory is not None:
            groups = self._directory.control_groups
            deployment = replace(
                deployment,
                nodes=tuple(map(self._with_log, deployment.nodes)),
                memory_limit_bytes=limits.memory_limit_bytes(groups),
                cpu_limit=limits.cpu_limit(groups),
            )
        elif not deployment.is_embedded:
            deployment = with_listeners(deployment)
        rtt_s = self.choice.machine.rtt_s
        if self._on is not None:
            deployment = _with_asked(deployment, self._on)
            rtt_s = self._on.rtt_s or rtt_s
        return up.enter_context(delayed(deployment, rtt_s)) if rtt_s else deployment

    def _with_log(self, node: Node) -> Node:
        """A system with its log on another storage has one node."""
        directory = self._directory
        if directory is None or directory.log is None:
            return node
        return replace(node, log_storage=directory.log_storage, log_directory=directory.log)

    def _system_up(self, choice: SystemChoice) -> AbstractContextManager[Deployment]:
        if self._directory is None:
            if not isinstance(self.system, ReachedByUrl):
                raise ArgumentError(f"{self.system.name} is not reached by URL")
            return self.system.attach(choice)
        return self.system.provision(choice, self._directory, connections=self._connections)

    def stop(self) -> bool:
        """Stops the system and keeps its files; returns whether it shut down cleanly. After a kill
        its files are not a consistent copy."""
        nodes = () if self._deployment is None else self._deployment.nodes
        self._deployment = None
        self._up.close()
        return all(node.pid is None or has_stopped_cleanly(node.pid) for node in nodes)


def _with_asked(deployment: Deployment, on: StorageChoice) -> Deployment:
    """With what was asked of the storage of each node whatever its kind, and its name, which a
    server by URL does not know."""
    asked = asked_options_of(replace(on, options={}))
    if not asked and on.kind != BY_URL:
        return deployment

    def facts(storage: StorageFacts) -> StorageFacts:
        return structs.replace(storage, name=on.name, facts={**storage.facts, "asked": asked})

    nodes = (replace(node, storage=facts(node.storage)) for node in deployment.nodes)
    return replace(deployment, nodes=tuple(nodes))


def _entered(
    up: ExitStack, system_up: AbstractContextManager[Deployment], system: System
) -> Deployment:
    """The deployment that the system yields; raises `PluginFailed` where it yields something
    else."""
    expected = f"the system {system.name!r}: expected provision() or attach() to"
    if not isinstance(system_up, AbstractContextManager):
        raise PluginFailed(f"{expected} return a context manager, found {type(system_up).__name__}")
    deployment = up.enter_context(system_up)
    if not isinstance(deployment, Deployment):
        up.close()
        raise PluginFailed(f"{expected} yield a Deployment, found {type(deployment).__name__}")
    return deployment


def _refuse_powers(system: System, deployment: Deployment) -> None:
    """Raises `SystemRefused` where scripts of a capsule could use rights that the user of a URL
    has."""
    if deployment.is_private or not confinement.is_begun() or not isinstance(system, SessionPowers):
        return
    if found := system.powers(deployment):
        raise SystemRefused(
            f"the user {deployment.address.user} of {deployment.label} has rights by which a "
            f"capsule's scripts could run programs or reach files there: {', '.join(found)}",
            hint=phrase("name a user without them in the URL; {--trust} lets the scripts use them"),
        )


def directory_on(
    kind: Storage,
    prepared: PreparedStorage,
    machine: ServerMachine = WHOLE_MACHINE,
    of_log: tuple[Storage, PreparedStorage] | None = None,
) -> AbstractContextManager[ServerDirectory]:
    """The directory of a server on that storage; ``of_log``: the one of its log, if that is another
    one."""
    both = ((kind, prepared), *([of_log] if of_log else []))
    return server_directory(
        prepared.facts,
        machine,
        log_storage=of_log[1].facts if of_log else None,
        raw_device=kind.raw_device(prepared) if isinstance(kind, RawDevice) else None,
        group_limits=tuple(
            limit
            for one, made in both
            if isinstance(one, LimitsProcesses)
            for limit in one.group_limits(made)
        ),
    )


@contextlib.contextmanager
def on_storage(
    system: SystemChoice, storage: StorageChoice, *, connections: int | None
) -> Iterator[RunningSystem]:
    """The system, with its storage made and not started yet (`RunningSystem.up`); of a server by
    URL without one."""
    system = cache.with_programs(system)
    made = RunningSystem(system, storage, connections)
    with ExitStack() as stack:
        if system.url is None:
            made.storage, made.prepared = _prepared(stack, storage)
            if (log := system.machine.log_storage) is not None:
                made.of_log = _prepared(stack, log)
        yield made


@contextlib.contextmanager
def running_system(
    system: SystemChoice, storage: StorageChoice, *, connections: int | None
) -> Iterator[RunningSystem]:
    """The system up on the storage, or the one of the choice's URL; see
    `assay.provision.running_system`."""
    with on_storage(system, storage, connections=connections) as made, made.up():
        yield made


def _prepared(stack: ExitStack, choice: StorageChoice) -> tuple[Storage, PreparedStorage]:
    """The storage, which is removed with the stack."""
    kind: Storage = registry.storage(choice.kind)
    return kind, stack.enter_context(kind.prepare(choice))


# Takes a directory on a storage; says whether its file system has failed since it was made.
#
# After an error of its disk a file system takes no more changes: it can only be read then, has
# shut itself down, or returns errors.

_FAILED = {
    "ro": "can only be read",
    "emergency_ro": "can only be read",
    "shutdown": "has shut itself down",
}
"""Options of a file system, whatever those of its mounts, in the kernel's list."""


def why_failed(directory: Path, storage_name: str) -> str | None:
    """None while it can be written, as far as the kernel knows."""
    try:
        number = directory.stat().st_dev
    except OSError as error:
        if error.errno == errno.EIO:
            return f"the file system of the storage {storage_name} fails: {error.strerror}"
        return None
    for option in _options(f"{os.major(number)}:{os.minor(number)}"):
        if option in _FAILED:
            return (
                f"the file system of the storage {storage_name} {_FAILED[option]}: the kernel does "
                "that after an I/O error"
            )
    return None


def _options(device: str) -> set[str]:
    """Of the file system on a device (``7:3``)."""
    found: set[str] = set()
    for one in every_mount(MOUNT_TABLE.read_text(encoding="utf-8", errors="replace")):
        if one.device_number == device:
            found.update(one.file_system_options.split(","))
    return found


@contextlib.contextmanager
def provision(
    system_choice: SystemChoice, storage_choice: StorageChoice, *, connections: int | None
) -> Iterator[Deployment]:
    """Starts a system on a storage, or connects to the server of the choice's URL.

    `connections` is how many sessions the run needs; None leaves the server's own limit. What an
    earlier, killed run left is not looked for here: call `leftovers.clear_leftovers` once before.

    Raises members of `SystemUnderTestError` and `ArgumentError`. Whatever is raised inside or out,
    the server is stopped and everything that was made is removed.
    """
    with running_system(system_choice, storage_choice, connections=connections) as made:
        yield made.deployment


_THIS_MACHINE = "127.0.0.1"


class Delaying(msgspec.Struct, frozen=True):
    """What a proxy says of itself once it listens."""

    host: str
    port: int
    measured_rtt_ns: int
    direct_rtt_ns: int
    round_trip_cpu_ns: int


@contextlib.contextmanager
def delayed(deployment: Deployment, rtt_s: float) -> Iterator[Deployment]:
    """Raises `ArgumentError` where an endpoint is neither a socket nor a port."""
    for endpoint in deployment.endpoints:
        if endpoint.unix is None and (endpoint.host is None or endpoint.port is None):
            raise ArgumentError(
                f"{deployment.label}: expected a server at a socket or a port, whose connections "
                "can be delayed",
                hint=phrase("leave {--rtt} out"),
            )
    nowhere = StorageFacts(name="none", kind="proxy", directory=tempfile.gettempdir())
    with ExitStack() as stack:
        directory = stack.enter_context(server_directory(nowhere))
        found = [
            stack.enter_context(_proxy(endpoint, rtt_s, directory, number))
            for number, endpoint in enumerate(deployment.endpoints, start=1)
        ]
        slowest = max((said for _, said in found), key=lambda said: said.measured_rtt_ns)
        delay = Delay(
            rtt_s,
            measured_rtt_s=slowest.measured_rtt_ns / 1e9,
            direct_rtt_s=slowest.direct_rtt_ns / 1e9,
            round_trip_cpu_s=slowest.round_trip_cpu_ns / 1e9,
        )
        yield replace(deployment, endpoints=tuple(address for address, _ in found), delay=delay)


@contextlib.contextmanager
def _proxy(
    endpoint: Address, rtt_s: float, directory: ServerDirectory, number: int
) -> Iterator[tuple[Address, Delaying]]:
    """The endpoint's address behind a proxy, and what the proxy said of itself."""
    server = endpoint.unix or host_and_port(
        endpoint.host_address or endpoint.host or "", endpoint.port
    )
    words = ["--to", server, "--rtt", repr(rtt_s), "--format", "json"]
    from assay.provision.processes import own_program

    proxy = own_program(
        ["serve", "delay", *words], directory, f"delay-proxy-{number}.log", SystemUnderTestError
    )
    with proxy as (_, said):
        delaying = read_answer(said, Delaying)
        address = structs.replace(
            endpoint,
            unix=None,
            # A certificate is still checked for the server's own name.
            host=endpoint.host or _THIS_MACHINE,
            host_address=delaying.host,
            port=delaying.port,
            tls="off" if endpoint.unix else endpoint.tls,
        )
        yield address, delaying

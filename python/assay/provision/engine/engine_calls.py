"""Takes documents with a deployment, or an `Address`; has the engine run them in this process, or
in another where the driver calls Python modules, and opens sessions for schema, counts and
queries."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, TypeVar

import msgspec
from msgspec import structs

from assay import _engine
from assay.contracts.deployment import Address, host_and_port
from assay.contracts.documents import read_answer
from assay.contracts.engine import DeploymentDocument, DriveDocument
from assay.contracts.stop import look
from assay.errors import (
    RESOURCES,
    AssayError,
    Bug,
    InputError,
    MachineLimit,
    RunFailed,
    ScriptError,
    SystemDied,
    SystemRefused,
    SystemUnderTestError,
    resources_hint,
)
from assay.provision import confinement
from assay.provision.engine import python_calls
from assay.provision.engine.silence import (
    Silence,
    limited,
    ticks_of_children,
    ticks_of_libraries,
    ticks_of_processes,
    waiting,
)
from assay.text.phrases import phrase

if TYPE_CHECKING:
    from assay.contracts.engine import LoadDocument, LoadReport


# Runs calls of the engine in a thread that is confined, with the threads that they start.
#
# What the engine calls back runs in the thread that waits for it, which has its rights and its
# context: progress is written to the record, and rows may come from files.

Value = TypeVar("Value")

_BATCH_ROWS = 1000
_Work = Callable[[], Any]


class _Ended(NamedTuple):
    """A call: with a value, or an error."""

    value: Any
    error: BaseException | None


class ConfinedThread:
    """It ends with `end`. ``inputs``: files that it reads besides, whosever they are."""

    def __init__(self, inputs: Sequence[Path] = ()) -> None:
        self._work: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._said: queue.SimpleQueue[_Work | _Ended] = queue.SimpleQueue()
        """What is to be called where `call` waits, and at last how the work ended."""
        self._replies: queue.SimpleQueue[_Ended] = queue.SimpleQueue()
        self._one = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name="confined", daemon=True)
        self._thread.start()
        self.call(lambda: _confine(inputs))

    def call(self, work: Callable[[], Value]) -> Value:
        """What the work returns or raises. An interruption is raised where the work next calls
        back, which ends it."""
        with self._one:
            self._work.put(work)
            interruption: BaseException | None = None
            while True:
                try:
                    said = self._said.get()
                except BaseException as error:
                    interruption = error
                    continue
                if isinstance(said, _Ended):
                    if (failure := interruption or said.error) is not None:
                        raise failure
                    result: Value = said.value
                    return result
                self._replies.put(_Ended(None, interruption) if interruption else _ended(said))

    def relayed(self, callback: Callable[..., Value]) -> Callable[..., Value]:
        """To be called in the confined thread: runs where `call` waits."""

        def relay(*arguments: Any) -> Value:
            self._said.put(lambda: callback(*arguments))
            reply = self._replies.get()
            if reply.error is not None:
                raise reply.error
            result: Value = reply.value
            return result

        return relay

    def relayed_rows(self, rows: Iterable[Sequence[object]]) -> Iterator[Sequence[object]]:
        """Rows that are made where `call` waits, many at a time."""
        iterator: list[Iterator[Sequence[object]]] = []

        def batch() -> list[Sequence[object]]:
            if not iterator:
                iterator.append(iter(rows))
            return list(islice(iterator[0], _BATCH_ROWS))

        more = self.relayed(batch)
        while some := more():
            yield from some

    def end(self) -> None:
        self._work.put(None)
        self._thread.join()

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            self._said.put(_ended(work))
            del work


def _ended(work: _Work) -> _Ended:
    try:
        return _Ended(work(), None)
    except BaseException as error:
        return _Ended(None, error)


def _confine(inputs: Sequence[Path]) -> None:
    reads, writes = confinement.readable(*inputs), confinement.writable()
    try:
        _engine.confine_thread(reads, writes, confinement.user(), reads_others=bool(inputs))
    except OSError as error:
        raise SystemUnderTestError(f"the engine cannot be confined: {error}") from error


def once(work: Callable[[ConfinedThread], Value], inputs: Sequence[Path] = ()) -> Value:
    """The work in a confined thread that ends behind it."""
    thread = ConfinedThread(inputs)
    try:
        return thread.call(lambda: work(thread))
    finally:
        thread.end()


class Rows(Protocol):
    """The answer to one statement, in text form (`_engine.Rows`)."""

    @property
    def is_query(self) -> bool: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def rows(self) -> list[tuple[str | None, ...]]: ...
    @property
    def affected(self) -> int: ...


class Session(Protocol):
    """A session for schema, settings and questions (`_engine.Session`)."""

    @property
    def server_version(self) -> str: ...
    @property
    def session_id(self) -> int: ...
    def execute(self, statement: str) -> Rows: ...
    def digest(self, statement: str, types: list[str] | None = None) -> tuple[int, str]: ...
    def close(self) -> None: ...


def calls_python(driver: str) -> bool:
    return driver in _engine.python_drivers()


def open_session(deployment: DeploymentDocument) -> Session:
    """Each of its statements is waited for as long as the system shows signs of life."""
    if calls_python(deployment.driver):
        return _LimitedSession(python_calls.RemoteSession(deployment), deployment)
    if not _is_library(deployment):
        return _LimitedSession(_session(deployment, waiting), deployment)
    with limited(silence_of(deployment)):  # to open its file it may wait for a lock
        return _LimitedSession(_session(deployment, waiting), deployment)


def _session(deployment: DeploymentDocument, look: Callable[[str], None]) -> Session:
    if _is_confined(deployment):
        return _ConfinedSession(deployment, look)
    return _engine.Session(deployment.json, look)


class _LimitedSession:
    def __init__(self, opened: Session, deployment: DeploymentDocument) -> None:
        self._opened, self._deployment = opened, deployment

    @property
    def server_version(self) -> str:
        return self._opened.server_version

    @property
    def session_id(self) -> int:
        return self._opened.session_id

    def execute(self, statement: str) -> Rows:
        with limited(silence_of(self._deployment)):
            return self._opened.execute(statement)

    def digest(self, statement: str, types: list[str] | None = None) -> tuple[int, str]:
        with limited(silence_of(self._deployment)):
            return self._opened.digest(statement, types)

    def close(self) -> None:
        self._opened.close()


def query(document: DriveDocument) -> Sequence[tuple[str, Rows]]:
    """As `_engine.query`."""
    if document.deployment is None:
        return _query(document, look)
    with limited(silence_of(document.deployment)):
        if calls_python(document.deployment.driver):
            return python_calls.query(document)
        return _query(document, waiting)


def _query(document: DriveDocument, look: Callable[[str], None]) -> Sequence[tuple[str, Rows]]:
    if _is_confined(document.deployment):
        return once(lambda thread: _engine.query(document.json, thread.relayed(look)))
    return _engine.query(document.json, look)


def probe(deployment: DeploymentDocument, upto: int) -> str:
    """As `_engine.probe`; each session has a limit of its own."""
    if calls_python(deployment.driver):
        return python_calls.probe(deployment, upto)
    if _is_confined(deployment):
        return once(lambda thread: _engine.probe(deployment.json, upto, thread.relayed(look)))
    return _engine.probe(deployment.json, upto, look)


def load(
    document: LoadDocument,
    source: str | Mapping[str, Iterable[Sequence[object]]],
    progress: Callable[[str], None],
) -> LoadReport:
    """As `_engine.load`."""
    silence = silence_of(document.deployment)

    from assay.contracts.engine import LoadProgress

    def progressed(text: str) -> None:
        look()
        report = msgspec.json.decode(text, type=LoadProgress)
        silence.progressed((report.table, report.rows, report.bytes_read, report.bytes_sent))
        progress(text)

    if calls_python(document.deployment.driver):
        text = python_calls.load(document, source, progressed)
    elif _is_confined(document.deployment):
        inputs = _inputs(source) if isinstance(source, str) else []
        text = once(lambda thread: _load_confined(thread, document, source, progressed), inputs)
    else:
        text = _engine.load(document.json, source, progressed)
    from assay.contracts.engine import LoadReport

    return read_answer(text, LoadReport)


def silence_of(deployment: DeploymentDocument) -> Silence:
    """Of what is waited for from this system."""
    place = deployment.unix or deployment.file
    if place is None and deployment.host is not None:
        place = host_and_port(deployment.host, deployment.port)
    opens = None if _is_library(deployment) else lambda: _opens(deployment)
    return Silence(place or deployment.driver, opens, lambda: _ticks(deployment))


def _is_library(deployment: DeploymentDocument) -> bool:
    """Whether it works in this process: another session is opened whatever the first one does."""
    is_at_a_place = deployment.unix is not None or deployment.host is not None
    return not is_at_a_place and not calls_python(deployment.driver)


_OPENS_S = 3.0


def _opens(deployment: DeploymentDocument) -> bool:
    try:
        asked = structs.replace(deployment, connect_timeout_s=_OPENS_S)
        if calls_python(deployment.driver):
            python_calls.RemoteSession(asked).close()
        else:
            _session(asked, look).close()
    except (_engine.EngineError, SystemUnderTestError):
        return False
    return True


def _ticks(deployment: DeploymentDocument) -> int | None:
    if calls_python(deployment.driver):
        return ticks_of_children()
    if _is_library(deployment):
        return ticks_of_libraries()
    from assay.provision.machine.ports import listener

    return ticks_of_processes([listener(deployment).pid])


def drive(document: DriveDocument, progress: Callable[[str], bool | None]) -> str:
    """As `_engine.drive`, in this process."""
    if _is_confined(document.deployment):
        return once(lambda thread: _engine.drive(document.json, thread.relayed(progress)))
    return _engine.drive(document.json, progress)


def _is_confined(deployment: DeploymentDocument | None) -> bool:
    if deployment is None:
        return confinement.is_begun()
    return confinement.is_begun_for(deployment.file or deployment.unix, deployment.host)


def _inputs(source: str) -> list[Path]:
    """The files that the engine itself reads rows from."""
    return [Path(one) for one in json.loads(source).get("files", ())]


def _load_confined(
    thread: ConfinedThread,
    document: LoadDocument,
    source: str | Mapping[str, Iterable[Sequence[object]]],
    progress: Callable[[str], None],
) -> str:
    rows = source
    if not isinstance(source, str):
        rows = {table: thread.relayed_rows(of) for table, of in source.items()}
    return _engine.load(document.json, rows, thread.relayed(progress))


class _ConfinedSession:
    """A session whose calls run in a confined thread."""

    def __init__(self, deployment: DeploymentDocument, look: Callable[[str], None]) -> None:
        self._thread = thread = ConfinedThread()
        looked = thread.relayed(look)
        try:
            self._opened = thread.call(lambda: _engine.Session(deployment.json, looked))
        except BaseException:
            thread.end()
            raise
        self.server_version = self._opened.server_version
        self.session_id = self._opened.session_id

    def execute(self, statement: str) -> Rows:
        return self._thread.call(lambda: self._opened.execute(statement))

    def digest(self, statement: str, types: list[str] | None = None) -> tuple[int, str]:
        return self._thread.call(lambda: self._opened.digest(statement, types))

    def close(self) -> None:
        self._thread.call(self._opened.close)
        self._thread.end()


LOST = "lost connection"
"""The engine's error class for a lost session."""

CREATED_BY_SCRIPT = phrase(
    "statements are prepared before the run; if the script itself creates the "
    "object, add {--protocol extended}"
)
BRIEF_ANSWER_S = 15.0
"""The timeout of each query of a `brief_session`."""
_RESPONSE_S = 3.0


@contextmanager
def session(address: Address) -> Iterator[Session]:
    """An open session, closed at the end; the engine's errors come out as Assay's."""
    try:
        opened = open_session(address.for_engine())
        try:
            yield opened
        finally:
            opened.close()
    except _engine.EngineError as error:
        raise_as_ours(error)


def brief_session(address: Address) -> AbstractContextManager[Session]:
    """A session for queries that a server answers at once. Raises `SystemDied` where it does not:
    one that is stopped keeps its sessions open and never answers."""
    return session(structs.replace(address, answer_timeout_s=BRIEF_ANSWER_S))


def responds(address: Address) -> bool:
    """Whether the system opens a session within a few seconds."""
    try:
        with session(structs.replace(address, connect_timeout_s=_RESPONSE_S)):
            return True
    except SystemUnderTestError:
        return False


def raise_as_ours(error: _engine.EngineError) -> NoReturn:
    """Raises the engine's error as the matching exception of `assay.errors`."""
    raise as_ours(error) from error


def as_ours(error: _engine.EngineError) -> AssayError:
    """The matching exception of `assay.errors` for the engine's error."""
    if error.kind == "script":
        return ScriptError(
            error.message, file=error.file, line=error.line, column=error.column, hint=error.hint
        )
    if error.kind == "source":
        return InputError(
            error.message, file=error.file, line=error.line, column=error.column, hint=error.hint
        )
    if error.kind == "statement" and error.error_class not in (LOST, RESOURCES):
        # As where it is refused during the measurement: with another protocol it would be.
        hint = CREATED_BY_SCRIPT if error.error_class == "unknown object" else None
        return RunFailed(error.message, code=error.code, hint=error.hint or hint)
    if error.kind == "machine":
        return MachineLimit(error.message, hint=error.hint)
    if error.kind in ("system", "statement"):
        if error.error_class == LOST:
            return SystemDied(error.message, hint=error.hint)
        is_out = error.error_class == RESOURCES
        return SystemRefused(
            f"{error.message} ({RESOURCES})" if is_out else error.message,
            error_class=error.error_class,
            code=error.code,
            hint=error.hint or (resources_hint(error.message) if is_out else None),
        )
    return Bug(error.message, hint=error.hint)

"""Takes a protocol and a number of clients; returns the highest throughput that these clients can
reach on this machine.

The clients send the cheapest transaction, the read of one row by its key, to a null server, which
answers at once. The throughput is the *ceiling*: with a real server clients can only be slower.
Client and server share the processors, as they do where the system under test is on the same
machine.
"""

from __future__ import annotations

import time

from assay import _engine, registry
from assay.contracts.dialects import Dialect
from assay.contracts.documents import ScriptDocument
from assay.contracts.engine import DriveDocument, StopDocument
from assay.contracts.experiment import StorageChoice, SystemChoice
from assay.dialects.null import NULL_DOCUMENTS
from assay.drive.observe import observe
from assay.provision.running_system import provision
from assay.record import CalibrationRecord

IN_PROCESS = "none"
"""The name for an embedded system, which runs in the client's own process and has no protocol."""

WARM_UP_S = 0.5

_NULL = "null"
"""The system that does nothing."""


def _dialect(protocol: str) -> Dialect:
    """Of the null systems, in the language of the protocol's statements."""
    has_documents = protocol in _engine.null_protocols(NULL_DOCUMENTS.language)
    return NULL_DOCUMENTS if has_documents else registry.system(_NULL).dialect


def _script(dialect: Dialect) -> str:
    statement = dialect.read_by_key("data", ["value"], "id", ":id")
    return f"\\set id random(1, 1000000)\n{statement};\n"


def protocols() -> tuple[str, ...]:
    """The protocols that can be calibrated."""
    return (*_engine.null_protocols(), *registry.families(), IN_PROCESS)


def _choice(protocol: str) -> SystemChoice:
    """The system that does nothing behind this protocol."""
    if protocol not in registry.families():
        return SystemChoice(_NULL, options={"protocol": protocol, "rows": "1"})
    family = registry.family(protocol)
    return SystemChoice(
        f"{family.name}:{family.null_member}", url=family.url(family.null_member, {})
    )


def calibrate(protocol: str, clients: int, *, threads: int, duration_s: float) -> CalibrationRecord:
    """One measurement; ``threads`` 0: one per processor. Raises as `provision` does."""
    choice, dialect = _choice(protocol), _dialect(protocol)
    script = ScriptDocument(name="point-select", path="calibration", text=_script(dialect))
    document = DriveDocument(
        scripts=(script,),
        lexer=dialect.language,
        order="sequence",
        clients=clients,
        threads=threads,
        protocol="prepared",
        stop=StopDocument(duration_s=duration_s),
        warm_up_s=WARM_UP_S,
        seed=1,
    )
    begun_unix_ns = time.time_ns()
    with provision(choice, StorageChoice(), connections=clients) as deployment:
        observation = observe(deployment, document)
        driver = deployment.address.driver
    times = observation.transactions[0].latency
    cost, elapsed_ns = observation.client_cost, observation.elapsed_ns
    statements = observation.statements
    return CalibrationRecord(
        driver=driver,
        clients=clients,
        threads=observation.threads,
        begun_unix_ns=begun_unix_ns,
        statements=statements,
        elapsed_ns=elapsed_ns,
        statements_per_s=statements / (elapsed_ns / 1e9),
        client_ns_per_statement=(cost.user_ns + cost.system_ns) / max(1, statements),
        p50_ns=times.p50_ns or 0,
        p99_ns=times.p99_ns or 0,
        observation=observation.document,
    )
